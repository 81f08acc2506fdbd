"""Record the verdicts of all items of the papers, of a full and a quick run.

Run it after a change that moves verdicts, and read the difference before it is committed.
"""

import argparse
from pathlib import Path

from sledsim import papers
from sledsim.papers import recorded


def main() -> None:
    """Run all items and write ``verdicts.json`` of the package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("full", "quick"), help="record one of the two")
    parser.add_argument("--output", type=Path, default=Path("out/papers"))
    options = parser.parse_args()
    for run in ("full", "quick"):
        if options.only in {None, run}:
            quick = run == "quick"
            results = papers.run(papers.find([]), options.output, quick=quick)
            for line in recorded.changes(results, quick=quick):
                print(f"{run}: {line}")
            recorded.write(results, quick=quick)


if __name__ == "__main__":
    main()
