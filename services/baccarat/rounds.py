"""The rules decider: what a record of `table-feed` means at its table.

`decide` asks, for each input: was it heard before, is the table suspended, and then the answer of its kind. One
question, "who takes the next card?", is the whole game, and `tableau` answers it. `evolve` folds the answers; the state
changes by nothing else, and there is no clock but `at_ms`: what is due by time is said at the next input.

Rules numbers shoes for ever, rounds per shoe when betting opens (or at the first card of a free hand) and cards per
shoe from 1, burned ones included.
"""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from services.baccarat import payouts, shoe
from services.baccarat.cards import Card, Hand, total
from services.baccarat.errors import InvariantBroken
from services.baccarat.events import (
    BettingClosed,
    BettingOpened,
    BookResumeOrdered,
    CardAssigned,
    CardBurned,
    CardCorrected,
    CardDealt,
    CardRevealed,
    CardSetAside,
    Configuration,
    ConfigurationReceived,
    CutCardDrawn,
    CutCardSeen,
    DealerClosedBetting,
    DealerCorrectedCard,
    DealerEndedShoe,
    DealerOpenedBetting,
    DealerResumed,
    DealerStartedShoe,
    DealerSuspended,
    DealerVoidedRound,
    DeviceEvent,
    DeviceReported,
    Event,
    HiddenCardRevealed,
    InputNoted,
    IrregularityFound,
    Mark,
    RoundDecided,
    RoundRevised,
    RoundsFact,
    RoundVoided,
    RulesInForce,
    ShoeClosed,
    ShoeOpened,
    ShoeStarted,
    TableConfigured,
    TableMoved,
    TableResumed,
    TableSuspended,
    cause_id,
)
from services.baccarat.policies import POLICIES, policy_of
from services.baccarat.table import (
    BETWEEN_ROUNDS,
    NEW_SHOE,
    SHOE_STARTED_ALREADY,
    Round,
    Rules,
    Slot,
    State,
    awaited,
    burns_left,
    device_of,
    evolve,
    faces,
    hand_of,
    has_cards,
    is_burn_unread,
    is_lawful,
    is_open_question,
    is_over,
    known_cards,
    latest,
    may_open,
    without,
)
from services.baccarat.tableau import is_natural, winner_of
from services.baccarat.telling import Telling

SCAN_TRUSTED_MS: Final = 5_000  # a scan time counts only if it lies so little before the append time
Told = Telling[State, RoundsFact]

# ---------------------------------------------------------------- telling


def note(told: Told, what: str, number: int = 0) -> None:
    """Nothing more is to be said, but the input must be remembered."""
    told.say(InputNoted(**told.about(f"{told.cause}/noted"), what=what, number=number))


def find(told: Told, code: str, text: str, policy: str = "refused", card_no: int | None = None) -> None:
    """An irregularity, with the policy applied: refused, set-aside, suspended or voided."""
    state = told.state
    told.say(
        IrregularityFound(
            **told.about(f"irregularity/{state.irregularities + 1}"),
            code=code,
            text=text,
            policy=policy,
            shoe_no=state.shoe_no or None,
            round_no=state.current.round_no if state.current else None,
            card_no=card_no,
        )
    )


def suspend(told: Told, cause: str, text: str, by: str = "") -> None:
    """Closes the betting and suspends the table until a person resumes it."""
    close_betting(told, "suspended")
    state = told.state
    told.say(
        TableSuspended(
            **told.about(f"suspension/{state.suspensions + 1}"),
            cause=cause,
            text=text,
            by=by,
            shoe_no=state.shoe_no or None,
            round_no=state.current.round_no if state.current else None,
        )
    )


def set_aside(told: Told, card: Card | None, reason: str) -> None:
    """A card that takes no part; it keeps its number if it left an open shoe."""
    state = told.state
    card_no = len(state.dealt) + 1 if state.shoe_open else None
    told.say(
        CardSetAside(
            **told.about(f"{told.cause}/set-aside"), shoe_no=state.shoe_no, card_no=card_no, card=card, reason=reason
        )
    )


