"""Chromium without a screen, steered by its DevTools protocol: as much of it as looking at the page needs."""

import asyncio
import base64
import contextlib
import itertools
import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import aiohttp
import orjson

NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
START_SECONDS: Final = 60.0
ANSWER_SECONDS: Final = 60.0
_MOST_BYTES: Final = 64 * 1024 * 1024
_KEYS: Final = {
    "Enter": ("\r", 13),
    "Tab": ("\t", 9),
    "Escape": ("", 27),
    "ArrowDown": ("", 40),
    "ArrowRight": ("", 39),
}


def found_browser() -> str | None:
    """Chromium's program, None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Tab:
    """One page of the browser.

    Attributes:
        complaints: what the console said of errors and warnings, and requests that were refused.
        asked: addresses that were asked for.
    """

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self._socket = socket
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._loaded = asyncio.Event()

    async def listen(self) -> None:
        """Takes in what the browser says until it closes."""
        async for message in self._socket:
            body = orjson.loads(message.data)
            if "id" in body:
                self._answers.pop(body["id"]).set_result(body)
            else:
                self._heard(body["method"], body["params"])

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Asks something of the browser.

        Raises:
            AssertionError: it refuses.
        """
        number = next(self._numbers)
        self._answers[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_str(orjson.dumps({"id": number, "method": method, "params": parameters}).decode())
        async with asyncio.timeout(ANSWER_SECONDS):
            answer = await self._answers[number]
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    async def open(self, address: str) -> None:
        """Goes there, and returns once it is loaded."""
        self._loaded.clear()
        await self.call("Page.navigate", url=address)
        async with asyncio.timeout(ANSWER_SECONDS):
            await self._loaded.wait()

    async def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page, a promise's when it is one."""
        answer = await self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True, userGesture=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    async def until(self, expression: str) -> Any:
        """Asks again and again until it is true."""
        async with asyncio.timeout(ANSWER_SECONDS):
            while not (value := await self.evaluate(expression)):
                await asyncio.sleep(0.05)
        return value

    async def press(self, key: str) -> None:
        """A key of the keyboard, or a letter."""
        text, code = _KEYS.get(key, (key, ord(key[0])))
        common = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        await self.call("Input.dispatchKeyEvent", type="keyDown", **common, **({"text": text} if text else {}))
        await self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    async def look(self, width: int, height: int, *, is_dark: bool = False) -> None:
        """The size of the window, and whether the system is dark."""
        await self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        await self.call("Emulation.setEmulatedMedia", features=[scheme])

    async def screenshot(self, file: Path) -> None:
        """A picture of the window."""
        answer = await self.call("Page.captureScreenshot", format="png")
        file.write_bytes(base64.b64decode(answer["data"]))

    def _heard(self, method: str, parameters: dict[str, Any]) -> None:
        if method == "Page.loadEventFired":
            self._loaded.set()
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in {"error", "warning", "assert"}:
            self.complaints.append(str([each.get("value") for each in parameters["args"]]))
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(parameters["exceptionDetails"].get("exception", {}).get("description")))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in {"error", "warning"}:
            self.complaints.append(str(parameters["entry"]["text"]))
        elif method == "Network.requestWillBeSent":
            self.asked.append(parameters["request"]["url"])


@contextlib.asynccontextmanager
async def running_browser(program: str) -> AsyncIterator[Tab]:
    """A browser with one empty tab, for as long as the block runs."""
    with tempfile.TemporaryDirectory(prefix="tutti-browser-", ignore_cleanup_errors=True) as folder:
        arguments = ["--headless=new", "--remote-debugging-port=0", f"--user-data-dir={folder}", "--no-first-run"]
        arguments += [
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            "--disable-background-networking",
        ]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        quiet = asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(program, *arguments, "about:blank", stdout=quiet, stderr=quiet)
        try:
            async with _tab(Path(folder)) as tab:
                yield tab
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()


@contextlib.asynccontextmanager
async def _tab(folder: Path) -> AsyncIterator[Tab]:
    port = await _port(folder / "DevToolsActivePort")
    async with aiohttp.ClientSession() as session:
        async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
            pages = [each for each in await answer.json(content_type=None) if each["type"] == "page"]
        async with session.ws_connect(pages[0]["webSocketDebuggerUrl"], max_msg_size=_MOST_BYTES) as socket:
            tab = Tab(socket)
            listening = asyncio.create_task(tab.listen())
            try:
                for domain in ("Page", "Runtime", "Log", "Network"):
                    await tab.call(f"{domain}.enable")
                yield tab
            finally:
                listening.cancel()
                await asyncio.gather(listening, return_exceptions=True)


async def _port(file: Path) -> int:
    async with asyncio.timeout(START_SECONDS):
        while not (file.exists() and len(file.read_text().split()) > 1):
            await asyncio.sleep(0.05)
    return int(file.read_text().split()[0])
