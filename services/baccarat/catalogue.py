"""The variants and side bets, as rows of data. A base game and a menu of side bets are two settings.

Every row names where its rule and its pay table were published; `memory` marks a pay table that nobody here has read
in print, or a game that no house was found to deal. Odds are "to one". Left out are games that price in mid-round, ask
a fee or deal a fixed first card, and bets whose odds float or were not found.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from services.baccarat.errors import BadSettings
from services.baccarat.events import Configuration, Line, Terms
from services.baccarat.features import when
from services.baccarat.payouts import small_unit

Odds = int | str  # whole, or a fraction or a decimal as text; never a float
PUSH: Final = None


def line(odds: Odds | None, commission: Odds = 0, **values: object) -> Line:
    """Pays `odds` to one less `commission` of the winnings when all of this holds; PUSH gives the stake back."""
    return Line(when(**values), PUSH if odds is PUSH else Fraction(odds), Fraction(commission))


# ---------------------------------------------------------------- main bets

TIE_PUSHES: Final = line(PUSH, winner="tie")
PLAYER: Final = (line(1, winner="player"), TIE_PUSHES)  # P1
BANKER: Final = (line(1, winner="banker"), TIE_PUSHES)


def banker_less(commission: Odds) -> tuple[Line, ...]:
    """Evens less this share of the winnings (P2)."""
    return (line(1, commission, winner="banker"), TIE_PUSHES)


BANKER_HALF_ON_6: Final = (line("1/2", winner="banker", banker_total=6), *BANKER)
BANKER_PUSH_ON_THREE_CARD_7: Final = (line(PUSH, winner="banker", banker_total=7, banker_cards=3), *BANKER)


def banker_on_three_card_8(odds: Odds | None) -> tuple[Line, ...]:
    """Evens without commission, but these odds when the Banker wins with 8 on three cards."""
    return (line(odds, winner="banker", banker_total=8, banker_cards=3), *BANKER)


FABULOUS_PLAYER: Final = (
    line(2, winner="player", player_total=1),
    line("1/2", winner="player", player_total=4),
    *PLAYER,
)
FABULOUS_BANKER: Final = (
    line(2, winner="banker", banker_total=1),
    line(PUSH, winner="banker", banker_total=4),
    *BANKER,
)
IMMORTAL_PLAYER: Final = (
    line("1/2", winner="player", player_total=7),
    *PLAYER,
    line(PUSH, winner="banker", player_total=7, banker_total=(8, 9)),
)

# ---------------------------------------------------------------- menus of side bets

PAIRS: Final = ("player_pair", "banker_pair")
MENUS: Final[Mapping[str, tuple[str, ...]]] = {
    "none": (),
    "pairs": PAIRS,
    "super-6": (*PAIRS, "super_6_bet"),
    "ez": ("dragon_7", "panda_8"),
    "dragon-bonus": ("dragon_bonus_player", "dragon_bonus_banker"),
    "tiger": ("lucky_6", "small_6", "big_6", "tiger_tie", "tiger_pair"),
    "lucky-7": ("lucky_7", "super_lucky_7"),
    "dragons": ("small_dragon", "big_dragon", "immortal_dragon"),
    "fabulous-4": ("player_4", "banker_4", "fabulous_pair_player", "fabulous_pair_banker"),
    "golden-frog": ("frog_8_6", "frog_9_7_two", "frog_9_1", "frog_9_7"),
    "five-treasures": ("dragon_7", "panda_8", "heavenly_9", "blazing_7s", "cover_all"),
    "dai-bacc": ("ox_6", "kill"),
    "egalite": tuple(f"egalite_{total}" for total in range(10)),
    "big-small": ("big", "small"),
}

# ---------------------------------------------------------------- base games


class Variant(Struct, frozen=True, kw_only=True):
    """A base game: its main bets and the Tie; `menu` is what is offered beside them unless a table says otherwise."""

    slug: str
    name: str
    aliases: tuple[str, ...] = ()
    mains: Mapping[str, tuple[Line, ...]]
    menu: tuple[str, ...] = PAIRS
    source: str
    memory: str = ""
    note: str = ""

    @property
    def bets(self) -> dict[str, tuple[Line, ...]]:
        """All bets that a table of this variant offers unless it says otherwise."""
        return {**self.mains, **{bet: SIDE_BETS[bet].lines for bet in self.menu}}


def mains(banker: tuple[Line, ...], tie: int = 8, player: tuple[Line, ...] = PLAYER) -> Mapping[str, tuple[Line, ...]]:
    """Player, Banker and Tie (P1 to P3)."""
    return {"player": player, "banker": banker, "tie": (line(tie, winner="tie"),)}


MACAU: Final = "Macau Despacho 73/2005 art. 18"
NO_COMMISSION_6: Final = ("Punto 2000", "Nepal Baccarat", "Commission Free Baccarat", "Even Money Baccarat")

_BASE_GAMES: Final = (
    Variant(
        slug="classic",
        name="Classic, 5% commission",
        aliases=("Punto Banco", "commission baccarat"),
        mains=mains(banker_less("1/20")),
        source=f"{MACAU}(1); France art. 55-14 (19 for 20)",
    ),
    Variant(
        slug="classic-4",
        name="Classic, 4% commission",
        aliases=("reduced commission",),
        mains=mains(banker_less("1/25")),
        source="voicesofglass.com; knoqnoq.com thread 1767 (Binion's)",
    ),
    Variant(
        slug="classic-tie-9",
        name="Classic, Tie pays 9 to 1",
        mains=mains(banker_less("1/20"), tie=9),
        source="houses in the UK and Europe; casinoexploit.com",
    ),
    Variant(
        slug="super-6",
        name="Super 6",
        aliases=NO_COMMISSION_6,
        mains=mains(BANKER_HALF_ON_6),
        source=f"{MACAU}(2); France, decree of 2 Aug 2019; wizardofodds.com baccarat appendix 6",
    ),
    Variant(
        slug="ez",
        name="EZ Baccarat",
        aliases=("Fortune 7 baccarat", "Dragon 7 game", "Dynasty"),
        mains=mains(BANKER_PUSH_ON_THREE_CARD_7),
        source="58 Pa. Code 627a.1; wizardofodds.com EZ Baccarat",
    ),
    Variant(
        slug="tiger",
        name="Tiger Baccarat",
        aliases=("Tiger (Singapore)",),
        mains=mains(BANKER_HALF_ON_6),
        menu=MENUS["tiger"],
        source="ggrasia.com 2024-07-16; macaudailytimes.com 2024-07-17",
        note="Super 6 with the Tiger menu.",
    ),
    Variant(
        slug="fabulous-4",
        name="Fabulous 4",
        mains=mains(FABULOUS_BANKER, player=FABULOUS_PLAYER),
        menu=MENUS["fabulous-4"],
        source="wizardofodds.com Fabulous 4",
    ),
    Variant(
        slug="immortal",
        name="Immortal",
        mains=mains(BANKER_HALF_ON_6, player=IMMORTAL_PLAYER),
        menu=("immortal_dragon",),
        source="public coding of a Macau game (the Player bet); the Banker as Super 6",
        memory="Only the Player bet's lines were seen; the Banker is assumed to pay as Super 6.",
    ),
    Variant(
        slug="banker-8-half",
        name="Half on a three-card Banker 8",
        mains=mains(banker_on_three_card_8("1/2")),
        source="none",
        memory="No house was found that deals it.",
    ),
    Variant(
        slug="banker-8-push",
        name="Push on a three-card Banker 8",
        mains=mains(banker_on_three_card_8(PUSH)),
        source="none",
        memory="No house was found that deals it.",
    ),
)
VARIANTS: Final[Mapping[str, Variant]] = {variant.slug: variant for variant in _BASE_GAMES}

# ---------------------------------------------------------------- side bets


class SideBet(Struct, frozen=True, kw_only=True):
    """A bet that any base game may offer; `memory` says what about it was not read in print."""

    slug: str
    name: str
    aliases: tuple[str, ...] = ()
    lines: tuple[Line, ...]
    source: str
    memory: str = ""
    note: str = ""


def side(
    slug: str, name: str, lines: tuple[Line, ...] | Line, source: str, aliases: tuple[str, ...] = (), **more: str
) -> SideBet:
    """A row of the catalogue."""
    return SideBet(
        slug=slug,
        name=name,
        aliases=aliases,
        lines=lines if isinstance(lines, tuple) else (lines,),
        source=source,
        memory=more.get("memory", ""),
        note=more.get("note", ""),
    )


def banker_6(two_cards: Odds, three_cards: Odds) -> tuple[Line, ...]:
    """The Banker wins with 6, by how many cards it has."""
    return (
        line(two_cards, winner="banker", banker_total=6, banker_cards=2),
        line(three_cards, winner="banker", banker_total=6, banker_cards=3),
    )


def dragon_bonus(hand: str, seven: Odds = 6, four: Odds = 1) -> tuple[Line, ...]:
    """A natural win, or a win by 4 or more that is none; a natural tie pushes."""
    own_natural = {f"{hand}_natural": "yes"}
    by_margin: tuple[tuple[int, Odds], ...] = ((9, 30), (8, 10), (7, seven), (6, 4), (5, 2), (4, four))
    return (
        line(1, winner=hand, **own_natural),
        line(PUSH, winner="tie", natural="yes"),
        *(line(odds, winner=hand, margin=margin) for margin, odds in by_margin),
    )


def fabulous_pair(hand: str) -> tuple[Line, ...]:
    """Of a hand's first two cards: a pair of one suit, a pair, one suit."""
    return (
        line(7, **{f"{hand}_pair": "yes", f"{hand}_suited": "yes"}),
        line(4, **{f"{hand}_pair": "yes"}),
        line(1, **{f"{hand}_suited": "yes"}),
    )