def close_betting(told: Told, cause: str, closing_ms: int | None = None) -> None:
    """Closes an open betting at the earliest of its end and `closing_ms` (None: the input's append time)."""
    current = told.state.current
    if current is None or current.opened is None or current.closed is not None:
        return
    due_ms = current.opened.closes_at_ms
    closing_ms = told.at_ms if closing_ms is None else closing_ms
    told.say(
        BettingClosed(
            **told.about(f"{current.shoe_no}/{current.round_no}/closed"),
            shoe_no=current.shoe_no,
            round_no=current.round_no,
            closed_at_ms=min(due_ms, closing_ms),
            cause="time" if due_ms <= closing_ms else cause,
        )
    )


def open_betting(told: Told) -> None:
    """Opens the next round's betting under the newest configuration; the caller has asked `may_open`."""
    rules = latest(told.state)
    if rules is None:
        raise InvariantBroken(f"table {told.state.table_id} opens betting without a configuration")
    if told.state.received is not None:
        told.say(
            RulesInForce(
                **told.about(f"rules/{rules.version}"), version=rules.version, configuration=rules.configuration
            )
        )
    state = told.state
    round_no = state.round_no + 1
    told.say(
        BettingOpened(
            **told.about(f"{state.shoe_no}/{round_no}/opened"),
            shoe_no=state.shoe_no,
            round_no=round_no,
            version=rules.version,
            closes_at_ms=told.at_ms + rules.configuration.betting_window_ms,
            cards_dealt=len(state.dealt),
        )
    )


def go_on(told: Told) -> None:
    """What follows between two rounds: the shoe's end, or the next opening where the table opens by itself."""
    state = told.state
    rules = latest(state)
    if rules is None or not state.shoe_open or state.current is not None:
        return
    cards_left = state.decks * 52 - len(state.dealt)
    how = rules.configuration
    if state.cut_seen and state.rounds_left == 0:
        end_shoe(told, "cut-card")
    elif shoe.is_low(how.end_rule, how.cards_behind_cut, cards_left):
        end_shoe(told, "cards-low")
    elif how.betting == "automatic" and may_open(state):
        open_betting(told)


def end_shoe(told: Told, reason: str) -> None:
    """Ends an open shoe; a round in progress is void."""
    if not told.state.shoe_open:
        return
    if told.state.current is not None:
        close_betting(told, "shoe_end")
        void_current(told, "shoe-end")
    state = told.state
    told.say(
        ShoeClosed(
            **told.about(f"{state.shoe_no}/closed"),
            shoe_no=state.shoe_no,
            reason=reason,
            rounds=state.round_no,
            cards=len(state.dealt),
        )
    )


def void_current(told: Told, reason: str, by: str = "") -> None:
    """Voids the round in progress, whose betting is closed."""
    current = told.state.current
    if current is None:
        return
    told.say(
        RoundVoided(
            **told.about(f"{current.shoe_no}/{current.round_no}/voided/0"),
            shoe_no=current.shoe_no,
            round_no=current.round_no,
            revision=0,
            reason=reason,
            by=by,
            opened=current.opened,
            closed=current.closed,
        )
    )


# ---------------------------------------------------------------- decide


def decide(state: State, event: Event, at_ms: int) -> tuple[RoundsFact, ...]:
    """What an input means, appended at `at_ms`. The same record again means nothing.

    Raises InvariantBroken for what cannot be.
    """
    cause = cause_id(event)
    hearing = listen(state, event) if isinstance(event, DeviceEvent) else "new"
    if hearing == "old" or cause in state.actions:
        return ()
    told: Told = Telling(state, evolve, cause, at_ms)
    if not isinstance(event, CardDealt) and betting_is_due(state, at_ms):  # a card closes by its scan time
        close_betting(told, "time")
    by_clock = len(told.facts)
    if isinstance(event, DeviceEvent) and hearing != "new":
        refuse_device(told, event, hearing)
    if hearing == "new" or (hearing == "gap" and isinstance(event, ShoeStarted)):  # makes up for what was missed
        ANSWERS[type(event)](told, event)
    return tuple(told.facts) if len(told.facts) > by_clock else ()


