"""A table as its operator writes it: one TOML text, read into a Configuration or into what is wrong with it.

The page `docs/tables.md` describes the file. Every mistake is found in one reading, and each names its line and its
remedy. Amounts in the file are in the currency's own unit, `2.50`; nothing passes through a binary float.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from math import gcd, lcm
from typing import Any, Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from services.baccarat import limits, odds, payouts, shoe
from services.baccarat.catalogue import MAIN_BETS, MENUS, PAIRS, SIDE_BETS, VARIANTS
from services.baccarat.errors import BadSettings
from services.baccarat.events import Condition, Configuration, Line, Policy, Terms
from services.baccarat.features import FEATURES
from services.baccarat.policies import POLICIES
from services.baccarat.toml_lines import Document, NotToml, Path, parse

T = TypeVar("T")
Lines = tuple[Line, ...]

# ISO 4217 by decimals, as far as tables are likely to play in them; coins by the decimals of their smallest unit.
CURRENCIES: Final[Mapping[int, str]] = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
    2: "AED ALL AMD ARS AUD AZN BAM BGN BRL BYN CAD CHF CNY COP CZK DKK DOP EGP EUR GBP GEL GHS HKD HUF IDR ILS INR "
    "KES KHR KZT LAK LKR MAD MDL MKD MMK MOP MXN MYR NAD NGN NOK NPR NZD PEN PHP PKR PLN QAR RON RSD SAR SEK SGD THB "
    "TRY TWD TZS UAH USD UYU UZS ZAR ZMW",
    3: "BHD IQD JOD KWD LYD OMR TND",
    8: "BCH BTC LTC XBT",
}
EXPONENTS: Final = {code: exponent for exponent, codes in CURRENCIES.items() for code in codes.split()}


class Fault(Struct, frozen=True):
    """What is wrong and how to mend it, in one sentence, and the line of the text."""

    line: int
    text: str


class Described(Struct, frozen=True):
    """What a text says: a whole configuration and no faults, or faults and none; `table_id` may be left to others."""

    configuration: Configuration | None
    faults: tuple[Fault, ...]
    table_id: str = ""
    document: Document | None = None


class Wrong(Exception):
    """A value that cannot be what it should; says what it should be."""


# ---------------------------------------------------------------- values


def text_of(value: Any) -> str:  # noqa: ANN401 - whatever TOML can say
    if not isinstance(value, str) or not value:
        raise Wrong(f"must be text in quotes, not {said(value)}")
    return value


def truth_of(value: Any) -> bool:  # noqa: ANN401
    if not isinstance(value, bool):
        raise Wrong(f"must be true or false, not {said(value)}")
    return value


def said(value: Any) -> str:  # noqa: ANN401
    """A value as the file would have it, cut short."""
    if isinstance(value, bool):
        return str(value).lower()
    return (str(value) if isinstance(value, Decimal) else repr(value))[:80]


def one_of(*names: str) -> Callable[[Any], str]:
    def named(value: Any) -> str:  # noqa: ANN401
        if value not in names:
            raise Wrong(f"is {said(value)}; {nearest(str(value), names)}")
        return str(value)

    return named


def nearest(name: str, names: Iterable[str]) -> str:
    """The remedy for a name that is not among these."""
    names = tuple(names)
    near = get_close_matches(name, names, 1)
    return f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"


def number_of(low: int, high: int) -> Callable[[Any], int]:
    def number(value: Any) -> int:  # noqa: ANN401
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise Wrong(f"must be a whole number from {low} to {high}, not {said(value)}")
        return int(value)

    return number


def matching(pattern: str, what: str) -> Callable[[Any], str]:
    def matched(value: Any) -> str:  # noqa: ANN401
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            raise Wrong(f"must be {what}, not {said(value)}")
        return value

    return matched


# The largest stake at the longest odds still fits into the 64 bits that a log keeps of an amount.
MOST_STAKE_MINOR: Final = 10**12
MOST_BOUND_MINOR: Final = 10**18
DECIMAL: Final = r"[0-9]{1,12}(?:\.[0-9]{1,12})?"
RATIO: Final = re.compile(rf"({DECIMAL})\s*(?:(?::|/|\bto\b)\s*({DECIMAL}))?")
PERCENT: Final = re.compile(rf"({DECIMAL})\s*%")


def exact_of(value: Any) -> Fraction | None:  # noqa: ANN401
    """A number, or text that writes one as a decimal or a ratio; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        return None
    if isinstance(value, str):
        ratio = RATIO.fullmatch(value.strip())
        if ratio is None or (ratio[2] and not Fraction(ratio[2])):
            return None
        return Fraction(ratio[1]) / Fraction(ratio[2] or 1)
    return Fraction(value) if not isinstance(value, Decimal) or value.is_finite() else None


def odds_of(value: Any) -> Fraction | None:  # noqa: ANN401
    """Winnings to one; None is a push."""
    if value == "push":
        return None
    exact = exact_of(value)
    if exact is None or not 0 < exact <= payouts.MOST_ODDS:
        remedy = 'write 8, "0.53", "1/2", "8:1" or "push"'
        raise Wrong(f"odds are {said(value)}, and that is no number to one up to 1,000,000; {remedy}")
    return exact


