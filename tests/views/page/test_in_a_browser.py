"""The page as people use it, in Chromium without a screen."""

from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import msgspec
import pytest
from aiohttp import web

from hack.page.browser import Tab, found_browser, running_browser
from hack.page.made_up import MadeUp
from hack.page.measure import ABOUT, MEASURE, frames_while_busy, made_up_page, made_up_tape, served_page
from tests.views.builders import composite, tree_refused
from views.page.tape import TapeFeed

ROWS = "document.querySelectorAll('.row:not([hidden])').length"
LISTED = "document.getElementById('gangs-count').textContent"
PICTURE = "document.getElementById('chips').innerText + document.getElementById('queue').innerText"
SUBSCRIBE = """(address) => new Promise((done) => {
  const source = new EventSource(address, {withCredentials: true});
  source.onerror = () => done('refused');
  source.addEventListener('full', () => done('told'));
})"""
DETAILS = "document.getElementById('details-body').innerText"
CHOSEN = "document.querySelector('.row[aria-selected=true] .name')?.textContent ?? ''"


@pytest.fixture
async def tab() -> AsyncIterator[Tab]:
    program = found_browser()
    if program is None:
        pytest.skip("there is no Chromium on this machine (Debian: apt-get install chromium)")
    async with running_browser(program) as opened:
        await opened.look(1280, 800)
        yield opened


async def explain(namespace: str, group: str) -> str:
    return f"{group} waits for room"


async def test_it_is_used_by_keyboard_and_says_nothing_on_the_console(tab: Tab) -> None:
    async with made_up_page(40, 60, explain) as (address, world):
        await tab.open(address)
        await tab.until(f"{ROWS} > 5")
        assert "token" not in await tab.evaluate("location.href")
        await _list_by_keyboard(tab)
        await _search(tab)
        await _map_by_keyboard(tab)
        await _follows(tab, world)
        assert tab.complaints == []
        own = urlsplit(address).netloc
        assert {urlsplit(each).netloc for each in tab.asked} == {own}


async def test_the_details_of_a_gang_show_the_groups_of_groups_that_it_is_in(tab: Tab) -> None:
    async with made_up_page(4, 1) as (address, world):
        root = composite("opera", tree_refused(message="no room for all"))
        (group,) = world.objects.groups.all()
        metadata = msgspec.structs.replace(root.metadata, namespace=group.metadata.namespace)
        world.objects.composites.put(msgspec.structs.replace(root, metadata=metadata))
        spec = msgspec.structs.replace(group.spec, parent_composite_pod_group_name="opera")
        child = msgspec.structs.replace(group, spec=spec)
        world.state.changed("group", world.objects.groups.put(child), child)
        await tab.open(address)
        await tab.until(f"{ROWS} === 1")
        await tab.evaluate("document.getElementById('gangs').focus()")
        await tab.press("ArrowDown")
        await tab.until(CHOSEN)
        await tab.press("Enter")
        await tab.until(f"{DETAILS}.includes('compositepodgroup/opera') && {DETAILS}.includes('no room for all')")
        assert tab.complaints == []


async def _list_by_keyboard(tab: Tab) -> None:
    await tab.evaluate("document.getElementById('gangs').focus()")
    await tab.press("ArrowDown")
    first = await tab.until(CHOSEN)
    await tab.press("ArrowDown")
    await tab.until(f"({CHOSEN}) !== {first!r}")
    second = await tab.evaluate(CHOSEN)
    await tab.press("Enter")
    await tab.until("document.querySelectorAll('#details:not([hidden]) td').length > 0")
    assert await tab.evaluate("document.getElementById('details-title').textContent") == second
    assert await tab.evaluate("document.activeElement.id") == "details-title"
    await tab.press("Escape")
    await tab.until("document.getElementById('details').hidden")
    assert await tab.evaluate("document.activeElement.id") == "gangs"


