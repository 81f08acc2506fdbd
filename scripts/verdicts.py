"""Record the verdicts of all items of the papers, of a full and a quick run, and the claims.

Run it after a change that moves verdicts, and read the difference before it is committed.
"""

import argparse
from pathlib import Path

from sledsim import papers
from sledsim.papers import claims, recorded


def main() -> None:
    """Run items and claims and write ``verdicts.json`` of the package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("full", "quick", "claims"), help="record one of them")
    parser.add_argument("--paper", action="append", default=[], help="run this paper only")
    parser.add_argument("--output", type=Path, default=Path("out/papers"))
    options = parser.parse_args()
    for run in ("full", "quick"):
        if options.only in {None, run}:
            quick = run == "quick"
            results = papers.run(papers.find(options.paper), options.output, quick=quick)
            for line in recorded.changes(results, quick=quick):
                print(f"{run}: {line}")
            recorded.write(results, quick=quick)
    if options.only in {None, "claims"}:
        recorded.write_claims(claims.run(options.output))


if __name__ == "__main__":
    main()