def betting_is_due(state: State, at_ms: int) -> bool:
    """Whether an open betting's time is up."""
    current = state.current
    return (
        current is not None
        and current.opened is not None
        and current.closed is None
        and at_ms >= current.opened.closes_at_ms
    )


def listen(state: State, event: DeviceEvent) -> str:
    """Whether a device's record is `new`, `old` (a repeat), a `gap` or a `conflict` with what it said before."""
    known = device_of(state, event.device)
    if known is None:
        return "new"
    if event.boot == known.boot and event.sequence == known.sequence + 1:
        return "new"
    if (event.boot, event.sequence) > (known.boot, known.sequence):
        return "new" if event.boot > known.boot and event.sequence == 1 else "gap"
    before = next((dealt for dealt in state.dealt if dealt.cause_id == cause_id(event)), None)
    if before is not None and (not isinstance(event, CardDealt) or event.card not in (before.sent, None)):
        return "conflict"
    return "old"


def refuse_device(told: Told, event: DeviceEvent, hearing: str) -> None:
    """Cards were missed, or the device contradicts itself: the table waits for a person."""
    known = device_of(told.state, event.device)
    heard_last = f"boot {known.boot}, sequence {known.sequence}" if known else "nothing"
    text = f"{event.device} sent boot {event.boot}, sequence {event.sequence} after {heard_last}"
    if isinstance(event, ShoeStarted) and hearing == "gap":
        find(told, "sequence-gap", text, "shoe-started")
        return
    find(told, f"sequence-{hearing}", text, "suspended")
    if isinstance(event, CardDealt) and hearing == "gap":
        set_aside(told, event.card, "sequence-gap")
    if not told.state.suspended:
        suspend(told, f"sequence-{hearing}", text)


def on_shoe_started(told: Told, event: ShoeStarted) -> None:
    rules = latest(told.state)
    if rules is None:
        find(told, "not-configured", f"a shoe was started before table {event.table_id} was configured")
        return
    state = told.state
    if state.shoe_open and state.shoe_by_dealer and not state.dealt and event.decks == state.decks:
        note(told, SHOE_STARTED_ALREADY, state.shoe_no)
        return
    end_shoe(told, "new-shoe")
    open_shoe(told, event.decks, event.commitment)
    if event.decks != rules.configuration.decks:
        text = f"the shoe holds {event.decks} decks, the table is configured for {rules.configuration.decks}"
        suspend_by_policy(told, "decks-differ", text)
    go_on(told)


def suspend_by_policy(told: Told, code: str, text: str) -> None:
    """An irregularity that suspends the table unless its policy is to note it."""
    how = rules.configuration if (rules := latest(told.state)) else None
    if policy_of(how, code) == "note":
        find(told, code, text, "noted")
        return
    find(told, code, text, "suspended")
    suspend_once(told, code, text)


def suspend_once(told: Told, cause: str, text: str) -> None:
    """Suspends the table unless it is suspended already."""
    if not told.state.suspended:
        suspend(told, cause, text)


def open_shoe(told: Told, decks: int, commitment: str | None) -> None:
    shoe_no = told.state.shoe_no + 1
    told.say(ShoeOpened(**told.about(f"{shoe_no}/opened"), shoe_no=shoe_no, decks=decks, commitment=commitment))


