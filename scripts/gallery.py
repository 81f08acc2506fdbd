"""Draws the pictures of docs/howto/gallery.md with the code that stands there.

Draw them anew, from the root of the checkout, with ``.venv/bin/python -m scripts.gallery``. Each
block that is followed by a picture makes ``figure``, which is written to docs/drawings.
"""

import doctest
import io
import re
from pathlib import Path
from typing import Any

from PIL import Image

PAGE = Path(__file__).parents[1] / "docs" / "howto" / "gallery.md"
DOTS_PER_INCH = 100
COLOURS = 64
_PART = re.compile(r"```python\n(.*?)```|\]\((\.\./drawings/[\w-]+\.png)\)", re.DOTALL)


def main() -> None:
    """Run the blocks from top to bottom, and write the pictures below them."""
    names: dict[str, Any] = {}
    for block, picture in _PART.findall(PAGE.read_text(encoding="utf-8")):
        for example in doctest.DocTestParser().get_examples(block):
            exec(compile(example.source, PAGE.name, "single"), names)
        if picture:
            content = io.BytesIO()
            names["figure"].savefig(content, format="png", dpi=DOTS_PER_INCH)
            image = Image.open(content).convert("RGB")
            image = image.convert("P", palette=Image.Palette.ADAPTIVE, colors=COLOURS)
            path = (PAGE.parent / picture).resolve()
            image.save(path, optimize=True)
            print(f"Written: {path.name}, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
