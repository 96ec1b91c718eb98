"""Who takes the next card, and who has won: the third-card table, the same at every table (R8 to R14).

A row is a hand's total on two cards; D draws, - stands. The Banker's columns are the points of the
Player's third card, and `s` when the Player stood.
"""

from typing import Final

from services.baccarat.cards import Card, Hand, Winner, total

#                 total 01234567
PLAYER_ROW: Final[str] = "DDDDDD--"  # R9
BANKER_ROWS: Final[tuple[str, ...]] = (
    # 0123456789s
    "DDDDDDDDDDD",  # 0
    "DDDDDDDDDDD",  # 1
    "DDDDDDDDDDD",  # 2
    "DDDDDDDD-DD",  # 3
    "--DDDDDD--D",  # 4
    "----DDDD--D",  # 5
    "------DD---",  # 6
    "-----------",  # 7
)  # R11, and R10 in the last column
STOOD: Final = 10


def player_draws(player_total: int) -> bool:
    """Whether the Player draws on this two-card total, 0 to 7: nothing else is asked (R9)."""
    return PLAYER_ROW[player_total] == "D"


def banker_draws(banker_total: int, player_third: int | None) -> bool:
    """Whether the Banker draws on this two-card total, 0 to 7.

    `player_third` is the third card's points, where 0 is a ten, jack, queen or king; None when the Player stood.
    """
    column = STOOD if player_third is None else player_third
    return BANKER_ROWS[banker_total][column] == "D"


def drawing_hand(
    player_total: int, banker_total: int, player_third: int | None = None, banker_third: int | None = None
) -> Hand | None:
    """Which hand draws, by two-card totals and the points of the third cards dealt so far; None when the round is over.

    A third card of None is not dealt: at most one comes to a hand (R12).
    """
    if player_total >= 8 or banker_total >= 8:  # R8: a natural comes before every draw rule
        return None
    if player_third is None and player_draws(player_total):
        return Hand.PLAYER
    if banker_third is None and banker_draws(banker_total, player_third):
        return Hand.BANKER
    return None


def next_hand(player: tuple[Card, ...], banker: tuple[Card, ...]) -> Hand | None:
    """Which hand takes the next card; None when the round is over."""
    dealt = len(player) + len(banker)
    if dealt < 4:  # R7: Player, Banker, Player, Banker
        return Hand.PLAYER if dealt % 2 == 0 else Hand.BANKER
    return drawing_hand(total(player[:2]), total(banker[:2]), _third(player), _third(banker))


def is_natural(cards: tuple[Card, ...]) -> bool:
    """8 or 9 on exactly two cards; on three cards they are no natural (R8)."""
    return len(cards) == 2 and total(cards) >= 8


def winner_of(player_total: int, banker_total: int) -> Winner:
    """The higher final total wins, equal totals tie (R13)."""
    if player_total == banker_total:
        return Winner.TIE
    return Winner.PLAYER if player_total > banker_total else Winner.BANKER


def explain(player: tuple[Card, ...], banker: tuple[Card, ...]) -> tuple[str, ...]:
    """Who draws and why, in sentences and in the order a hand is read: totals, natural, Player, Banker, outcome (R18).

    The last sentence says which card is awaited while the round is not over.
    """
    awaited = next_hand(player, banker)
    if len(player) + len(banker) < 4:
        return (f"The first four cards go Player, Banker, Player, Banker; the next is the {_name(awaited)}'s.",)
    first_totals = (
        f"Player: {_written(player[:2])}, total {total(player[:2])}. "
        f"Banker: {_written(banker[:2])}, total {total(banker[:2])}."
    )
    if is_natural(player[:2]) or is_natural(banker[:2]):
        return (first_totals, _natural(player, banker), _outcome(player, banker))
    reasons: tuple[str, ...] = (
        first_totals,
        "No natural: neither hand has 8 or 9 on two cards.",
        _player_reason(player),
    )
    if awaited is Hand.PLAYER:
        return (*reasons, "The Player's third card is awaited.")
    reasons = (*reasons, _banker_reason(player, banker))
    if awaited is Hand.BANKER:
        return (*reasons, "The Banker's third card is awaited.")
    return (*reasons, _outcome(player, banker))


def spans(row: str, action: str) -> str:
    """The columns of a row where `action` (D or -) stands, as read aloud: `0-7 and 9`; the column `s` is left out.

    >>> spans("DDDDDDDD-DD", "D")
    '0-7 and 9'
    >>> spans("DDDDDDDD-DD", "-")
    '8'
    """
    columns = [column for column, cell in enumerate(row[:STOOD]) if cell == action]
    starts = [column for column in columns if column - 1 not in columns]
    ends = [column for column in columns if column + 1 not in columns]
    return " and ".join(
        f"{start}" if start == end else f"{start}-{end}" for start, end in zip(starts, ends, strict=True)
    )


def _third(cards: tuple[Card, ...]) -> int | None:
    return cards[2].points if len(cards) == 3 else None


def _name(hand: Hand | None) -> str:
    return "Player" if hand is Hand.PLAYER else "Banker"


def _written(cards: tuple[Card, ...]) -> str:
    return " ".join(str(card) for card in cards)


def _natural(player: tuple[Card, ...], banker: tuple[Card, ...]) -> str:
    if is_natural(player) and is_natural(banker):
        return "Both hands have a natural, 8 or 9 on two cards: both stand."
    owner = "Player" if is_natural(player) else "Banker"
    return f"The {owner} has a natural, 8 or 9 on two cards: both hands stand."


def _player_reason(player: tuple[Card, ...]) -> str:
    two_card_total = total(player[:2])
    rule = f"it draws on {spans(PLAYER_ROW, 'D')} and stands on {spans(PLAYER_ROW, '-')}"
    if not player_draws(two_card_total):
        return f"The Player stands on {two_card_total}: {rule}."
    drawn = f" It draws {player[2]}: total {total(player)}." if len(player) == 3 else ""
    return f"The Player draws on {two_card_total}: {rule}.{drawn}"


def _banker_reason(player: tuple[Card, ...], banker: tuple[Card, ...]) -> str:
    two_card_total = total(banker[:2])
    third = _third(player)
    draws = banker_draws(two_card_total, third)
    verb = "draws" if draws else "stands"
    if third is None:
        column = "".join(row[STOOD] for row in BANKER_ROWS)
        why = f"the Player stood, and then it draws on {spans(column, 'D')} and stands on {spans(column, '-')}"
    else:
        row = BANKER_ROWS[two_card_total]
        draws_on, stands_on = spans(row, "D"), spans(row, "-")
        rule = f"draws against {draws_on} and stands against {stands_on}"
        if not draws_on or not stands_on:
            rule = "always draws" if draws_on else "never draws"
        why = f"the Player's third card counts {third}, and on {two_card_total} the Banker {rule}"
    drawn = f" It draws {banker[2]}: total {total(banker)}." if len(banker) == 3 else ""
    return f"The Banker {verb} on {two_card_total}: {why}.{drawn}"


def _outcome(player: tuple[Card, ...], banker: tuple[Card, ...]) -> str:
    player_total, banker_total = total(player), total(banker)
    winner = winner_of(player_total, banker_total)
    if winner is Winner.TIE:
        return f"Tie, {player_total} all."
    high, low = max(player_total, banker_total), min(player_total, banker_total)
    return f"{'Player' if winner is Winner.PLAYER else 'Banker'} wins, {high} to {low}."
