"""Draw the pictures of the gallery: runs the code of docs/gallery.md in docs/_static/gallery.

Run ``python docs/_static/make_gallery.py`` in the repository after a change of the pictures.
"""

import os
import re
from pathlib import Path


HERE = Path(__file__).parent
LARGEST = 150_000  # bytes


def draw_gallery() -> None:
    """Run every block of Python code of the page, in one namespace."""
    page = (HERE.parent / "gallery.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", page, flags=re.M | re.S))
    os.chdir(HERE / "gallery")
    exec(compile(code, "gallery.md", "exec"), {"__name__": "gallery"})
    for path in Path().glob("*.png"):
        shrink(path)
        size = path.stat().st_size
        assert size <= LARGEST, f"{path} has {size} bytes: save it with fewer pixels per inch"


def shrink(path: Path) -> None:
    """Write a picture again with at most 256 colours, which is a third of the size."""
    from PIL import Image  # noqa: PLC0415 - comes with matplotlib

    Image.open(path).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(
        path, optimize=True
    )


if __name__ == "__main__":
    draw_gallery()