def on_card(told: Told, event: CardDealt) -> None:
    state = told.state
    if state.suspended:
        set_aside(told, event.card, "suspended")
    elif not state.shoe_open:
        find(told, "card-without-shoe", f"{event.device} dealt {event.card or 'a card'} with no shoe open", "set-aside")
        set_aside(told, event.card, "no-shoe")
    elif is_one_too_many(state, event.card):
        refuse_card(told, event, "card-over-count", f"{state.decks} decks hold no further {event.card}")
    elif state.current is None and burns_left(state) > 0:
        burn(told, event, BETWEEN_ROUNDS if state.round_no else NEW_SHOE)
    elif (code := burned_by_policy(told, event)) is not None:
        find(told, code, BURNED_BY_POLICY[code], "burned", len(state.dealt) + 1)
        burn(told, event, code)
    elif state.current is not None and is_open_question(state.current.slots):
        refuse_card(told, event, "card-before-reveal", "a card came while hidden cards leave open who draws")
    else:
        assign(told, event)


BURNED_BY_POLICY: Final = {
    "card-without-opening": "a card came though no betting was opened",
    "card-in-betting": "a card came while betting was open",
    "card-unread": "a card's face was not read",
}


def burned_by_policy(told: Told, event: CardDealt) -> str | None:
    """Why the house burns this card instead of dealing it, by the table's policies."""
    state = told.state
    current = state.current
    is_early = (
        current is not None
        and current.opened is not None
        and current.closed is None
        and closing_ms_of(told, event) < current.opened.closes_at_ms
    )
    found = {
        "card-without-opening": current is None,
        "card-in-betting": is_early,
        "card-unread": event.card is None,
    }
    how = rules.configuration if (rules := latest(state)) else None
    return next((code for code, is_so in found.items() if is_so and policy_of(how, code) == "burn"), None)


def is_one_too_many(state: State, card: Card | None) -> bool:
    """Whether the shoe cannot hold this card any more, or any card at all."""
    if len(state.dealt) >= state.decks * 52:
        return True
    return card is not None and shoe.too_many(state.decks, known_cards(state), card)


def refuse_card(told: Told, event: CardDealt, code: str, text: str) -> None:
    """The card takes no part, and the table waits unless its policy is to go on."""
    how = rules.configuration if (rules := latest(told.state)) else None
    goes_on = code in POLICIES and policy_of(how, code) == "set-aside"
    find(told, code, text, "set-aside" if goes_on else "suspended", len(told.state.dealt) + 1)
    set_aside(told, event.card, code)
    if not goes_on:
        suspend_once(told, code, text)


def burn(told: Told, event: CardDealt, reason: str) -> None:
    state = told.state
    card_no = len(state.dealt) + 1
    fact = CardBurned(
        **told.about(f"{state.shoe_no}/card/{card_no}/burned"),
        shoe_no=state.shoe_no,
        card_no=card_no,
        card=event.card,
        reason=reason,
    )
    told.say(replace(fact, left=burns_left(evolve(state, fact))))
    if is_burn_unread(told.state):
        text = "the first card decides how many are burned, and its face was not read"
        find(told, "burn-unread", text, "suspended", card_no)
        suspend_once(told, "burn-unread", text)
    go_on(told)


def first_card_ms(event: CardDealt, at_ms: int) -> int:
    """When the first card came: its scan time if that is believable, else its append time."""
    believable = at_ms - SCAN_TRUSTED_MS <= event.scanned_at_ms <= at_ms
    return event.scanned_at_ms if believable else at_ms


def closing_ms_of(told: Told, event: CardDealt) -> int:
    """When betting closes for a round's first card: a margin before it, for brokers' clocks differ."""
    rules = told.state.in_force
    return first_card_ms(event, told.at_ms) - (rules.configuration.close_margin_ms if rules else 0)


