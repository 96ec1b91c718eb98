"""Exact odds: the time for one variant and for the whole catalogue, beside an enumeration in C of the main bets."""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from services.baccarat import catalogue, odds, payouts
from services.baccarat.events import Line

DECKS: Final = 8
# Six nested loops over points, the tableau written out by hand: what somebody would write who wants a figure.
ENUMERATION: Final = r"""
#include <stdio.h>
int main(void) {
    long long wins[3] = {0, 0, 0};
    int left[10];
    for (int p = 0; p < 10; p++) left[p] = DECKS * (p ? 4 : 16);
    for (int a = 0; a < 10; a++) { long long wa = left[a]--;
    for (int b = 0; b < 10; b++) { long long wb = wa * left[b]--;
    for (int c = 0; c < 10; c++) { long long wc = wb * left[c]--;
    for (int d = 0; d < 10; d++) { long long wd = wc * left[d]--;
    for (int e = 0; e < 10; e++) { long long we = wd * left[e]--;
    for (int f = 0; f < 10; f++) { long long ways = we * left[f];
        int player = (a + c) % 10, banker = (b + d) % 10;
        if (player < 8 && banker < 8) {
            if (player > 5) { if (banker < 6) banker = (banker + e) % 10; }
            else {
                int draws = banker < 3 || (banker == 3 && e != 8) || (banker == 4 && e > 1 && e < 8)
                    || (banker == 5 && e > 3 && e < 8) || (banker == 6 && (e == 6 || e == 7));
                player = (player + e) % 10;
                if (draws) banker = (banker + f) % 10;
            }
        }
        wins[player > banker ? 0 : player < banker ? 1 : 2] += ways;
    } left[e]++; } left[d]++; } left[c]++; } left[b]++; } left[a]++; }
    printf("%lld %lld %lld\n", wins[0], wins[1], wins[2]);
    return 0;
}
"""


def report() -> Iterator[str]:
    """A line a figure, cold caches each time."""
    main_s = timed(lambda: odds.outcomes(DECKS))
    yield f"odds of the main bets   {1_000 * main_s:>9,.1f} ms   {beside(main_s)}"
    one = catalogue.variant_of("classic")
    yield f"odds of one variant     {1_000 * timed(lambda: price(one.bets)):>9,.1f} ms   ({len(one.bets)} bets)"
    every = {
        **{
            f"{slug}/{bet}": lines
            for slug, variant in catalogue.VARIANTS.items()
            for bet, lines in variant.mains.items()
        },
        **{bet: side.lines for bet, side in catalogue.SIDE_BETS.items()},
    }
    yield f"odds of the catalogue   {1_000 * timed(lambda: price(every)):>9,.1f} ms   ({len(every)} bets)"


def price(bets: Mapping[str, tuple[Line, ...]]) -> None:
    """Every line of every bet."""
    for bet, lines in bets.items():
        odds.bet_odds(bet, lines, DECKS)


def timed(work: Callable[[], object]) -> float:
    """Seconds, with nothing remembered from before."""
    for module in (odds, payouts):
        for part in vars(module).values():
            if hasattr(part, "cache_clear"):
                part.cache_clear()
    began_s = time.perf_counter()
    work()
    return time.perf_counter() - began_s


def beside(ours_s: float) -> str:
    """What the enumeration in C takes, if there is a compiler; its counts must be ours."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return "no C compiler here to compare with"
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "deals.c"), Path(folder, "deals")
        source.write_text(ENUMERATION)
        subprocess.run((compiler, "-O2", f"-DDECKS={DECKS}", "-o", program, source), check=True)
        began_s = time.perf_counter()
        said = subprocess.run((program,), check=True, capture_output=True, text=True).stdout
        c_s = time.perf_counter() - began_s
    ours = odds.outcomes(DECKS)
    assert said.split() == [str(ours.player), str(ours.banker), str(ours.tie)], said
    return f"enumerated in C {1_000 * c_s:,.1f} ms   ratio {ours_s / c_s:.1f}   (the same counts)"
