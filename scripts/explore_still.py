"""Draw docs/drawings/explore.png: a still of the page that explains a run.

python scripts/explore_still.py

It needs Chromium, and `playwright` of requirements/test.lock.
"""

import shutil
import tempfile
from pathlib import Path

import sledsim as ss
from playwright.sync_api import sync_playwright

TARGET = Path(__file__).parents[1] / "docs" / "drawings" / "explore.png"
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def main() -> None:
    """Open the page of a sled under SPTF at a pass with a queue, and take its picture."""
    run = ss.simulate(ss.workload("random", rate=1700, requests=400), "g2", "sptf")
    rows = run.rows
    moments = zip(rows["start_ns"], rows["seek_ns"], rows["queue_depth"], strict=True)
    start, seek, _ = max(moments, key=lambda one: one[2])
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder, "run.html")
        run.explore(file)
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=chromium, args=SWITCHES)
        page = browser.new_page(viewport={"width": 1000, "height": 2000})
        page.goto(file.as_uri())
        page.wait_for_function("window.sledsim")
        page.evaluate("window.sledsim.ready")
        page.evaluate(f"window.sledsim.seek({start + seek + 60_000})")
        page.wait_for_timeout(300)
        box = page.locator(".run").bounding_box()
        assert box is not None
        box["height"] = 690
        page.screenshot(path=TARGET, clip=box)
        browser.close()
    print(f"Written: {TARGET}")


if __name__ == "__main__":
    main()
