"""Every line of every bet of the catalogue, paid by the settlement decider: its exact return comes back."""

from collections.abc import Iterable, Iterator
from itertools import islice
from random import Random
from typing import Final

import pytest
from msgspec.structs import replace

from services.baccarat.catalogue import SIDE_BETS, VARIANTS, configuration
from services.baccarat.events import BetSettled, Configuration, Terms
from services.baccarat.odds import bet_odds
from services.baccarat.payouts import line_of
from services.baccarat.shoe import fresh_shoe
from tests.baccarat.enumeration import STAKE_MINOR, Cards, dealt
from tests.baccarat.logs import Logs, read_all

SEED: Final = 20_261_130
MOST_ROUNDS: Final = 100_000  # the rarest line needs 27,196


def orders() -> Iterator[Cards]:
    """Cards in the order they are dealt, of shoes just shuffled, without end."""
    chance = Random(SEED)
    shoe = fresh_shoe(8)
    while True:
        yield tuple(chance.sample(shoe, 6))


def paid(how: Configuration, bets: Iterable[str], player: Cards, banker: Cards) -> dict[tuple[str, int | None], int]:
    """What settlement says of a bet each in a round of these cards: the line, and what comes back."""
    logs = Logs("betting=automatic")
    logs.feed.configuration = replace(logs.feed.configuration, pay_table=how.pay_table)
    logs.play("rules shoe")
    for bet in bets:
        logs.bet(bet, STAKE_MINOR)
    order = (player[0], banker[0], player[1], banker[1], *player[2:], *banker[2:])
    facts = read_all(logs.play(" ".join(map(str, order))))
    return {(fact.bet, fact.line): fact.return_minor for fact in facts if isinstance(fact, BetSettled)}


def table(slug: str) -> Configuration:
    """The game as it is; the classic one with every side bet there is."""
    how = configuration(slug)
    mains = tuple(terms for terms in how.pay_table if terms.main)
    sides = tuple(Terms(bet.slug, bet.lines, 100, 50_000) for bet in SIDE_BETS.values()) if slug == "classic" else ()
    return replace(how, pay_table=(*mains, *sides))


@pytest.mark.parametrize("slug", VARIANTS)
def test_every_line_pays_its_exact_return(slug: str) -> None:
    how = table(slug)
    lines = {terms.bet: terms.lines for terms in how.pay_table}
    missing = {
        (bet, one.line): one.returns for bet in lines for one in bet_odds(bet, lines[bet], how.decks).lines if one.ways
    }
    assert len(missing) > len(lines)
    for order in islice(orders(), MOST_ROUNDS):
        player, banker = dealt(order)
        found = {(bet, line_of(lines[bet], player, banker)) for bet, _ in missing} & missing.keys()
        if found:
            expected = {one: STAKE_MINOR * missing.pop(one) for one in found}
            assert paid(how, [bet for bet, _ in found], player, banker) == expected, order
        if not missing:
            break
    assert missing == {}, f"seed {SEED}"
