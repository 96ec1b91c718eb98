"""The page in a real browser, over a real server and a real Redis."""

import asyncio
import json
import os
import re
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from playwright.async_api import Browser, ConsoleMessage, Page, async_playwright, expect
from redis.asyncio import Redis

from services.baccarat.events import ROUNDS, SETTLEMENTS, BookSuspended, TableSuspended
from services.dashboard.redis_model import Model
from services.dashboard.web import listen, serve
from services.runtime import local
from services.runtime.embedded import EmbeddedLog
from tests.conftest import unavailable
from tests.dashboard.conftest import Table, projecting

pytestmark = pytest.mark.browser

WITHIN_MS = 90_000  # on a machine that does much else; what is waited for comes in a moment on one that does not
MINUS, DASH = "\N{MINUS SIGN}", "\N{EN DASH}"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# No sandbox in a container, no graphics card, and no word to anybody.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    names = filter(None, (os.environ.get("CHROMIUM"), *NAMES))
    path = next((found for name in names if (found := shutil.which(name))), None)
    if path is None:
        unavailable("no Chromium: `apt-get install chromium`, or set CHROMIUM to the path of one")
    expect.set_options(timeout=WITHIN_MS)
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=path, args=FLAGS, timeout=WITHIN_MS)
        yield launched
        await launched.close()


@asynccontextmanager
async def serving(redis_url: str, prefix: str, port: int) -> AsyncIterator[str]:
    stop = asyncio.Event()
    listening = listen("127.0.0.1", port)
    task = asyncio.create_task(serve(redis_url, "127.0.0.1", port, stop, prefix=prefix, listening=listening))
    try:
        yield f"http://127.0.0.1:{port}/"
    finally:
        stop.set()
        await task


@asynccontextmanager
async def opened(browser: Browser, url: str, **settings: Any) -> AsyncIterator[Page]:
    """A page that must not complain: of a broken script, a refused style, a part that is missing."""
    page = await new_page(browser, **settings)
    complaints: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        if message.type == "error" and "ERR_" not in message.text:  # a server that is gone is part of some tests
            complaints.append(message.text)

    page.on("console", heard)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    await page.goto(url, wait_until="commit")
    yield page
    await page.close()
    assert complaints == []


async def new_page(browser: Browser, **settings: Any) -> Page:
    """One that waits as long as the tests do; what it must show is waited for, not that it is loaded."""
    page = await browser.new_page(**settings)
    page.set_default_timeout(WITHIN_MS)
    return page


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@pytest.fixture
def port() -> int:
    return local.free_port()


async def test_a_lobby_of_four_tables(
    log: EmbeddedLog, redis_url: str, prefix: str, browser: Browser, port: int, tmp_path: Path
) -> None:
    slugs = ("classic", "classic-tie-9", "super-6", "ez")
    tables = [Table(log, f"T{number}", slug) for number, slug in enumerate(slugs, start=1)]
    betting, dealing, suspended, decided = tables
    for table in tables:
        table.stage.at_ms = now_ms() - 60_000
        await table.play(7)
        table.stage.at_ms = now_ms()
    betting.stage.told = replace(betting.stage.told, betting_window_ms=10 * WITHIN_MS)  # open when it is looked at
    for table in (betting, dealing, suspended):
        table.stage.open_betting()
        table.stage.customers()
    for table in (dealing, suspended):
        table.stage.close_betting()
    dealing.stage.deal()
    dealing.stage.deal(hidden=True)
    suspended.stage.say(ROUNDS, TableSuspended, cause="sequence-gap", text="Card 9 was expected, and <b>11</b> came.")
    decided.stage.say(SETTLEMENTS, BookSuspended, **decided.stage.place, cause="marks-differ", text="they differ")
    for table in tables:
        await table.tell()
    async with (
        projecting(log, redis_url, prefix),
        serving(redis_url, prefix, port) as url,
        opened(browser, url, viewport={"width": 1280, "height": 800}) as page,
    ):
        await expect(page.locator("article.table")).to_have_count(4)
        await expect(page.locator("html")).to_have_attribute("data-connection", "open")
        await expect(page.locator(".name")).to_have_text(["T1", "T2", "T3", "T4"])
        await expect(page.locator(".variant").first).to_have_text("Classic, 5% commission")
        at = {table.table_id: page.locator(f"[data-table={table.table_id}]") for table in tables}
        await expect(at["T1"].locator(".pill")).to_have_text("Place your bets")
        assert 0 < int(await at["T1"].locator(".seconds").inner_text()) <= 10 * WITHIN_MS / 1000
        await expect(at["T2"].locator(".pill")).to_have_text("Dealing")
        await expect(at["T2"].locator(".banker .card")).to_have_class("card back")
        await expect(at["T2"].locator(".banker .total")).to_have_text("?")
        await expect(at["T2"].locator(".player .cards")).to_have_attribute(
            "aria-label", re.compile(r" of .*, total \d")
        )
        await expect(at["T3"].locator(".alarm")).to_contain_text("Sequence Gap")
        await expect(at["T3"].locator(".alarm")).to_contain_text("Card 9 was expected, and <b>11</b> came.")
        await expect(at["T1"].locator(".alarm")).to_be_hidden()
        await expect(at["T4"].locator(".books")).to_have_text("Book of round 7 suspended: marks differ")
        await expect(at["T4"].locator(".dots i")).to_have_count(7)
        await expect(page.locator(".summary")).to_contain_text("Suspended")
        assert await _fits(page)
        await page.screenshot(path=tmp_path / "lobby.png")
        assert (tmp_path / "lobby.png").stat().st_size > 50_000


