"""Memory a table: what the states of rules and settlement take in one process, with and without bets."""

import gc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench import feed
from bench.processes import ROOT
from services.baccarat import bets, books, table
from services.baccarat.events import RoundDecided

TABLES: Final = 100
ROUNDS_EACH: Final = 12  # more than are kept


def report() -> Iterator[str]:
    """A line a figure, each measured in a fresh process."""
    for bets_a_round in (0, 10, 100):
        command = (sys.executable, "-m", "bench.memory", str(bets_a_round))
        said = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        rules, settled = (float(kib) for kib in said.split())
        yield (
            f"memory of states     {rules:>8.1f} KiB a table in rules, {settled:.1f} KiB in settlement at"
            f" {bets_a_round} bets a round   ({TABLES} tables in mid-shoe)"
        )


def resident_kib() -> int:
    gc.collect()
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


def of_rules(number: int) -> table.State:
    """A table after ROUNDS_EACH rounds."""
    state, decided = table.start(f"T{number}"), 0
    for facts, _ in feed.ruled(f"T{number}", 1):
        for fact in facts:
            state = table.evolve(state, fact)
        decided += sum(isinstance(fact, RoundDecided) for fact in facts)
        if decided == ROUNDS_EACH:
            break
    return state


def of_settlement(number: int, bets_a_round: int) -> books.State:
    """The same table, its next round open and full of bets."""
    state, decided = books.start(f"T{number}"), 0
    for facts, at_ms in feed.ruled(f"T{number}", 1):
        for topic, event in feed.heard(facts, bets_a_round):
            for fact in bets.decide(state, topic, event, at_ms):
                state = books.evolve(state, fact)
        decided += sum(isinstance(fact, RoundDecided) for fact in facts)
        if decided == ROUNDS_EACH:
            break
    return state


def main() -> None:
    """What is remembered once for all tables comes first, and does not count."""
    bets_a_round = int(sys.argv[1])
    of_settlement(0, bets_a_round)
    weights = []
    kept: list[object] = []
    for build in (of_rules, lambda number: of_settlement(number, bets_a_round)):
        before = resident_kib()
        kept.append([build(number) for number in range(1, TABLES + 1)])
        weights.append((resident_kib() - before) / TABLES)
    print(*weights)


if __name__ == "__main__":
    main()