def share_of(value: Any) -> Fraction:  # noqa: ANN401
    """A share of the winnings, 0 to 1."""
    percent = PERCENT.fullmatch(value.strip()) if isinstance(value, str) else None
    share = Fraction(percent[1]) / 100 if percent else exact_of(value)
    if share is None or not 0 <= share <= 1:
        raise Wrong(f'must be a share of the winnings such as "5%", "1/20" or 0.05, not {said(value)}')
    return share


def minor_of(exponent: int, most: int) -> Callable[[Any], int]:
    """An amount up to `most` minor units."""

    def minor(value: Any) -> int:  # noqa: ANN401
        exact = exact_of(value)
        if exact is None or exact < 0:
            raise Wrong(f"must be an amount such as 500 or 2.50, not {said(value)}")
        amount = exact * 10**exponent
        if amount.denominator != 1:
            raise Wrong(f"is {said(value)}, and the currency has {exponent} decimals")
        if amount > most:
            raise Wrong(f"is {said(value)}, and at most {most:,} minor units can be counted; write less")
        return int(amount.numerator)

    return minor


VALUE_SPAN: Final = re.compile(r"([0-9])-([0-9])")


def condition_of(fact: str, value: Any) -> Condition:  # noqa: ANN401
    """`banker_total = 6`, `[6, 7]`, `"4-9"` or `true`."""
    among: list[str] = []
    for one in value if isinstance(value, list) else [value]:
        written = ("no", "yes")[one] if isinstance(one, bool) else str(one)
        span = VALUE_SPAN.fullmatch(written)
        among += [written] if span is None else map(str, range(int(span[1]), int(span[2]) + 1))
    known = FEATURES[fact].values
    if unknown := [one for one in among if one not in known]:
        raise Wrong(f"{fact} is never {unknown[0]!r}; {span_of(unknown[0], known) or nearest(unknown[0], known)}")
    if not among:
        raise Wrong(f"{fact} names no value; it is one of {', '.join(known)}")
    return Condition(fact, tuple(dict.fromkeys(among)))


def span_of(unknown: str, known: tuple[str, ...]) -> str:
    """The remedy for a number out of a span of numbers: no other number is what was meant. Empty for all else."""
    numbers = [one for one in known if one.isdigit()]
    if len(numbers) < 2 or not re.fullmatch(r"-?[0-9.]+", unknown):
        return ""
    return " or ".join(("it is " + f"{numbers[0]} to {numbers[-1]}", *(one for one in known if not one.isdigit())))


# ---------------------------------------------------------------- reading


class Reading:
    """One text as it is read: its values, and what was found wrong so far."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.faults: list[Fault] = []

    def fault(self, path: Path, text: str) -> None:
        """Says what is wrong at a path; once per place and text."""
        where = ".".join(f"{key}" if isinstance(key, str) else f"[{key + 1}]" for key in path).replace(".[", "[")
        found = Fault(self.document.line(path), f"{where}: {text}" if where else text)
        if found not in self.faults:
            self.faults.append(found)

    def take(self, path: Path, values: Mapping[str, Any], as_what: Callable[[Any], T], default: T) -> T:
        """The value of the path's last key, read as it must be; the default where it is not there, or wrong."""
        key = path[-1]
        if not isinstance(key, str) or key not in values:
            return default
        try:
            return as_what(values[key])
        except Wrong as wrong:
            self.fault(path, str(wrong))
            return default

    def section(self, path: Path, values: Mapping[str, Any], known: Iterable[str] | None) -> Mapping[str, Any]:
        """A table of the text with nothing but known keys; empty where there is none."""
        found = values.get(str(path[-1]), {})
        if not isinstance(found, Mapping):
            self.fault(path, f"must be a table, [{path[-1]}], not {said(found)}")
            return {}
        self.check_keys(path, found, known)
        return found

    def check_keys(self, path: Path, values: Mapping[str, Any], known: Iterable[str] | None) -> None:
        """None: any key may stand here."""
        known = None if known is None else tuple(known)
        for key in values:
            if known is not None and key not in known:
                self.fault((*path, key), f"there is no such setting; {nearest(key, known)}")


