"""What a bet comes to, worked out from the rulebook alone: nothing here is taken from the pay tables of the project.

Amounts are minor units; no fraction and no float: a sum is kept as so many parts of so many.
"""

from typing import Final

VALUES: Final = {"A": 1, "10": 0, "J": 0, "Q": 0, "K": 0} | {str(face): face for face in range(2, 10)}
ROUNDINGS: Final = ("down", "up", "half_up", "half_down", "half_even")
VARIANTS: Final = ("classic", "classic-tie-9", "super-6", "ez")
BETS: Final = ("player", "banker", "tie", "player_pair", "banker_pair")


def points(ranks: list[str]) -> int:
    return sum(VALUES[rank] for rank in ranks) % 10


def to_whole(parts: int, of: int, rounding: str) -> int:
    """`parts` / `of` as a whole number."""
    whole = parts // of
    left = parts - whole * of
    if left == 0 or rounding == "down":
        return whole
    if rounding == "up":
        return whole + 1
    if 2 * left != of:
        return whole + 1 if 2 * left > of else whole
    if rounding == "half_even":
        return whole + 1 if whole % 2 == 1 else whole
    return whole + 1 if rounding == "half_up" else whole


def comes_to(
    variant: str,
    bet: str,
    stake: int,
    player: list[str],
    banker: list[str],
    winnings_rounding: str = "down",
    commission_rounding: str = "half_up",
) -> tuple[int, int, int]:
    """Winnings before commission, commission, and what goes back in all."""
    lost, push = (0, 0, 0), (0, 0, stake)
    total, other = points(player), points(banker)
    if bet == "player_pair":
        return won(stake, 11) if player[0] == player[1] else lost
    if bet == "banker_pair":
        return won(stake, 11) if banker[0] == banker[1] else lost
    if bet == "tie":
        return won(stake, 9 if variant == "classic-tie-9" else 8) if total == other else lost
    if total == other:
        return push
    if bet == "player":
        return won(stake, 1) if total > other else lost
    if total > other:
        return lost
    if variant == "super-6" and other == 6:
        half = to_whole(stake, 2, winnings_rounding)
        return half, 0, stake + half
    if variant == "ez" and other == 7 and len(banker) == 3:
        return push
    if variant in ("super-6", "ez"):
        return won(stake, 1)
    commission = min(stake, to_whole(stake * 5, 100, commission_rounding))
    return stake, commission, stake + stake - commission


def won(stake: int, odds: int) -> tuple[int, int, int]:
    return stake * odds, 0, stake * odds + stake
