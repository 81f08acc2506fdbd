"""The command line, with one file per command; see ``sledsim --help``."""

from __future__ import annotations

import os
import signal
import sys

import sledsim

TYPE_CHECKING = False  # that of typing, whose import takes as long as Python's own start
if TYPE_CHECKING:
    from collections.abc import Container, Sequence
    from types import FrameType
    from typing import NoReturn

    from sledsim.cli.parser import Parser

DONE, FAILED, REFUSED = 0, 1, 2

_DESCRIPTION = """\
Simulate storage whose media moves: MEMS-based storage devices, from the papers of 2000 to 2005.

A workload or a trace emits requests, a scheduler orders them, and the model of a device gives their
times. List the devices, then run a load on one:

  sledsim devices
  sledsim run --device g2 --workload random --set rate=500
  sledsim run --device g2 --trace sample:postmark-ext4
  sledsim compare --devices g1,g2,g3 --workload random --set rate=300

Or let real programs open a device, in real time: sledsim serve --device g2
"""

_EPILOG = """\
Every command takes --json, which prints one JSON document with units in the names of its keys.

Exit codes: 0 done; 1 a check failed (of crash, crash-app, papers or validate); 2 an input must be
changed, as the message says.
"""


class _Terminated(KeyboardInterrupt):
    """Asked to stop by a signal other than Ctrl-C."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return the exit code.

    Parameters
    ----------
    arguments
        Words after the program's name; by default those of this process.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller: the next file would get its number
            null = os.open(os.devnull, os.O_WRONLY)
            setattr(sys, name, os.fdopen(null, "w", encoding="utf-8"))
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _terminate)
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt as stop:
        return _interrupted(stop)
    except BrokenPipeError:
        _discard_output()
        return DONE
    except UnicodeEncodeError as error:
        return _refuse(f"{error.object!a} cannot be written as {error.encoding}")
    except OSError as error:
        _discard_output()
        return _refuse(f"cannot write the output: {error.strerror}")
    return code


def whole_parser(wanted: Container[str] | None = None) -> Parser:
    """Build the parser of the program.

    Parameters
    ----------
    wanted
        Commands that are to have their own parsers; the others are only listed. By default all.
    """
    from sledsim.cli import commands  # --version needs no parser
    from sledsim.cli.parser import Parser, Version

    parser = Parser(prog="sledsim", description=_DESCRIPTION, epilog=_EPILOG)
    parser.set_defaults(json=False)
    parser.add_argument("--version", action=Version)
    commands.add(parser.add_commands(), commands.TITLES if wanted is None else wanted)
    return parser


def _run(arguments: Sequence[str] | None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["--version"]:  # a parser takes longer to import than Python takes to start
        print(f"sledsim {sledsim.__version__}")
        return DONE
    command = next((word for word in words if not word.startswith("-")), "")  # none begins with -
    try:
        options = whole_parser({command}).parse_args(words)
        options.words = [*words]
        passed = options.command(options)
    except SystemExit as done:  # argparse: help printed, or a wrong option named
        return int(done.code or 0)
    except sledsim.SledsimError as error:  # imported only for an error
        return _refuse(error)
    return FAILED if passed is False else DONE


def _refuse(problem: object) -> int:
    from sledsim._core import brief  # only errors need it

    print(f"sledsim: error: {brief(str(problem))}", file=sys.stderr)
    for line in getattr(problem, "__notes__", []):  # what is missing, one by one
        print(line, file=sys.stderr)
    return REFUSED


def _terminate(number: int, _frame: FrameType | None) -> NoReturn:
    raise _Terminated(number)


def _interrupted(stop: KeyboardInterrupt) -> int:
    import contextlib  # most commands end otherwise
    import threading

    number = stop.number if isinstance(stop, _Terminated) else int(signal.SIGINT)
    with contextlib.suppress(OSError):  # the terminal may be gone
        print("sledsim: interrupted", file=sys.stderr, flush=True)
    _discard_output()
    if threading.active_count() > 1:  # busy reading, and with nothing to clean up
        os._exit(128 + number)
    return 128 + number


def _discard_output() -> None:
    """Prevent another attempt to write the rest of the buffer at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