async def _search(tab: Tab) -> None:
    # How many rows fit depends on how far the list is scrolled; how many gangs are listed does not.
    before = await tab.evaluate(LISTED)
    await tab.press("/")
    for letter in "waiting":
        await tab.press(letter)
    await tab.until(
        f"{ROWS} > 0 && [...document.querySelectorAll('.row:not([hidden]) i')].every((i) => i.dataset.state === 'waiting')"
    )
    assert await tab.evaluate(LISTED) != before
    await tab.evaluate("document.querySelector('#queue button').click()")
    await tab.until("document.querySelector('#details pre')?.textContent.includes('waits for room')")
    await tab.press("Escape")
    await tab.evaluate("const s = document.getElementById('search'); s.value = ''; s.dispatchEvent(new Event('input'))")
    await tab.until(f"{LISTED} === {before!r}")


async def _map_by_keyboard(tab: Tab) -> None:
    await tab.evaluate("document.getElementById('map').focus()")
    await tab.press("ArrowRight")
    await tab.until("document.getElementById('map-text').textContent.startsWith('node-0000')")
    await tab.press("ArrowRight")
    said = await tab.until(
        "document.getElementById('map-text').textContent.startsWith('node-0001') && document.getElementById('map-text').textContent"
    )
    assert "cpu" in said


async def _follows(tab: Tab, world: MadeUp) -> None:
    """What happens in the cluster is on the page without asking for it again."""
    world.remove_gang(0)
    await tab.until(
        "[...document.querySelectorAll('#chips button:not([hidden])')].some((b) => b.textContent.startsWith('gone'))"
    )


async def test_a_recording_is_played_with_a_slider(tab: Tab) -> None:
    tape = made_up_tape(30, 20, 60)
    async with served_page(tape.state, TapeFeed(tape, ABOUT)) as address:
        await tab.open(address)
        await tab.until(f"{ROWS} > 5 && !document.getElementById('tape').hidden")
        assert await tab.evaluate("document.getElementById('live-text').textContent") == "a recording"
        before = await tab.evaluate(PICTURE)
        await _slide(tab, "document.getElementById('time').max")
        after = await tab.evaluate(PICTURE)
        assert after != before
        assert await tab.evaluate("document.querySelectorAll('#evictions li').length > 0")
        await _slide(tab, "0")
        assert await tab.evaluate(PICTURE) == before
        await tab.evaluate("document.getElementById('play').click()")
        await tab.until("Number(document.getElementById('time').value) > 1000")
        assert tab.complaints == []


async def _slide(tab: Tab, to: str) -> None:
    """As by the mouse; drawn by the next frame but one."""
    moved = f"const t = document.getElementById('time'); t.value = {to}; t.dispatchEvent(new Event('input'));"
    drawn = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
    assert await tab.evaluate(f"(() => {{ {moved} return {drawn}; }})()")


async def test_a_page_of_another_origin_can_neither_read_nor_frame_it(tab: Tab) -> None:
    async def other(_: web.Request) -> web.Response:
        return web.Response(text="<!doctype html><title>other</title>", content_type="text/html")

    app = web.Application()
    app.router.add_get("/", other)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert site._server is not None
    port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
    try:
        async with made_up_page(5, 6) as (address, _):
            await tab.open(address)  # the browser has the cookie now
            await tab.until(f"{ROWS} > 0")
            own = f"http://{urlsplit(address).netloc}"
            for elsewhere in (f"http://127.0.0.1:{port}", f"http://localhost:{port}"):
                await tab.open(f"{elsewhere}/")
                read = (
                    f"fetch('{own}/gangs/group-0', {{credentials: 'include'}}).then((a) => a.status, () => 'refused')"
                )
                assert await tab.evaluate(read) == "refused"
                assert await tab.evaluate(f"({SUBSCRIBE})('{own}/events')") == "refused"
    finally:
        await runner.cleanup()


async def test_five_thousand_nodes_and_a_thousand_gangs_stay_fluid(tab: Tab) -> None:
    """By the processor time of the page's own thread: 16 ms a frame is what sixty frames a second leave."""
    async with made_up_page(5_000, 1_000) as (address, world):
        await tab.call("Page.addScriptToEvaluateOnNewDocument", source=MEASURE)
        await tab.open(address)
        await tab.until(f"{ROWS} > 5")
        measured = await frames_while_busy(tab, world, 5.0, 20)
        assert measured["frames"] > 10
        assert measured["cpu of Script a frame"] + measured["cpu of Layout a frame"] < 16.0, measured
        assert tab.complaints == []
