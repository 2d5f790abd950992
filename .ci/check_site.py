"""Open pages of the built site in Chromium, without a network, and look for barriers with axe.

Every page is tried in light and in dark, as wide as a desktop and as a phone. Fails if axe finds a
violation, minor or not, if a page is wider than the screen, asks for anything outside the site, or
if a script fails. Pictures of the pages, as a reader first sees them, are written to a folder.
``--all`` tries every page instead of one of each kind.
"""

import argparse
import shutil
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

KINDS = (
    "docs/index.html",
    "docs/examples/index.html",
    "docs/examples/plot_01_tumours.html",
    "docs/api/names/pyrocco.ROCCO.html",
    "docs/api/pyrocco.html",
    "docs/guide.html",
    "docs/app.html",
    "docs/tutorials/survey.html",
    "docs/rivals.html",
    "search.html",
)
# The corner above the names of rows is empty in tables of pandas, as in those on paper.
LEFT_OUT = ("empty-table-header",)
SCHEMES = ("light", "dark")
SCREENS = {"desktop": (1280, 860), "phone": (390, 844)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", type=Path, help="folder of the site")
    parser.add_argument("pictures", type=Path, help="folder for the pictures")
    parser.add_argument("--all", action="store_true", help="try every page")
    options = parser.parse_args()
    site = options.site.resolve()
    paths = [site / name for name in KINDS]
    if options.all:
        paths = [path for path in sorted(site.rglob("*.html")) if path.parent != site / "_static"]
    options.pictures.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print("The site is checked in Chromium: install it, on Debian as apt-get install chromium")
        return 2
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        faults = [
            fault for path in paths for fault in check(browser, path, site, options.pictures)
        ]
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{len(paths)} pages in {', '.join((*SCHEMES, *SCREENS))}: {len(faults)} faults")
    return bool(faults)


def check(browser: Browser, path: Path, site: Path, pictures: Path) -> Iterator[str]:
    """Yield the faults of a page, each as a line."""
    name = path.relative_to(site).with_suffix("").as_posix()
    for scheme, screen in product(SCHEMES, SCREENS):
        width, height = SCREENS[screen]
        context = browser.new_context(
            offline=True,
            color_scheme=scheme,
            reduced_motion="reduce",
            viewport={"width": width, "height": height},
        )
        picture = pictures / f"{name.replace('/', '-')}-{scheme}-{screen}.png"
        for fault in open_page(context.new_page(), path, site, picture):
            yield f"{name}, {scheme}, {screen}: {fault}"
        context.close()


def open_page(page: Page, path: Path, site: Path, picture: Path) -> list[str]:
    """Open a page, save its picture, and return its faults."""
    problems: list[str] = []
    page.on("request", lambda request: note_foreign(request.url, site, problems))
    page.on("pageerror", lambda error: problems.append(f"script: {error}"))
    page.goto(path.as_uri())
    page.screenshot(path=picture)
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        problems.append("is wider than the screen")
    return problems + violations(page)


def note_foreign(address: str, site: Path, problems: list[str]) -> None:
    if not address.startswith((site.as_uri(), "data:", "blob:")):
        problems.append(f"asks for {address}")


def violations(page: Page) -> list[str]:
    """Return what axe complains about: its weight, its name, and the first element."""
    options = {"iframes": False, "rules": {rule: {"enabled": False} for rule in LEFT_OUT}}
    found = Axe().run(page, options=options).response["violations"]
    return [
        f"{each['impact']} {each['id']}, {len(each['nodes'])} times, "
        f"first at {each['nodes'][0]['target']}"
        for each in found
    ]


if __name__ == "__main__":
    sys.exit(main())
