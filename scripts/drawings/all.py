"""Draw all pictures of docs/drawings anew: `python scripts/drawings/all.py`."""

import runpy
from pathlib import Path

HERE = Path(__file__)

for path in sorted(HERE.parent.glob("*.py")):
    if path.name not in {HERE.name, "draw.py"}:
        runpy.run_path(str(path), run_name="__main__")