def assign(told: Told, event: CardDealt) -> None:
    state = told.state
    current = state.current
    close_betting(told, "card", closing_ms_of(told, event))
    slots = current.slots if current else ()
    hand = awaited(slots)
    if hand is None:
        raise InvariantBroken(f"table {state.table_id} kept a round that is over")
    card_no = len(state.dealt) + 1
    after = (*slots, Slot(card_no, hand, event.card))
    player, banker = faces(after, Hand.PLAYER), faces(after, Hand.BANKER)
    told.say(
        CardAssigned(
            **told.about(f"{state.shoe_no}/card/{card_no}/assigned"),
            shoe_no=state.shoe_no,
            round_no=current.round_no if current else state.round_no + 1,
            card_no=card_no,
            hand=hand,
            place=len(hand_of(after, hand)),
            card=event.card,
            player_total=None if player is None else total(player),
            banker_total=None if banker is None else total(banker),
            next_hand=awaited(after),
        )
    )
    finish(told)


def finish(told: Told) -> None:
    """Decides the round in progress if its last card has come."""
    current = told.state.current
    if current is None or not is_over(current.slots):
        return
    decided = decision(told, current, f"{current.shoe_no}/{current.round_no}/decided/0")
    told.say(decided)
    go_on(told)


def decision(told: Told, one: Round, what: str) -> RoundDecided:
    """What the cards of a finished round say."""
    player, banker = faces(one.slots, Hand.PLAYER), faces(one.slots, Hand.BANKER)
    if player is None or banker is None:
        raise InvariantBroken(f"round {one.shoe_no}/{one.round_no} is decided with hidden cards")
    return RoundDecided(
        **told.about(what),
        shoe_no=one.shoe_no,
        round_no=one.round_no,
        revision=one.revision,
        version=one.version,
        player=player,
        banker=banker,
        player_total=total(player),
        banker_total=total(banker),
        winner=winner_of(total(player), total(banker)),
        natural=is_natural(player) or is_natural(banker),
        free=one.opened is None,
        opened=one.opened,
        closed=one.closed,
    )


def on_cut_card(told: Told, _: CutCardDrawn) -> None:
    state = told.state
    rules = latest(state)
    if not state.shoe_open or rules is None or state.cut_seen:
        find(told, "cut-card-unexpected", "the cut card came with no shoe open, or a second time")
        return
    rounds_left = shoe.rounds_left(
        rules.configuration.end_rule,
        in_round=has_cards(state),
        betting_opened=state.current is not None,
    )
    told.say(
        CutCardSeen(
            **told.about(f"{state.shoe_no}/cut-card"),
            shoe_no=state.shoe_no,
            card_no=len(state.dealt) + 1,
            rounds_left=rounds_left,
        )
    )
    go_on(told)


def on_reveal(told: Told, event: CardRevealed) -> None:
    state = told.state
    wanted = f"{event.device}/{event.boot}/{event.revealed_sequence}"
    card_no = next((no for no, dealt in enumerate(state.dealt, start=1) if dealt.cause_id == wanted), None)
    if card_no is None:
        find(
            told, "reveal-unknown", f"{event.device} revealed sequence {event.revealed_sequence}, no card of this shoe"
        )
        return
    before = state.dealt[card_no - 1].card
    if before is not None:
        if before == event.card:
            note(told, "reveal-known", card_no)
            return
        text = f"card {card_no} was {before} and is revealed as {event.card}"
        find(told, "reveal-conflict", text, "suspended", card_no)
        suspend_once(told, "reveal-conflict", text)
        return
    if shoe.too_many(state.decks, known_cards(state), event.card):
        text = f"{state.decks} decks hold no further {event.card}"
        find(told, "card-over-count", text, "suspended", card_no)
        suspend_once(told, "card-over-count", text)
        return
    one = round_with(state, state.shoe_no, card_no)
    told.say(
        HiddenCardRevealed(
            **told.about(f"{state.shoe_no}/card/{card_no}/revealed"),
            shoe_no=state.shoe_no,
            round_no=one.round_no if one else None,
            card_no=card_no,
            card=event.card,
        )
    )
    reconsider(told)


def reconsider(told: Told) -> None:
    """After a face became known or changed: void a false draw, decide a finished round, or go on."""
    current = told.state.current
    if told.state.suspended:
        return
    if current is not None and not is_lawful(current.slots):
        find(told, "false-draw", "with this face a card went to a hand that was not due it", "voided")
        close_betting(told, "void")
        void_current(told, "false-draw")
        go_on(told)
        return
    finish(told)
    go_on(told)


