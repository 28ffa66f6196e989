"""`python -m hack.page [FOLDER]`: how long the page's frames take on 5,000 nodes and 1,000 gangs; its pictures into a folder."""

import asyncio
import sys
from pathlib import Path

from hack.page.browser import Tab, found_browser, running_browser
from hack.page.measure import ABOUT, MEASURE, frames_while_busy, made_up_page, made_up_tape, served_page
from views.page.tape import TapeFeed

NODES, GANGS = 5_000, 1_000
SECONDS, STEPS_PER_SECOND = 10.0, 20
RECORDED_STEPS = 400
SIZES = {"light": (1440, 900), "dark": (1440, 900), "narrow": (420, 900)}
SHOWN = "document.querySelectorAll('.row:not([hidden])').length > 5"


async def main(folder: Path | None) -> None:
    program = found_browser()
    if program is None:
        sys.exit("there is no Chromium on this machine (Debian: apt-get install chromium)")
    async with running_browser(program) as tab:
        await tab.look(*SIZES["light"])
        await tab.call("Page.addScriptToEvaluateOnNewDocument", source=MEASURE)
        async with made_up_page(NODES, GANGS) as (address, world):
            await tab.open(address)
            await tab.until(SHOWN)
            print(f"{NODES} nodes, {GANGS} gangs, {STEPS_PER_SECOND} changes a second; milliseconds:")
            for name, value in (await frames_while_busy(tab, world, SECONDS, STEPS_PER_SECOND)).items():
                print(f"  {name:<28}{value:8.1f}")
            for name, size in SIZES.items():
                await tab.look(*size, is_dark=name == "dark")
                await _picture(tab, folder, name)
            print(f"  complaints of the console: {tab.complaints or 'none'}")
        await tab.look(*SIZES["light"])
        tape = made_up_tape(NODES, GANGS, RECORDED_STEPS)
        async with served_page(tape.state, TapeFeed(tape, ABOUT)) as address:
            await tab.open(address)
            await tab.until(SHOWN)
            spent = await tab.evaluate(
                "(() => { const t = document.getElementById('time'), began = performance.now(); t.value = t.max;"
                " t.dispatchEvent(new Event('input')); return performance.now() - began; })()"
            )
            print(f"  to the end of {len(tape.deltas)} recorded changes {spent:8.1f}")
            await _picture(tab, folder, "recording")


async def _picture(tab: Tab, folder: Path | None, name: str) -> None:
    await asyncio.sleep(1.0)
    if folder is not None:
        await tab.screenshot(folder / f"{name}.png")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