def perfect_pair(one: Odds, both: Odds) -> tuple[Line, ...]:
    """One hand's first two cards are the same card, or both hands' are."""
    return (line(one, perfect_pairs=1), line(both, perfect_pairs=2))


MACAU_CODINGS: Final = "public codings of Macau rules"
TIGER: Final = "public operator rules (flashlin/Samples TigerBaccarat.md)"
WIZARD: Final = "wizardofodds.com"
EGALITE: Final = "wizardofvegas.com forum 1059; livedealer.org (Playtech Egalite Extra)"
EGALITE_ODDS: Final = (150, 215, 225, 200, 120, 110, 45, 45, 80, 80)
FROG: Final = f"{WIZARD} golden-frog"
# A five-treasures bet that wins makes Cover All win too.
HEAVENLY_9: Final = (
    line(75, player_total=9, player_cards=3, banker_total=9, banker_cards=3),
    line(10, player_total=9, player_cards=3),
    line(10, banker_total=9, banker_cards=3),
)
BLAZING_7S: Final = (
    line(50, player_total=7, banker_total=7, cards=4),
    line(200, player_total=7, banker_total=7, player_cards=3, banker_cards=3),
)

_SIDE_BETS: Final = (
    side(
        "player_pair",
        "Player Pair",
        line(11, player_pair="yes"),
        "Macau Executive Order 70/2000 art. 6",
        ("P Pair", "Oyuncu Çifti"),
    ),
    side("player_pair_10", "Player Pair, 10 to 1", line(10, player_pair="yes"), "houses that pay 10 to 1 (P4)"),
    side(
        "banker_pair", "Banker Pair", line(11, banker_pair="yes"), "Macau Executive Order 70/2000 art. 6", ("B Pair",)
    ),
    side("banker_pair_10", "Banker Pair, 10 to 1", line(10, banker_pair="yes"), "houses that pay 10 to 1 (P4)"),
    side(
        "either_pair",
        "Either Pair",
        line(5, pairs=("one", "two", "same")),
        "betgamestv.com; xsgu/baccaratsim",
        ("Any Pair",),
    ),
    side("perfect_pair_v1", "Perfect Pair", line(25, perfect_pairs=(1, 2)), f"{WIZARD} perfect-pairs-ver1"),
    side("perfect_pair_v1_26", "Perfect Pair, 26 to 1", line(26, perfect_pairs=(1, 2)), f"{WIZARD} perfect-pairs-ver1"),
    side("perfect_pair_v2", "Perfect Pair, 25 and 250 to 1", perfect_pair(25, 250), f"{WIZARD} perfect-pairs-ver2"),
    side(
        "perfect_pair_200",
        "Perfect Pair, 25 and 200 to 1",
        perfect_pair(25, 200),
        "Evolution's help pages, from memory",
        memory="The pay table is as remembered, and was not read in print.",
    ),
    side("big", "Big", line("54/100", cards=(5, 6)), "vegasfreedom.com; cambet89.com"),
    side("big_53", "Big, 0.53 to 1", line("53/100", cards=(5, 6)), "open365a.com"),
    side("big_52", "Big, 0.52 to 1", line("52/100", cards=(5, 6)), "operators that pay 0.52 for 0.54"),
    side("big_50", "Big, 0.5 to 1", line("1/2", cards=(5, 6)), "vegasfreedom.com"),
    side("small", "Small", line("3/2", cards=4), f"{WIZARD} 4-5-6; cambet89.com"),
    side("small_145", "Small, 1.45 to 1", line("145/100", cards=4), "open365a.com"),
    side("four_cards", "Four cards", line("3/2", cards=4), f"{WIZARD} 4-5-6"),
    side("five_cards", "Five cards", line(2, cards=5), f"{WIZARD} 4-5-6"),
    side("six_cards", "Six cards", line(2, cards=6), f"{WIZARD} 4-5-6"),
    side("super_6_bet", "Super 6", line(12, winner="banker", banker_total=6), "leovegas.com; blog.mcluck.com"),
    side(
        "super_6_bet_15", "Super 6, 15 to 1", line(15, winner="banker", banker_total=6), "leovegas.com; blog.mcluck.com"
    ),
    side(
        "lucky_6",
        "Lucky 6",
        banker_6(12, 20),
        f"{WIZARD} lucky-6; Macau Despacho 56/2018",
        ("Tiger", "Bank 6", "Lucky Six", "Fortune 6 (name unverified)"),
    ),
    side("lucky_6_23", "Lucky 6, 12 and 23 to 1", banker_6(12, 23), f"{WIZARD} lucky-6"),
    side("super_6_plus", "Super 6+", banker_6(12, 18), "leo88.fan"),
    side(
        "small_6",
        "Small 6",
        line(22, winner="banker", banker_total=6, banker_cards=2),
        "macaudailytimes.com 2024-07-17; ggrasia.com",
        ("Small Tiger",),
    ),
    side(
        "big_6",
        "Big 6",
        line(50, winner="banker", banker_total=6, banker_cards=3),
        "advancedadvantageplay.com 2024-07",
        ("Big Tiger",),
    ),
    side("tiger_tie", "Tiger Tie", line(35, winner="tie", player_total=6), TIGER),
    side("tiger_pair", "Tiger Pair", (line(4, pairs="one"), line(20, pairs="two"), line(100, pairs="same")), TIGER),
    side(
        "lucky_7",
        "Lucky 7",
        (
            line(6, winner="player", player_total=7, player_cards=2),
            line(15, winner="player", player_total=7, player_cards=3),
        ),
        "ggrasia.com 2024-09-27; macaudailytimes.com 2024-10-01",
    ),
    side(
        "super_lucky_7",
        "Super Lucky 7",
        tuple(
            line(odds, winner="player", player_total=7, banker_total=6, cards=cards)
            for cards, odds in ((4, 30), (5, 40), (6, 100))
        ),
        "six public codings of the Macau and Marina Bay Sands rules",
    ),
    side(
        "super_lucky_7_press",
        "Super Lucky 7, as the press words it",
        (
            line(30, winner="player", player_total=7, banker_total=6, player_cards=2, banker_cards=2),
            line(40, winner="player", player_total=7, banker_total=6, player_cards=3, banker_cards=2),
            line(100, winner="player", player_total=7, banker_total=6, player_cards=3, banker_cards=3),
        ),
        "ggrasia.com 2024-09-27",
    ),
    side("small_dragon", "Small Dragon", line(15, winner="player", player_total=7, player_cards=2), MACAU_CODINGS),
    side("big_dragon", "Big Dragon", line(30, winner="player", player_total=7, player_cards=3), MACAU_CODINGS),
    side(
        "immortal_dragon", "Immortal Dragon", line(25, winner="banker", player_total=7), "public coding of a Macau game"
    ),
    side(
        "dragon_7",
        "Dragon 7",
        line(40, winner="banker", banker_total=7, banker_cards=3),
        f"58 Pa. Code 627a.1; {WIZARD} EZ Baccarat",
        ("Fortune 7",),
    ),
    side(
        "panda_8",
        "Panda 8",
        line(25, winner="player", player_total=8, player_cards=3),
        f"58 Pa. Code 627a.1; {WIZARD} EZ Baccarat",
        ("Golden 8",),
    ),
    side(
        "dragon_bonus_player",
        "Dragon Bonus (Player)",
        dragon_bonus("player"),
        f"{WIZARD} appendix 5",
        ("Player Bonus",),
    ),
    side(
        "dragon_bonus_banker",
        "Dragon Bonus (Banker)",
        dragon_bonus("banker"),
        f"{WIZARD} appendix 5",
        ("Banker Bonus",),
    ),
    side(
        "dragon_bonus_player_alt",
        "Dragon Bonus (Player), 4 on 7 and 2 on 4",
        dragon_bonus("player", seven=4, four=2),
        "cypressbayou.com",
    ),
    side(
        "dragon_bonus_banker_alt",
        "Dragon Bonus (Banker), 4 on 7 and 2 on 4",
        dragon_bonus("banker", seven=4, four=2),
        "cypressbayou.com",
    ),
    side(
        "three_card_player", "Three Card Win (Player)", line(4, winner="player", player_cards=3), f"{WIZARD} appendix 5"
    ),
    side(
        "three_card_banker", "Three Card Win (Banker)", line(5, winner="banker", banker_cards=3), f"{WIZARD} appendix 5"
    ),
    side(
        "three_giving_8",
        "3 Giving 8",
        line(200, banker_two=3, player_third=8),
        f"{WIZARD}; advancedadvantageplay.com",
        ("Hippodrome London",),
    ),
    side("frog_8_6", "Golden Frog: any 8 beats any 6", line(25, winner_total=8, loser_total=6), FROG, ("Jin Chan",)),
    side(
        "frog_9_7_two",
        "Golden Frog: two-card 9 beats two-card 7",
        line(50, winner_total=9, loser_total=7, winner_cards=2, loser_cards=2),
        FROG,
    ),
    side(
        "frog_9_1",
        "Golden Frog: three-card 9 beats three-card 1",
        line(150, winner_total=9, loser_total=1, winner_cards=3, loser_cards=3),
        FROG,
    ),
    side(
        "frog_9_7",
        "Golden Frog: three-card 9 beats three-card 7",
        line(200, winner_total=9, loser_total=7, winner_cards=3, loser_cards=3),
        FROG,
    ),
    side(
        "bad_beat",
        "Bad Beat",
        line(50, winner_total=9, loser_total=8, winner_cards=2, loser_cards=2),
        "advancedadvantageplay.com",
    ),
    side(
        "eights_nines", "88 89 98 99", line(20, player_total=(8, 9), banker_total=(8, 9)), "advancedadvantageplay.com"
    ),
    side("heavenly_9", "Heavenly 9", HEAVENLY_9, f"{WIZARD} 5 Treasures", ("5 Treasures",)),
    side("blazing_7s", "Blazing 7s", BLAZING_7S, f"{WIZARD} 5 Treasures", ("5 Treasures",)),
    side("ox_6", "Ox 6", line(40, winner="player", player_total=6, player_cards=3), "888casino (Dai Bacc)"),
    side(
        "kill",
        "Kill",
        (
            line(30, banker_total=7, banker_cards=3, winner=("player", "tie")),
            line(30, player_total=6, player_cards=3, winner=("banker", "tie")),
        ),
        "888casino (Dai Bacc)",
    ),
    side(
        "cover_all",
        "Cover All",
        (
            line(6, winner="banker", banker_total=7, banker_cards=3),
            line(6, winner="player", player_total=8, player_cards=3),
            *(replace(one, odds=Fraction(6)) for one in (*HEAVENLY_9, *BLAZING_7S)),
        ),
        f"{WIZARD} 5 Treasures",
        note="Wins with Fortune 7, Golden 8, Heavenly 9 or Blazing 7s.",
    ),
    side(
        "super_tie",
        "Super Tie",
        (
            line(100, winner="tie", cards=6, player_total=(6, 7, 8, 9), colour=("red", "black")),
            line(25, winner="tie", cards=6, player_total=(6, 7, 8, 9)),
            line(7, winner="tie"),
        ),
        f"{WIZARD} super-tie",
        ("21st Century Baccarat",),
    ),
    *(
        side(
            f"egalite_{total}",
            f"Egalite {total}",
            line(odds, winner="tie", player_total=total),
            EGALITE,
            ("exact tie",),
        )
        for total, odds in enumerate(EGALITE_ODDS)
    ),
    side("tie_max_low", "Tie Max low", line(12, winner="tie", player_total=tuple(range(7))), "public coding (Incheon)"),
    side("tie_max_high", "Tie Max high", line(17, winner="tie", player_total=(7, 8, 9)), "public coding (Incheon)"),
    side("player_4", "Player 4", line(50, winner="player", player_total=4), f"{WIZARD} fabulous-4"),
    side("banker_4", "Banker 4", line(25, winner="banker", banker_total=4), f"{WIZARD} fabulous-4"),
    side("fabulous_pair_player", "Fabulous Pair (Player)", fabulous_pair("player"), f"{WIZARD} fabulous-4"),
    side("fabulous_pair_banker", "Fabulous Pair (Banker)", fabulous_pair("banker"), f"{WIZARD} fabulous-4"),
    side("monkey_6", "Monkey 6", line(12, player_third_kind="other", banker_third_kind="face"), f"{WIZARD} monkey"),
    side(
        "monkey_6_tie",
        "Monkey 6 Tie",
        line(150, player_third_kind="other", banker_third_kind="face", winner="tie"),
        f"{WIZARD} monkey",
    ),
    side("grand_monkey", "Grand Monkey", line(5000, cards=6, all_faces="yes"), f"a mirror of {WIZARD}"),
    side(
        "grand_monkey_6000", "Grand Monkey, 6,000 to 1", line(6000, cards=6, all_faces="yes"), f"a mirror of {WIZARD}"
    ),
)
SIDE_BETS: Final[Mapping[str, SideBet]] = {bet.slug: bet for bet in _SIDE_BETS}