def round_with(state: State, shoe_no: int, card_no: int) -> Round | None:
    """The round in progress or past that holds this card of this shoe."""
    rounds = state.past if state.current is None else (*state.past, state.current)
    for one in rounds:
        if one.shoe_no == shoe_no and any(slot.card_no == card_no for slot in one.slots):
            return one
    return None


def on_device_report(told: Told, event: DeviceReported) -> None:
    last = told.state.past[-1] if told.state.past else None
    if event.what == "claim" and last is not None and not last.voided and not has_cards(told.state):
        ruled = decision(told, last, "claimed").winner
        if event.text != ruled:
            text = f"{event.device} claims {event.text!r} for round {last.round_no}, the cards say {ruled.value}"
            suspend_by_policy(told, "claim-differs", text)
            return
    note(told, f"device-{event.what}")


def on_configured(told: Told, event: TableConfigured) -> None:
    state = told.state
    known = latest(state)
    version = known.version if known else 0
    if known is not None and (event.version < version or known == Rules(event.version, event.configuration)):
        return  # a repeat
    receive(told, event.version, event.configuration, version)


def receive(told: Told, version: int, configuration: Configuration, known_version: int) -> None:
    """Takes a configuration whose number is higher and whose content can be settled by; says why not otherwise."""
    if version < 1:
        find(told, "configuration-refused", f"versions count from 1, and this is {version}")
        return
    if version <= known_version:
        text = f"version {version} is in use with other content: number a changed configuration higher"
        find(told, "configuration-conflict", text)
        return
    known = latest(told.state)
    if known is not None and currency_of(known.configuration) != currency_of(configuration):  # debts are in it
        text = f"version {version} is in other money than version {known_version}: a table keeps its currency"
        find(told, "configuration-refused", text)
        return
    if faults := payouts.faults(configuration):
        find(told, "configuration-refused", f"version {version}: {'; '.join(faults)}")
        return
    told.say(
        ConfigurationReceived(
            **told.about(f"configuration/{version}/received"), version=version, configuration=configuration
        )
    )
    go_on(told)


def currency_of(configuration: Configuration) -> tuple[str, int]:
    """The currency and its exponent."""
    return configuration.currency, configuration.exponent


def on_moved(told: Told, event: TableMoved) -> None:
    state = told.state
    if state.shoe_no or latest(state):
        find(told, "moved-into-use", f"table {event.table_id} has begun in this log already")
        return
    if event.next_shoe_no < 1:
        find(told, "moved-wrongly", f"shoes count from 1, and the next would be {event.next_shoe_no}")
        return
    if event.debts:  # the end of a shoe collects them, and a table moves between shoes
        find(
            told, "moved-with-debts", f"{len(event.debts)} customers owe commission: collect it in the other log first"
        )
        return
    receive(told, event.version, event.configuration, 0)
    note(told, "moved", event.next_shoe_no - 1)


def misfit(told: Told, text: str) -> None:
    find(told, "action-does-not-fit", text)


def where(state: State) -> str:
    """Where the table is, for the text of a refusal."""
    running = f"round {state.current.round_no} running" if state.current else f"round {state.round_no} over"
    return f"the table is in shoe {state.shoe_no}, {running}"


def on_dealer_opened(told: Told, event: DealerOpenedBetting) -> None:
    state = told.state
    if (event.shoe_no, event.round_no) != (state.shoe_no, state.round_no + 1) or not may_open(state):
        misfit(told, f"betting for shoe {event.shoe_no}, round {event.round_no} cannot open: {where(state)}")
    else:
        open_betting(told)


