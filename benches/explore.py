"""Prints how long the page that explains a run takes for a frame: `python benches/explore.py`.

With 100,000 requests, in Chromium without a screen: when the first frame is painted, when the data
are there, and the time of drawing a frame while the run plays, which is what the page itself takes.
It needs `playwright` of requirements/test.lock.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import sledsim as ss
from playwright.sync_api import sync_playwright

REQUESTS = 100_000
SPEEDS = (1e-3, 1e-2, 1.0)
SECONDS = 5
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"


def main() -> None:
    """Measure a sled and a disk."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    print("device     page MB  painted ms  ready ms  speed  frames  p50 ms  p95 ms  worst ms")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=SWITCHES)
        for device, rate in (("g2", 1500), ("atlas10k", 140)):
            load = ss.workload("random", rate=rate, requests=REQUESTS)
            file = Path(folder, "run.html")
            ss.simulate(load, device, "sptf").explore(file, requests=REQUESTS)
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(file.as_uri())
            page.wait_for_function("window.sledsim")
            page.evaluate("window.sledsim.ready")
            ready, painted = page.evaluate("performance.now()"), page.evaluate(PAINTED)
            start = f"{device:10} {file.stat().st_size / 1e6:7.1f} {painted:11.0f} {ready:9.0f}"
            for speed in SPEEDS:
                page.evaluate("window.sledsim.seek(1e9)")
                page.evaluate(f"window.sledsim.speed({speed})")
                page.evaluate("window.sledsim.frameCosts.length = 0")
                page.keyboard.press(" ")
                page.wait_for_timeout(1e3 * SECONDS)
                page.keyboard.press(" ")
                costs = sorted(page.evaluate("window.sledsim.frameCosts"))
                p50, p95 = (costs[int(share * (len(costs) - 1))] for share in (0.5, 0.95))
                print(f"{start} {speed:6g} {len(costs):7} {p50:7.2f} {p95:7.2f} {costs[-1]:9.2f}")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