async def _fits(page: Page) -> bool:
    """Nothing sticks out to the side."""
    fits: bool = await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    return fits


async def test_every_result_is_the_one_of_the_facts(
    log: EmbeddedLog, redis_url: str, prefix: str, browser: Browser, port: int
) -> None:
    table = Table(log, "T1")
    await table.play(1)
    async with (
        projecting(log, redis_url, prefix),
        serving(redis_url, prefix, port) as url,
        opened(browser, url) as page,
    ):
        for _ in range(3):
            await table.play(1)
            view, sums = (as_json(view) for view in table.views().values())
            last = view["last"]
            await expect(page.locator(".caption")).to_contain_text(f"Round {last['round_no']}")
            await expect(page.locator(".total")).to_have_text([str(last["player_total"]), str(last["banker_total"])])
            words = {"player": "Player wins", "banker": "Banker wins", "tie": "Tie"}[last["winner"]]
            await expect(page.locator(".headline")).to_have_text(words)
            shown = await page.locator(".slot").evaluate_all("slots => slots.map((slot) => slot.dataset.card)")
            assert shown == [*last["player"], *last["banker"]]
            house = sums["total"]["house_win_minor"]
            euros = f"{MINUS if house < 0 else '+' if house else ''}€{abs(house) // 100:,}.{abs(house) % 100:02d}"
            await expect(page.locator(".house dd").nth(2)).to_have_text(euros)
        # nothing new for a while, since these facts are old, but the heart beats
        await expect(page.locator("article")).to_have_attribute("data-health", "quiet")
        await expect(page.locator(".health")).to_contain_text("nothing new for")


def as_json(view: object) -> dict[str, Any]:
    decoded: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(view))
    return decoded


async def test_a_lost_server_is_said_and_its_return_shows_what_was_missed(
    log: EmbeddedLog, redis_url: str, prefix: str, browser: Browser, port: int
) -> None:
    table = Table(log, "T1")
    table.stage.at_ms = now_ms() - 60_000
    await table.play(2)
    table.stage.at_ms = now_ms()
    table.stage.open_betting()
    await table.tell()
    async with projecting(log, redis_url, prefix):
        async with serving(redis_url, prefix, port) as url:
            page = await new_page(browser)
            await page.goto(url, wait_until="commit")
            await expect(page.locator("article")).to_have_attribute("data-health", re.compile("live|quiet"))
            await expect(page.locator(".seconds")).to_have_text(re.compile(r"\d"))
        await expect(page.locator("html")).to_have_attribute("data-connection", "lost")
        await expect(page.locator("article")).to_have_attribute("data-health", "stale")
        await expect(page.locator(".seconds")).to_have_text(DASH)  # no clock is made up
        await expect(page.locator("#trouble")).to_contain_text("No connection to the server")
        table.stage.close_betting()
        while table.stage.deal():
            pass
        await table.tell()
        before = int(await page.locator("html").get_attribute("data-resyncs") or 0)
        async with serving(redis_url, prefix, port):
            await expect(page.locator("html")).to_have_attribute("data-connection", "open")
            await expect(page.locator(".caption")).to_contain_text("Round 3")
            await expect(page.locator("article")).not_to_have_attribute("data-health", "stale")
            await expect(page.locator("#trouble")).to_be_hidden()
            assert int(await page.locator("html").get_attribute("data-resyncs") or 0) > before
            await page.close()


async def test_a_gap_is_closed_by_asking_again(
    log: EmbeddedLog, redis: Redis, redis_url: str, prefix: str, browser: Browser, port: int
) -> None:
    table = Table(log, "T1")
    await table.play(1)
    async with (
        projecting(log, redis_url, prefix),
        serving(redis_url, prefix, port) as url,
        opened(browser, url) as page,
    ):
        await expect(page.locator("html")).to_have_attribute("data-resyncs", "1")
        model = Model(redis, prefix)
        epoch = await model.current()
        assert epoch is not None
        torn = {"table_id": "T1", "topic": ROUNDS, "partition": 0, "from": 5_000, "to": 5_001, "set": {"shoe_no": 77}}
        async with page.expect_response("**/api/tables/T1"):
            await redis.publish(model.channel(epoch), json.dumps(torn))
        await expect(page.locator("html")).to_have_attribute("data-resyncs", "2")
        await table.play(1)
        await expect(page.locator(".caption")).to_contain_text("Round 2")
        await expect(page.locator(".place")).to_contain_text("Shoe 1")