def on_dealer_closed(told: Told, event: DealerClosedBetting) -> None:
    current = told.state.current
    if (
        current is None
        or current.opened is None
        or (event.shoe_no, event.round_no)
        != (
            current.shoe_no,
            current.round_no,
        )
    ):
        misfit(told, f"shoe {event.shoe_no}, round {event.round_no} has no open betting: {where(told.state)}")
    elif current.closed is None:
        close_betting(told, "dealer")
    else:
        note(told, "closed-already")


def on_dealer_started_shoe(told: Told, event: DealerStartedShoe) -> None:
    state = told.state
    rules = latest(state)
    if event.shoe_no == state.shoe_no and state.shoe_open and not state.dealt:
        note(told, SHOE_STARTED_ALREADY, event.shoe_no)
    elif rules is None or event.shoe_no != state.shoe_no + 1 or state.shoe_open:
        misfit(told, f"shoe {event.shoe_no} cannot start: {where(state)}")
    else:
        open_shoe(told, rules.configuration.decks, None)
        go_on(told)


def on_dealer_ended_shoe(told: Told, event: DealerEndedShoe) -> None:
    state = told.state
    if not state.shoe_open or event.shoe_no != state.shoe_no:
        misfit(told, f"shoe {event.shoe_no} cannot end: {where(state)}")
    else:
        end_shoe(told, "dealer")


def lacks_second(told: Told, event: DealerVoidedRound | DealerCorrectedCard) -> bool:
    """A void or a correction needs two persons; says so if there is only one."""
    if event.second and event.second != event.by:
        return False
    find(told, "second-person-missing", f"{event.by!r} acted alone; another person must confirm")
    return True


def on_dealer_voided(told: Told, event: DealerVoidedRound) -> None:
    state = told.state
    if lacks_second(told, event):
        return
    place = (event.shoe_no, event.round_no)
    if state.current is not None and place == (state.current.shoe_no, state.current.round_no):
        close_betting(told, "void")
        void_current(told, event.reason, event.by)
        go_on(told)
        return
    past = next((one for one in state.past if (one.shoe_no, one.round_no) == place), None)
    if past is None or past.voided:
        find(told, "round-not-kept", f"shoe {place[0]}, round {place[1]} is void already or no longer kept")
    else:
        void_past(told, past, event.reason, event.by)


def void_past(told: Told, past: Round, reason: str, by: str) -> None:
    """Voids a decided round: a new revision."""
    revision = past.revision + 1
    told.say(
        RoundVoided(
            **told.about(f"{past.shoe_no}/{past.round_no}/voided/{revision}"),
            shoe_no=past.shoe_no,
            round_no=past.round_no,
            revision=revision,
            reason=reason,
            by=by,
            opened=past.opened,
            closed=past.closed,
        )
    )


def on_dealer_corrected(told: Told, event: DealerCorrectedCard) -> None:
    state = told.state
    if lacks_second(told, event):
        return
    one = round_with(state, event.shoe_no, event.card_no)
    in_shoe = event.shoe_no == state.shoe_no and 1 <= event.card_no <= len(state.dealt)
    if one is None and not (in_shoe and state.dealt[event.card_no - 1].round_no is None):
        text = f"card {event.card_no} of shoe {event.shoe_no} is in no round that is kept"
        find(told, "card-not-kept", text, card_no=event.card_no)
        return
    slots = one.slots if one else ()
    before = next((slot.card for slot in slots if slot.card_no == event.card_no), None)
    if one is None:
        before = state.dealt[event.card_no - 1].card
    if before == event.card:
        note(told, "correction-changes-nothing", event.card_no)
        return
    if in_shoe and shoe.too_many(state.decks, known_cards(without(state, event.card_no)), event.card):
        find(told, "card-over-count", f"{state.decks} decks hold no further {event.card}", card_no=event.card_no)
        return
    told.say(
        CardCorrected(
            **told.about(f"{told.cause}/corrected"),
            shoe_no=event.shoe_no,
            round_no=one.round_no if one else None,
            card_no=event.card_no,
            before=before,
            after=event.card,
            by=event.by,
            reason=event.reason,
        )
    )
    if one is None or state.current is one:
        reconsider(told)
    elif not one.voided:
        revise(told, one, event)


