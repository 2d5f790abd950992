"""Draw the pictures of docs/gallery.md and docs/pictures.md: run the code of these pages.

Run ``python docs/_static/make_gallery.py`` in the repository after a change of the plots.
"""

import os
import re
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
FOLDERS = {"gallery.md": HERE / "gallery", "pictures.md": HERE}
LARGEST = 150_000  # bytes


def draw(page: str, folder: Path) -> None:
    """Run every block of Python code of a page, in one namespace; files go to a folder."""
    text = (HERE.parent / page).read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", text, flags=re.M | re.S))
    os.chdir(folder)
    exec(compile(code, page, "exec"), {"__name__": page})
    for name in re.findall(r"\"([\w-]+\.png)\"", code):
        shrink(folder / name)


def shrink(path: Path) -> None:
    """Write a picture that is too large again with at most 256 colours."""
    if path.stat().st_size > LARGEST:
        method = Image.Quantize.MAXCOVERAGE
        small = Image.open(path).convert("RGB").quantize(256, method, dither=Image.Dither.NONE)
        small.save(path, optimize=True)
    size = path.stat().st_size
    assert size <= LARGEST, f"{path} has {size} bytes: save it with fewer pixels per inch"


if __name__ == "__main__":
    for page, folder in FOLDERS.items():
        draw(page, folder)