async def test_the_panel_opens_by_hand_and_by_keyboard(
    log: EmbeddedLog, redis_url: str, prefix: str, browser: Browser, port: int, tmp_path: Path
) -> None:
    tables = [Table(log, "T1", "super-6"), Table(log, "T2", "ez")]
    for table in tables:
        await table.play(3)
    async with (
        projecting(log, redis_url, prefix),
        serving(redis_url, prefix, port) as url,
        opened(browser, url, viewport={"width": 390, "height": 844}) as page,
    ):
        await expect(page.locator("[data-table=T1] .count").first).to_be_visible()
        for words in await page.locator(".variant").all():
            assert await words.evaluate("words => words.scrollWidth <= words.clientWidth")
        tops = "heads => new Set(heads.map((head) => head.getBoundingClientRect().top)).size"
        assert await page.locator(".summary dt").evaluate_all(tops) == 1
        panel = page.get_by_role("dialog", name="T1")
        await page.locator("[data-table=T1] .fields").click()
        await expect(panel).to_contain_text("1 to 2 when Banker wins with a Banker total of 6")
        await expect(panel).to_contain_text("€1.00 to €5,000.00")
        await expect(panel).to_contain_text("Last rounds of this shoe")
        await page.screenshot(path=tmp_path / "phone.png")
        await page.keyboard.press("Escape")
        await expect(panel).to_be_hidden()
        await page.get_by_role("button", name="T2").focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("dialog", name="T2")).to_contain_text("7 on 3 Banker cards")
        assert page.url.endswith("#T2")
        assert await _fits(page)


async def test_back_closes_the_panel_and_forward_opens_it(
    log: EmbeddedLog, redis_url: str, prefix: str, browser: Browser, port: int
) -> None:
    for name in ("T1", "T2"):
        await Table(log, name).play(1)
    async with (
        projecting(log, redis_url, prefix),
        serving(redis_url, prefix, port) as url,
        opened(browser, url) as page,
    ):
        dialog = page.locator("dialog")
        await page.get_by_role("button", name="T1").click()
        await expect(page.get_by_role("dialog", name="T1")).to_be_visible()
        await page.go_back()
        await expect(dialog).to_be_hidden()
        await expect(page).to_have_url(url)
        await page.go_forward()
        await expect(page.get_by_role("dialog", name="T1")).to_be_visible()
        await page.get_by_role("button", name="Close").click()
        await expect(page).to_have_url(url)
        await expect(dialog).to_be_hidden()
        for way in ("location.hash = 'T2'", "location.hash = ''"):
            await page.evaluate(way)
            await expect(dialog).to_be_visible(visible=way.endswith("'T2'"))


async def test_an_address_with_a_table_opens_its_panel_and_one_without_says_so(
    log: EmbeddedLog, redis_url: str, prefix: str, browser: Browser, port: int
) -> None:
    await Table(log, "T 1").play(1)
    async with (
        projecting(log, redis_url, prefix),
        serving(redis_url, prefix, port) as url,
        opened(browser, f"{url}#T%201") as page,
    ):
        await expect(page.get_by_role("dialog", name="T 1")).to_contain_text("Classic, 5% commission")
        await page.keyboard.press("Escape")
        await expect(page).to_have_url(url)
        await page.evaluate("location.hash = '#nosuch%'")
        await expect(page.get_by_role("dialog", name="nosuch%")).to_contain_text("There is no such table.")
        await page.get_by_role("button", name="Close").click()
        await expect(page.locator("dialog")).to_be_hidden()
        await expect(page).to_have_url(url)


async def test_the_page_s_own_reckoning(redis_url: str, prefix: str, browser: Browser, port: int) -> None:
    async with serving(redis_url, prefix, port) as url, opened(browser, url) as page:
        said = await page.evaluate((Path(__file__).parent / "reckoning.js").read_text().partition("\n")[2])
    assert said["became"] == ["applied", "old", "applied", "gap"]
    assert said["cards"] == 2
    assert said["states"] == ["live", "quiet", "stale", "stale", "stale", "live", "stale"]
    assert said["sums"] == ["€1,234,567.89", f"{MINUS}$0.05", "+$0.05", "¥1,500", "KWD 0.001", "€0.00"]
    assert said["ages"] == ["0 s", "1 min", "2 h", "2 d"]
