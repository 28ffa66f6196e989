"""The page over HTTP: the token becomes a cookie, and everything else is refused."""

from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import aiohttp
import pytest

from api.errors import ConfigurationError
from hack.page.measure import made_up_page
from views.page.main import listen
from views.page.server import files


async def explain(namespace: str, group: str) -> str:
    return f"{namespace}/{group} waits for room"


@pytest.fixture
async def address() -> AsyncIterator[str]:
    async with made_up_page(10, 12, explain) as (found, _):
        yield found


@pytest.fixture
async def browser() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        yield session


def at(address: str, path: str) -> str:
    return f"http://{urlsplit(address).netloc}{path}"


async def uid_of_some_gang(browser: aiohttp.ClientSession, address: str) -> str:
    async with browser.get(at(address, "/events")) as events:
        lines = [await events.content.readline() for _ in range(3)]
    assert lines[1] == b"event: full\n"
    return "group-0"


async def test_the_token_becomes_a_cookie_and_leaves_the_address(address: str, browser: aiohttp.ClientSession) -> None:
    async with browser.get(address, allow_redirects=False) as first:
        assert (first.status, first.headers["Location"]) == (303, "/")
        cookie = first.headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
    async with browser.get(at(address, "/")) as page:
        assert page.status == 200
        assert "<h1>Tutti</h1>" in await page.text()
        assert page.headers["Content-Security-Policy"].startswith("default-src 'none'")


async def test_without_the_token_nothing_is_seen(address: str, browser: aiohttp.ClientSession) -> None:
    for path in ("/", "/main.js", "/events", "/gangs/group-0", "/?token=wrong"):
        async with browser.get(at(address, path)) as answer:
            assert answer.status == 401
            assert (await answer.text()).startswith("open the address")


async def test_with_it_another_name_or_origin_or_verb_is_refused(address: str, browser: aiohttp.ClientSession) -> None:
    async with browser.get(address):
        pass
    for headers, status in (
        ({"Host": "evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ):
        async with browser.get(at(address, "/events"), headers=headers) as answer:
            assert answer.status == status
    async with browser.post(at(address, "/")) as answer:
        assert answer.status == 405


async def test_its_own_files_are_served_and_no_others(address: str, browser: aiohttp.ClientSession) -> None:
    async with browser.get(address):
        pass
    assert {"index.html", "main.js", "page.css", "icon.svg"} <= files().keys()
    for name, content in files().items():
        async with browser.get(at(address, f"/{name}")) as answer:
            assert await answer.read() == content
    for path in ("/nothing.js", "/..%2Fserver.py", "/%2e%2e/server.py", "/static/main.js", "/gangs/nobody"):
        async with browser.get(at(address, path)) as answer:
            assert answer.status == 404
            assert "Content-Security-Policy" in answer.headers


async def test_a_gang_is_told_in_detail_and_why_it_waits(address: str, browser: aiohttp.ClientSession) -> None:
    async with browser.get(address):
        pass
    uid = await uid_of_some_gang(browser, address)
    async with browser.get(at(address, f"/gangs/{uid}")) as answer:
        said = await answer.json()
    assert said["uid"] == uid
    assert said["explains"]
    assert said["conditions"][0]["type"] == "PodGroupInitiallyScheduled"
    assert said["pods"]
    async with browser.get(at(address, f"/gangs/{uid}/why")) as answer:
        assert "waits for room" in (await answer.json())["text"]


def test_a_port_that_is_taken_is_one_clear_line() -> None:
    with listen(0) as taken, pytest.raises(ConfigurationError, match=r"cannot listen on 127\.0\.0\.1:"):
        listen(taken.getsockname()[1])