TOP: Final = (
    "table", "name", "game", "side_bets", "decks", "currency", "exponent", "type", "seats", "winnings_rounding",
    "pays", "commission", "limits", "betting", "shoe", "corrections", "gaming_day", "policies", "games", "bets",
)  # fmt: skip
# Settings that are taken over as they are: section, key, field of Configuration, what it must be.
SETTINGS: Final[tuple[tuple[str, str, str, Callable[[Any], Any]], ...]] = (
    ("", "decks", "decks", number_of(shoe.MIN_DECKS, shoe.MAX_DECKS)),
    ("", "type", "table_type", one_of(*payouts.TABLE_TYPES)),
    ("", "seats", "seats", number_of(0, 1_000)),
    ("", "winnings_rounding", "winnings_rounding", one_of(*payouts.ROUNDINGS)),
    ("commission", "mode", "commission_mode", one_of("per_win", "owed")),
    ("commission", "rounding", "commission_rounding", one_of(*payouts.ROUNDINGS)),
    ("betting", "opens", "betting", one_of("automatic", "dealer")),
    ("betting", "window_ms", "betting_window_ms", number_of(1, 3_600_000)),
    ("betting", "close_margin_ms", "close_margin_ms", number_of(0, 60_000)),
    ("shoe", "burn", "burn_rule", one_of(*shoe.BURN_RULES)),
    ("shoe", "burn_fixed", "burn_fixed", number_of(0, 50)),
    ("shoe", "burn_between", "burn_between", number_of(0, 10)),
    ("shoe", "end", "end_rule", one_of(*shoe.END_RULES)),
    ("shoe", "cards_behind_cut", "cards_behind_cut", number_of(0, 600)),
    ("corrections", "rounds_kept", "rounds_kept", number_of(0, 100)),
    ("corrections", "openings_remembered", "openings_remembered", number_of(1, 500)),
    ("gaming_day", "starts_at", "gaming_day_starts_at", matching(payouts.TIME_OF_DAY.pattern, '"00:00" to "23:59"')),
    ("limits", "opposite_mains", "opposite_mains", truth_of),
    ("limits", "side_above_main", "side_above_main", truth_of),
)
BOUNDS: Final = {
    "customer_win_max": "win_max_minor",
    "table_payout_max": "payout_max_minor",
    "differential_max": "differential_max_minor",
}
STAKES: Final = {"min": "min_minor", "max": "max_minor", "step": "step_minor"}
OF_BET: Final = (*STAKES, "last_round", "cards_dealt_max", "payout_max", "may_favour_customer")
SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "commission": ("rate", "mode", "rounding"),
    "limits": ("opposite_mains", "side_above_main", *BOUNDS, "main", "side", "bets"),
    "betting": ("opens", "window_ms", "close_margin_ms"),
    "shoe": ("burn", "burn_fixed", "burn_between", "end", "cards_behind_cut"),
    "corrections": ("rounds_kept", "openings_remembered"),
    "gaming_day": ("starts_at", "time_zone"),
}
SLUG: Final = r"[a-z0-9][a-z0-9_-]{0,59}"


def read(text: str, is_zone: Callable[[str], bool]) -> Described:
    """A table file's text; `is_zone` knows the names of time zones. All faults in the order of their lines."""
    try:
        document = parse(text)
    except NotToml as error:
        return Described(None, (Fault(error.line, f"not TOML: {error}"),))
    reading = Reading(document)
    configuration, favoured = configuration_of(reading, is_zone)
    if not reading.faults:
        check_limits(reading, configuration)
        check_odds(reading, configuration, favoured)
        check_unused(reading, configuration)
    table_id = reading.take(
        ("table",), document.values, matching(r"[^/\s]{1,200}", "a name without slash or blank"), ""
    )
    faults = tuple(sorted(reading.faults, key=lambda fault: fault.line))
    return Described(None if faults else configuration, faults, table_id, document)


def configuration_of(reading: Reading, is_zone: Callable[[str], bool]) -> tuple[Configuration, frozenset[str]]:
    """The configuration, and the bets that may favour the customer; what is wrong is left at its default."""
    top = reading.document.values
    reading.check_keys((), top, TOP)
    sections = {name: reading.section((name,), top, known) for name, known in SECTIONS.items()}
    settings: dict[str, Any] = {}
    for section, key, field, as_what in SETTINGS:
        values = sections[section] if section else top
        if key in values:
            settings[field] = reading.take((section, key) if section else (key,), values, as_what, None)
    settings = {field: value for field, value in settings.items() if value is not None}
    currency, exponent = currency_of(reading, top)
    for key, field in BOUNDS.items():
        settings[field] = reading.take(("limits", key), sections["limits"], minor_of(exponent, MOST_BOUND_MINOR), None)
    settings["time_zone"] = reading.take(("gaming_day", "time_zone"), sections["gaming_day"], zone_of(is_zone), "UTC")
    policies = reading.section(("policies",), top, POLICIES)
    chosen = {
        code: reading.take(("policies", code), policies, one_of(*allowed), "") for code, allowed in POLICIES.items()
    }
    settings["policies"] = tuple(Policy(code, policy) for code, policy in chosen.items() if policy)
    variant, name, offered = bets_of(reading, top)
    mains = frozenset(offered.mains)
    terms = terms_of(reading, sections["limits"], offered.all, mains, exponent)
    favoured = frozenset(
        bet
        for bet, values in bet_limits(reading, sections["limits"]).items()
        if reading.take(("limits", "bets", bet, "may_favour_customer"), values, truth_of, default=False)
    )
    told = Configuration(
        variant=variant,
        name=reading.take(("name",), top, text_of, name),
        pay_table=terms,
        currency=currency,
        exponent=exponent,
        **settings,
    )
    return told, favoured