def revise(told: Told, before: Round, event: DealerCorrectedCard) -> None:
    """A decided round with a corrected card: decided anew, or void if a card was drawn falsely or is missing."""
    past = next(one for one in told.state.past if (one.shoe_no, one.round_no) == (before.shoe_no, before.round_no))
    if not (is_lawful(past.slots) and is_over(past.slots)):
        find(told, "false-draw", "with this face the cards were not drawn by the tableau", "voided", event.card_no)
        void_past(told, past, "false-draw", event.by)
        return
    revision = past.revision + 1
    ruled = decision(told, past, f"{past.shoe_no}/{past.round_no}/revised/{revision}")
    told.say(
        RoundRevised(
            event_id=ruled.event_id,
            table_id=ruled.table_id,
            at_ms=ruled.at_ms,
            cause_id=ruled.cause_id,
            shoe_no=ruled.shoe_no,
            round_no=ruled.round_no,
            revision=revision,
            version=ruled.version,
            player=ruled.player,
            banker=ruled.banker,
            player_total=ruled.player_total,
            banker_total=ruled.banker_total,
            winner=ruled.winner,
            natural=ruled.natural,
            free=ruled.free,
            reason=event.reason,
            by=event.by,
            opened=ruled.opened,
            closed=ruled.closed,
        )
    )


def on_dealer_suspended(told: Told, event: DealerSuspended) -> None:
    if told.state.suspended:
        note(told, "suspended-already")
    else:
        suspend(told, "dealer", event.reason, event.by)


def on_dealer_resumed(told: Told, event: DealerResumed) -> None:
    if event.what == "book":
        resume_book(told, event)
        return
    if event.what != "table" or not told.state.suspended:
        misfit(told, f"{event.what!r} cannot be resumed: it is not suspended")
        return
    void_current(told, "resumed", event.by)
    resumption = told.state.suspensions
    told.say(TableResumed(**told.about(f"resumption/{resumption}"), by=event.by, text=event.reason))
    go_on(told)


def resume_book(told: Told, event: DealerResumed) -> None:
    """Passes the order on to settlement, which knows whether that book waits."""
    if event.shoe_no is None or event.round_no is None:
        misfit(told, "a book is resumed by its shoe and round")
        return
    told.say(
        BookResumeOrdered(
            **told.about(f"{told.cause}/book-resume"),
            by=event.by,
            text=event.reason,
            shoe_no=event.shoe_no,
            round_no=event.round_no,
        )
    )


ANSWERS: Final[dict[type, Callable[..., None]]] = {
    ShoeStarted: on_shoe_started,
    CardDealt: on_card,
    CutCardDrawn: on_cut_card,
    CardRevealed: on_reveal,
    DeviceReported: on_device_report,
    TableConfigured: on_configured,
    TableMoved: on_moved,
    DealerOpenedBetting: on_dealer_opened,
    DealerClosedBetting: on_dealer_closed,
    DealerStartedShoe: on_dealer_started_shoe,
    DealerEndedShoe: on_dealer_ended_shoe,
    DealerVoidedRound: on_dealer_voided,
    DealerCorrectedCard: on_dealer_corrected,
    DealerSuspended: on_dealer_suspended,
    DealerResumed: on_dealer_resumed,
}


def poisoned(state: State, event: Event | None, code: str, text: str, at_ms: int) -> tuple[RoundsFact, ...]:
    """The answer to a record that cannot be used: its table waits for a person. `event` is None if undecodable."""
    told: Told = Telling(state, evolve, "poison" if event is None else cause_id(event), at_ms)
    if state.suspended:
        find(told, code, text, "suspended")
    else:
        suspend(told, code, text)
    return tuple(told.facts)


def copies_to(fact: Event) -> tuple[str, ...]:
    """The marks also go to `bets`, where they open and close what they are about."""
    return ("bets",) if isinstance(fact, Mark) else ()
