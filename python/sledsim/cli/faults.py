"""``sledsim faults``: losses under failures of tips."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim._number_text import measured, number
from sledsim.cli.parser import command, print_json
from sledsim.cli.progress import work
from sledsim.failures.tip_failures import tip_failures
from sledsim.show.text import table

if TYPE_CHECKING:
    import argparse

    from sledsim.cli.parser import Commands

_ABOUT = """\
Let the tips of many devices fail one after the other, and count the losses.

  sledsim faults --ecc-tips 2 --spare-tips 128 --failed-tips 400
  sledsim faults --ecc-tips 1 --spare-tips 16 --out-of-spares capacity --json

Any data tips of a block determine it. A failed tip is replaced by a spare one and rebuilt before
the next one fails. For the cost of failures in time, run a device with a table [faults]:
sledsim run tip-failures.
"""

_ROWS = 10


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "faults", _faults, _ABOUT)
    for name, value, what in (
        ("tips", 6400, "tips of the device, spare ones included"),
        ("data-tips", 64, "tips that hold the bytes of a block"),
        ("ecc-tips", 0, "tips of a block beside these"),
        ("spare-tips", 0, "tips that replace failed ones"),
        ("failed-tips", 200, "how many fail"),
        ("trials", 1000, "devices that are tried"),
        ("seed", 1, "of the random numbers"),
    ):
        parser.add_argument(
            f"--{name}", metavar="N", type=int, default=value, help=f"{what} (%(default)s)"
        )
    parser.add_argument(
        "--out-of-spares",
        metavar="NAME",
        default="tolerance",
        help="sacrifice without a spare tip: tolerance or capacity (%(default)s)",
    )


def _faults(options: argparse.Namespace) -> None:
    result = work(
        lambda beat: tip_failures(
            options.tips,
            data_tips=options.data_tips,
            ecc_tips=options.ecc_tips,
            spare_tips=options.spare_tips,
            failed_tips=options.failed_tips,
            out_of_spares=options.out_of_spares,
            trials=options.trials,
            seed=options.seed,
            progress=beat,
        ),
        "trials",
    )
    if options.json:
        print_json(result.to_dict())
        return
    print(
        f"{number(result.squares)} squares of {options.data_tips} + {options.ecc_tips} tips and "
        f"{number(result.spare_tips)} spare tips; {result.data_share:.1%} of the tips hold data\n"
    )
    rows = [["failed tips", "spare tips left", "P(any loss)", "blocks lost", "capacity"]]
    last = options.failed_tips
    rows += [
        [
            number(row),
            measured(result.spare_tips_left[row]),
            f"{measured(100 * result.loss_probability[row])}%",
            f"{measured(100 * result.lost_share[row])}%",
            f"{measured(100 * result.capacity_share[row])}%",
        ]
        for row in sorted({last * part // _ROWS for part in range(_ROWS + 1)})
    ]
    print(table(rows, ">>>>>"))