def zone_of(is_zone: Callable[[str], bool]) -> Callable[[Any], str]:
    def zone(value: Any) -> str:  # noqa: ANN401
        if not isinstance(value, str) or not is_zone(value):
            raise Wrong(f'must be a time zone of the IANA list such as "Europe/Vilnius" or "UTC", not {said(value)}')
        return value

    return zone


def currency_of(reading: Reading, top: Mapping[str, Any]) -> tuple[str, int]:
    """The currency and its decimals: known, or said."""
    currency = reading.take(("currency",), top, matching(r"[A-Z]{3}", 'three capitals such as "EUR"'), "")
    said_exponent = reading.take(("exponent",), top, number_of(0, 8), None)
    known = EXPONENTS.get(currency)
    if "currency" not in top:
        reading.fault(("currency",), 'is missing; write currency = "EUR" or another')
    elif currency and known is None and "exponent" not in top:
        text = f"{currency} has no exponent here; add exponent = 2, or how many decimals it has"
        reading.fault(("currency",), text)
    elif known is not None and said_exponent not in {None, known}:
        reading.fault(("exponent",), f"{currency} has {known} decimals, not {said_exponent}; leave exponent out")
    return currency, known if known is not None else 2 if said_exponent is None else said_exponent


# ---------------------------------------------------------------- games, bets and what they pay


class Offered(Struct, frozen=True):
    """The bets of a table: the base game's and the side bets, with their lines and where each is written."""

    mains: Mapping[str, Lines]
    sides: Mapping[str, Lines]

    @property
    def all(self) -> Mapping[str, Lines]:
        return {**self.mains, **self.sides}


class Game(Struct, frozen=True):
    """A base game, of the catalogue or of the file."""

    name: str
    mains: Mapping[str, Lines]
    menu: tuple[str, ...]


def bets_of(reading: Reading, top: Mapping[str, Any]) -> tuple[str, str, Offered]:
    """The base game's slug and name, and all bets of the table as they pay here."""
    own = own_bets(reading, top)
    slug = reading.take(("game",), top, text_of, "")
    games = reading.section(("games",), top, None)
    for name in games:
        game_of(reading, games, name, ("games", name))  # one that is not played must be right too
    if not slug:
        if "game" not in top:
            reading.fault(("game",), f"is missing; name a base game: {', '.join(VARIANTS)}, or one of your own")
        return "", "", Offered({}, {})
    game = game_of(reading, games, slug, ("game",))
    menu = menu_of(reading, top, own, game.menu)
    sides = {bet: own[bet] if bet in own else SIDE_BETS[bet].lines for bet in menu if bet not in game.mains}
    for bet in menu:
        if bet in game.mains and "side_bets" in top:
            reading.fault(("side_bets",), f"{bet} is a bet of the game itself; leave it out here")
    offered = Offered(with_commission(reading, top, game.mains), sides)
    return slug, game.name, with_pays(reading, top, offered)


def game_of(reading: Reading, games: Mapping[str, Any], slug: str, path: Path, trail: tuple[str, ...] = ()) -> Game:
    """A game by its slug; one that is like another has that one's bets unless it says otherwise."""
    if slug in trail:
        ring = " -> ".join((*trail[trail.index(slug) :], slug))
        reading.fault(
            ("games", trail[-1], "like"), f"{ring}: a variant cannot be like itself; name one of the catalogue"
        )
        return Game(slug, {}, PAIRS)
    if slug not in games:
        if (variant := VARIANTS.get(slug)) is None:
            reading.fault(path, f"there is no base game {slug!r}; {nearest(slug, (*VARIANTS, *games))}")
            return Game(slug, {}, PAIRS)
        return Game(variant.name, variant.mains, variant.menu)
    where: Path = ("games", slug)
    values = reading.section(where, games, ("like", "name", "bets"))
    like = reading.take((*where, "like"), values, text_of, "")
    before = game_of(reading, games, like, (*where, "like"), (*trail, slug)) if like else Game(slug, {}, PAIRS)
    if slug in VARIANTS:
        reading.fault(where, f"{slug} is a game of the catalogue; give your own another name")
    written = reading.section((*where, "bets"), values, None)
    bets = {bet: lines_of(reading, (*where, "bets", bet), written[bet]) for bet in written}
    if not like and not bets:
        reading.fault(where, 'has no bets; write [games.NAME.bets], or like = "classic"')
    return Game(
        reading.take((*where, "name"), values, text_of, before.name if like else slug),
        {**before.mains, **bets},
        before.menu,
    )


def own_bets(reading: Reading, top: Mapping[str, Any]) -> Mapping[str, Lines]:
    """The side bets that the file itself defines."""
    written = reading.section(("bets",), top, None)
    found = {}
    for bet in written:
        if bet in SIDE_BETS:
            reading.fault(
                ("bets", bet), f"{bet} is a bet of the catalogue; change what it pays in [pays], or rename yours"
            )
        found[bet] = lines_of(reading, ("bets", bet), written[bet])
    return found