# ---------------------------------------------------------------- a table

MAIN_BETS: Final = ("player", "banker")


def variant_of(name: str) -> Variant:
    """A variant by its slug, name or alias. Raises BadSettings for a name that is none's."""
    if found := called(name, VARIANTS):
        return found[0]
    raise BadSettings(f"no variant is called {name!r}; there are {', '.join(VARIANTS)}")


def side_bet_of(name: str) -> SideBet:
    """A side bet by its slug, name or alias; of several the first. Raises BadSettings for a name that is none's."""
    if found := called(name, SIDE_BETS):
        return found[0]
    raise BadSettings(f"no side bet is called {name!r}; `punto variants side-bets` lists them")


Row = TypeVar("Row", bound=Variant | SideBet)


def called(name: str, rows: Mapping[str, Row]) -> tuple[Row, ...]:
    """The rows that have this slug, else those with this name or alias: several may share an alias.

    Capitals, hyphens, blanks and underscores make no difference.
    """
    if name in rows:
        return (rows[name],)
    wanted = plain(name)
    return tuple(row for row in rows.values() if wanted in map(plain, (row.slug, row.name, *row.aliases)))


def plain(name: str) -> str:
    """A name without what people write differently."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def configuration(name: str, *, currency: str = "EUR", exponent: int = 2, decks: int = 8) -> Configuration:
    """A table of this variant with limits a small table has: 1.00 to 5,000.00 on the main bets, a tenth on the rest."""
    unit = small_unit(exponent)
    variant = variant_of(name)
    return Configuration(
        variant=variant.slug,
        name=variant.name,
        pay_table=tuple(
            Terms(
                bet,
                lines,
                min_minor=unit,
                max_minor=(5_000 if bet in MAIN_BETS else 500) * unit,
                main=bet in variant.mains,
            )
            for bet, lines in variant.bets.items()
        ),
        currency=currency,
        exponent=exponent,
        decks=decks,
    )