def menu_of(
    reading: Reading, top: Mapping[str, Any], own: Mapping[str, Lines], default: tuple[str, ...]
) -> tuple[str, ...]:
    """The side bets by name: a menu of the catalogue, or a list of bets and menus."""
    written = top.get("side_bets", list(default))
    names = written if isinstance(written, list) else [written]
    found: list[str] = []
    for place, name in enumerate(names):
        path: Path = ("side_bets", place) if isinstance(written, list) else ("side_bets",)
        if name in SIDE_BETS or name in own:
            found.append(name)
        elif isinstance(name, str) and name in MENUS:
            found += MENUS[name]
        else:
            near = get_close_matches(str(name), (*own, *SIDE_BETS, *MENUS), 1)
            remedy = f"did you mean {near[0]!r}?" if near else "`punto variants side-bets` lists those there are"
            reading.fault(path, f"unknown bet {said(name)}; {remedy}")
    return tuple(dict.fromkeys(found))


def lines_of(reading: Reading, path: Path, written: Any) -> Lines:  # noqa: ANN401
    """The lines of a bet: `{when = {...}, pays = 8}`, one or a list."""
    if not re.fullmatch(SLUG, str(path[-1])):
        reading.fault(path, f"{path[-1]!r} is no name for a bet; use small letters, digits, '_' and '-'")
    items = written if isinstance(written, list) else [written]
    if not items:
        reading.fault(path, 'has no lines; write {when = {winner = "tie"}, pays = 8}')
    lines = []
    for place, item in enumerate(items):
        where = (*path, place) if isinstance(written, list) else path
        if not isinstance(item, Mapping):
            reading.fault(where, f'must be a line such as {{when = {{winner = "tie"}}, pays = 8}}, not {said(item)}')
            continue
        reading.check_keys(where, item, ("when", "pays", "commission"))
        if "pays" not in item:
            reading.fault(where, 'does not say what it pays; add pays = 8, or pays = "push"')
        lines.append(
            Line(
                conditions_of(reading, (*where, "when"), item),
                reading.take((*where, "pays"), item, odds_of, None),
                reading.take((*where, "commission"), item, share_of, Fraction(0)),
            )
        )
    return tuple(lines)


def conditions_of(reading: Reading, path: Path, item: Mapping[str, Any]) -> tuple[Condition, ...]:
    """What must be true for a line to pay; nothing at all is always true."""
    asked = reading.section(path, item, FEATURES)
    found = []
    for fact, value in asked.items():
        if fact in FEATURES:
            try:
                found.append(condition_of(fact, value))
            except Wrong as wrong:
                reading.fault((*path, fact), str(wrong))
    return tuple(found)


def with_commission(reading: Reading, top: Mapping[str, Any], mains: Mapping[str, Lines]) -> Mapping[str, Lines]:
    """The base game at the table's own rate of commission."""
    section = top.get("commission", {})
    if not isinstance(section, Mapping) or "rate" not in section:
        return mains
    rate = reading.take(("commission", "rate"), section, share_of, None)
    if not any(line.commission for lines in mains.values() for line in lines):
        reading.fault(
            ("commission", "rate"), 'this game takes no commission; leave rate out, or choose game = "classic"'
        )
    if rate is None:
        return mains
    return {
        bet: tuple(replace(line, commission=rate) if line.commission else line for line in lines)
        for bet, lines in mains.items()
    }


def with_pays(reading: Reading, top: Mapping[str, Any], offered: Offered) -> Offered:
    """The bets with the odds that [pays] gives: one number for a bet of one line, or a list of one for each line."""
    pays = reading.section(("pays",), top, None)
    changed: dict[str, Lines] = {}
    for bet, written in pays.items():
        if bet not in offered.all:
            reading.fault(("pays", bet), f"this table does not offer {bet}; {nearest(bet, offered.all)}")
        else:
            changed[bet] = repriced(reading, ("pays", bet), offered.all[bet], written)
    return Offered(
        {bet: changed.get(bet, lines) for bet, lines in offered.mains.items()},
        {bet: changed.get(bet, lines) for bet, lines in offered.sides.items()},
    )


def repriced(reading: Reading, path: Path, lines: Lines, written: Any) -> Lines:  # noqa: ANN401
    """Lines with other odds, in their order."""
    each = written if isinstance(written, list) else [written]
    if len(each) != len(lines):
        reading.fault(
            path, f"this bet has {len(lines)} lines, and {len(each)} odds are given; write a list of {len(lines)}"
        )
        return lines
    found = []
    for place, (line, value) in enumerate(zip(lines, each, strict=True)):
        where = (*path, place) if isinstance(written, list) else path
        try:
            found.append(replace(line, odds=odds_of(value)))
        except Wrong as wrong:
            reading.fault(where, str(wrong))
            found.append(line)
    return tuple(found)


# ---------------------------------------------------------------- limits


def bet_limits(reading: Reading, section: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """[limits.bets.NAME], by name."""
    written = reading.section(("limits", "bets"), section, None)
    return {bet: reading.section(("limits", "bets", bet), written, OF_BET) for bet in written}


def terms_of(
    reading: Reading, section: Mapping[str, Any], bets: Mapping[str, Lines], mains: frozenset[str], exponent: int
) -> tuple[Terms, ...]:
    """Each bet with its limits: its own, else those of its kind, else those of a small table."""
    unit = payouts.small_unit(exponent)
    own = bet_limits(reading, section)
    for bet in own:
        if bet not in bets:
            reading.fault(("limits", "bets", bet), f"this table does not offer {bet}; {nearest(bet, bets)}")
    of_kind: dict[str, dict[str, int]] = {}
    for kind, most in (("main", 5_000), ("side", 500)):
        values = reading.section(("limits", kind), section, STAKES)
        of_kind[kind] = {
            "min_minor": unit,
            "max_minor": most * unit,
            "step_minor": 1,
            **stakes_of(reading, ("limits", kind), values, exponent),
        }
    found = []
    for bet, lines in bets.items():
        path: Path = ("limits", "bets", bet)
        values = own.get(bet, {})
        is_main = bet in mains and bet != "tie"
        stakes = {**of_kind["main" if is_main else "side"], **stakes_of(reading, path, values, exponent)}
        found.append(
            Terms(
                bet,
                lines,
                **stakes,
                main=bet in mains,
                last_round_no=reading.take((*path, "last_round"), values, number_of(1, 200), None),
                cards_dealt_max=reading.take((*path, "cards_dealt_max"), values, number_of(0, 624), None),
                payout_max_minor=reading.take(
                    (*path, "payout_max"), values, minor_of(exponent, MOST_BOUND_MINOR), None
                ),
            )
        )
    return tuple(found)


def stakes_of(reading: Reading, path: Path, values: Mapping[str, Any], exponent: int) -> dict[str, int]:
    """Minimum, maximum and step, as far as they are written."""
    found: dict[str, int] = {}
    for key, field in STAKES.items():
        amount = reading.take((*path, key), values, minor_of(exponent, MOST_STAKE_MINOR), None)
        if amount == 0:
            reading.fault((*path, key), "must be more than 0")
        elif amount is not None:
            found[field] = amount
    return found


def check_limits(reading: Reading, how: Configuration) -> None:
    """Limits that contradict each other: under them some bet could never be taken."""
    for terms in how.pay_table:
        path: Path = ("limits", "bets", terms.bet)
        if terms.min_minor > terms.max_minor:
            text = f"the minimum {units(terms.min_minor, how)} is above the maximum {units(terms.max_minor, how)}"
            reading.fault(path, f"{terms.bet}: {text}; lower the one or raise the other")
        if terms.min_minor % terms.step_minor:
            step = units(terms.step_minor, how)
            text = f"the minimum {units(terms.min_minor, how)} is no multiple of the step {step}"
            reading.fault(path, f"{terms.bet}: {text}; make it one")
        for key, bound, could in bounds_on(terms, how):
            if bound is not None and could > bound:
                text = f"{units(bound, how)} forbids even the least stake on {terms.bet}, which can come to"
                reading.fault(key, f"{text} {units(could, how)}; raise it, or lower that minimum")
    win, payout = how.win_max_minor, how.payout_max_minor
    if win is not None and payout is not None and win > payout:
        text = (
            f"one customer may win {units(win, how)}, and the whole table {units(payout, how)}; raise table_payout_max"
        )
        reading.fault(("limits", "table_payout_max"), text)
    check_side_against_main(reading, how)
    check_cards_dealt(reading, how)
    check_window(reading, how)
    check_shoe(reading, how)


def bounds_on(terms: Terms, how: Configuration) -> tuple[tuple[Path, int | None, int], ...]:
    """Where a bound is written, the bound, and what the least stake on a bet comes to under it."""
    wins = limits.most(terms, terms.min_minor, how)
    ahead = terms.min_minor if terms.bet in MAIN_BETS else 0
    return (
        (("limits", "customer_win_max"), how.win_max_minor, wins),
        (("limits", "table_payout_max"), how.payout_max_minor, wins),
        (("limits", "bets", terms.bet, "payout_max"), terms.payout_max_minor, wins),
        (("limits", "differential_max"), how.differential_max_minor, ahead),
    )


def check_side_against_main(reading: Reading, how: Configuration) -> None:
    if how.side_above_main:
        return
    most = sum(terms.max_minor for terms in how.pay_table if terms.main)
    for terms in how.pay_table:
        if not terms.main and terms.min_minor > most:
            text = (
                f"{terms.bet} takes {units(terms.min_minor, how)} at least, and no more than what is on the main bets,"
            )
            reading.fault(("limits", "side_above_main"), f"{text} {units(most, how)} at most; lower its minimum")


def check_cards_dealt(reading: Reading, how: Configuration) -> None:
    """Some cards have left every shoe before its first round."""
    if shoe.turns_first_card(how.burn_rule):
        fewest = 2  # the turned card, and one at least that it burns
    else:
        fewest = how.burn_fixed if how.burn_rule == "fixed_n" else shoe.burn_count(how.burn_rule, 0, how.decks, None)
    for terms in how.pay_table:
        if terms.cards_dealt_max is not None and terms.cards_dealt_max < fewest:
            text = f"a new shoe burns {fewest} cards at least, and {terms.bet} could never be taken"
            reading.fault(("limits", "bets", terms.bet, "cards_dealt_max"), f"{text}; write {fewest} or more")


def check_window(reading: Reading, how: Configuration) -> None:
    """A bet that comes in the margin before the first card is too late, and the first card may come at the close."""
    if how.betting_window_ms <= how.close_margin_ms:
        text = f"the window of {how.betting_window_ms} ms is not longer than close_margin_ms, {how.close_margin_ms}"
        reading.fault(("betting", "window_ms"), f"{text}, and no bet would be taken in time; make it longer")


def check_shoe(reading: Reading, how: Configuration) -> None:
    """A fixed burn says how many; behind the cut card lies what the last rounds can take."""
    if how.burn_rule == "fixed_n" and not how.burn_fixed:
        reading.fault(("shoe", "burn"), "fixed_n burns a fixed number of cards; add burn_fixed = 3")
    if how.openings_remembered < max(1, how.rounds_kept):
        text = f"must not be below rounds_kept, {how.rounds_kept}; raise it"
        reading.fault(("corrections", "openings_remembered"), text)
    rounds = shoe.rounds_left(how.end_rule, in_round=False, betting_opened=True)
    needed = shoe.cards_needed(how.end_rule) + (rounds or 0) * how.burn_between
    if how.cards_behind_cut < needed:
        text = f"the end rule {how.end_rule} can take {needed} cards behind the cut card, not {how.cards_behind_cut}"
        reading.fault(("shoe", "cards_behind_cut"), f"{text}; write {needed} or more")
    if how.cards_behind_cut >= (cards := 52 * how.decks):
        text = f"the shoe has {cards} cards, and none would lie before the cut card; write less than {cards}"
        reading.fault(("shoe", "cards_behind_cut"), text)


def units(amount_minor: int, how: Configuration) -> str:
    """An amount as the file has it: `2.50`."""
    if not how.exponent:
        return f"{amount_minor:,}"
    whole, rest = divmod(amount_minor, 10**how.exponent)
    return f"{whole:,}.{rest:0{how.exponent}d}"


# ---------------------------------------------------------------- odds


def check_odds(reading: Reading, how: Configuration, favoured: frozenset[str]) -> None:
    """Every line can pay, and no bet favours the customer but those that are allowed to, under a cap."""
    for terms in how.pay_table:
        try:
            found = odds.bet_odds(terms.bet, terms.lines, how.decks)
        except BadSettings as error:
            reading.fault(written_at(reading, terms.bet), f"{terms.bet}: {error}; ask for less")
            continue
        for number in never_paying(found):
            text = unreachable(terms.bet, terms.lines, number, how.decks)
            reading.fault(written_at(reading, terms.bet, number), text)
        if advantage := advantage_of(reading, found, terms, how):
            if terms.bet not in favoured or terms.payout_max_minor is None:
                path, text = advantage
                allowed = f"or allow it in [limits.bets.{terms.bet}] with may_favour_customer = true and payout_max"
                reading.fault(path, f"{terms.bet} favours the customer by {text}, {allowed}")
        elif terms.bet in favoured:
            text = "this bet does not favour the customer; leave may_favour_customer out"
            reading.fault(("limits", "bets", terms.bet, "may_favour_customer"), text)


def advantage_of(reading: Reading, found: odds.BetOdds, terms: Terms, how: Configuration) -> tuple[Path, str] | None:
    """Where a bet's advantage for the customer comes from, by how much, and the remedy; None where there is none."""
    if found.edge < 0:
        return written_at(reading, terms.bet), f"{percent_of(-found.edge)} at {how.decks} decks; pay less"
    for stake_minor in stakes_that_round(found, terms):
        ahead = odds.return_at(found, terms.lines, stake_minor, odds.paying_of(how)) / stake_minor - 1
        if ahead > 0:
            text = f"{percent_of(ahead)} at a stake of {units(stake_minor, how)}, by rounding"
            return least_at(reading, terms), f"{text}; raise the minimum or the step, {rounding_remedy(terms, how)}"
    return None


MOST_STAKES: Final = 1_000  # that are judged one by one: a bet that is within 0.2% of fair may need more


def stakes_that_round(found: odds.BetOdds, terms: Terms) -> Iterable[int]:
    """The stakes from the minimum upwards at which rounding can outweigh the edge.

    What rounding gives comes again with every common multiple of the denominators (of twice that where it goes by even
    and odd), and weighs less on a higher stake; winnings and commission give less than 2 minor units together.
    """
    paying = [(line.odds, line.odds * line.commission) for line in terms.lines if line.odds is not None]
    period = 2 * lcm(*(exact.denominator for pair in paying for exact in pair))
    steps = min(period // gcd(period, terms.step_minor), MOST_STAKES)
    last = terms.min_minor + (steps - 1) * terms.step_minor
    bounds = (last, terms.max_minor, *([int(2 / found.edge)] if found.edge else []))
    return range(terms.min_minor, min(bounds) + 1, terms.step_minor)


def rounding_remedy(terms: Terms, how: Configuration) -> str:
    """Which rounding takes from the house, and how it would not."""
    is_cut = how.commission_mode == "per_win" and how.commission_rounding != "up"
    commission = ["round commission up"] if is_cut and any(line.commission for line in terms.lines) else []
    winnings = ["round winnings down"] if how.winnings_rounding != "down" else []
    return ", ".join((*commission, *winnings))


def least_at(reading: Reading, terms: Terms) -> Path:
    """Where the file says a bet's least stake; where it does not, where it says the bet."""
    kind = "main" if terms.main and terms.bet != "tie" else "side"
    for path in (("limits", "bets", terms.bet, "min"), ("limits", kind, "min")):
        if path in reading.document.lines:
            return path
    return written_at(reading, terms.bet)


def percent_of(share: Fraction) -> str:
    """With four decimals; a share too small for them is said to be one."""
    return f"{float(share * 100):,.4f}%" if share >= Fraction(1, 2 * 10**6) else "less than 0.0001%"


def check_unused(reading: Reading, how: Configuration) -> None:
    """No bet is defined for nothing; its lines, and those of the file's other games, can pay too."""
    top = reading.document.values
    offered = {terms.bet for terms in how.pay_table}
    unused: dict[Path, Any] = {("bets", bet): lines for bet, lines in top.get("bets", {}).items() if bet not in offered}
    for path in unused:
        reading.fault(path, f"this table does not offer {path[-1]}; name it in side_bets, or take it out")
    for game, values in top.get("games", {}).items():
        if game != how.variant:
            unused |= {("games", game, "bets", bet): lines for bet, lines in values.get("bets", {}).items()}
    for path, written in unused.items():
        bet, lines = str(path[-1]), lines_of(reading, path, written)
        try:
            found = odds.bet_odds(bet, lines, how.decks)
        except BadSettings as error:
            reading.fault(path, f"{bet}: {error}; ask for less")
            continue
        for number in never_paying(found):
            where = (*path, number - 1) if isinstance(written, list) else path
            reading.fault(where, unreachable(bet, lines, number, how.decks))


def never_paying(found: odds.BetOdds) -> tuple[int, ...]:
    """The lines of a bet that no round reaches."""
    return tuple(one.line for one in found.lines if one.line is not None and not one.ways)


def unreachable(bet: str, lines: Lines, number: int, decks: int) -> str:
    """Why a line can never pay."""
    alone = odds.bet_odds(bet, (lines[number - 1],), decks)
    why = (
        "the lines before it take all it asks for" if alone.lines[0].ways else f"no round from {52 * decks} cards is so"
    )
    return f"{bet}, line {number} can never pay: {why}; take it out or mend its conditions"


def written_at(reading: Reading, bet: str, number: int | None = None) -> Path:
    """Where the file says most about a bet's line: its own lines, its odds, the menu, the game."""
    top = reading.document.values
    games = top.get("games", {})
    at_line: Path = () if number is None else (number - 1,)
    candidates: list[Path] = [("pays", bet), ("bets", bet), *(("games", game, "bets", bet) for game in games)]
    for path in candidates:
        if path in reading.document.lines:
            return (*path, *at_line)
    names = top.get("side_bets")
    if isinstance(names, list) and bet in names:
        return ("side_bets", names.index(bet))
    return ("side_bets",) if bet in SIDE_BETS and names is not None else ("game",)


# ---------------------------------------------------------------- what changes


class Difference(Struct, frozen=True):
    """One thing that two configurations say differently, as text; empty where one says nothing."""

    what: str
    before: str
    after: str


def differences(before: Configuration | None, after: Configuration) -> tuple[Difference, ...]:
    """What changes from one configuration to another, setting by setting and bet by bet; None is a new table."""
    old, new = (settings_of(before) if before else {}), settings_of(after)
    names = dict.fromkeys((*old, *new))
    return tuple(
        Difference(name, old.get(name, ""), new.get(name, ""))
        for name in names
        if old.get(name, "") != new.get(name, "")
    )


def settings_of(how: Configuration) -> dict[str, str]:
    """Everything a configuration says, each setting and each bet's lines and limits by name."""
    found = {
        name: written(getattr(how, name)) for name in how.__struct_fields__ if name not in {"pay_table", "policies"}
    }
    found |= {f"policies.{policy.code}": policy.policy for policy in how.policies}
    for terms in how.pay_table:
        for number, line in enumerate(terms.lines, start=1):
            found[f"{terms.bet}.line {number}"] = line_as_written(line)
        for name in terms.__struct_fields__:
            if name not in {"bet", "lines"}:
                found[f"{terms.bet}.{name}"] = written(getattr(terms, name))
    return found


def written(value: object) -> str:
    """A setting as text."""
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def line_as_written(line: Line) -> str:
    """A line as the file could have it: `pays 1/2 when winner = banker, banker_total = 6`."""
    pays = "push" if line.odds is None else f"pays {line.odds}"
    less = f" less {line.commission} of it" if line.commission else ""
    when = ", ".join(f"{asked.fact} = {' or '.join(asked.among)}" for asked in line.when)
    return f"{pays}{less} when {when}" if when else f"{pays}{less} always"
