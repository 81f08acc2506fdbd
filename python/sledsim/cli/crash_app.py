"""``sledsim crash-app``: the power fails under real programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim._core import SledsimError
from sledsim._number_text import number
from sledsim.cli import outputs
from sledsim.cli.parser import add_exit_zero, command, print_json
from sledsim.cli.real_programs import one_signal, tell
from sledsim.programs.crashes import PROGRAMS, Setup, kind
from sledsim.programs.crashes.outcomes import OUTCOMES
from sledsim.programs.crashes.presets import PRESETS, preset
from sledsim.programs.crashes.strata import STRATA
from sledsim.programs.crashes.trial import PHASES
from sledsim.show.text import table

if TYPE_CHECKING:
    import argparse

    from sledsim.cli.parser import Commands
    from sledsim.programs.crashes.result import CutResult, Result

_ABOUT = """\
Fail the power of a device at many instants under a real program, recover, and check its data.

  sledsim crash-app sqlite --device g2-buffered --cuts 200
  sledsim crash-app sqlite --preset unsynced --exit-zero --plot unsynced.png
  sledsim crash-app postgres --device mcd --cuts 50 --folder found
  sledsim crash-app postgres --replay 7 --folder found
  sledsim crash-app scripts --load load.sh --check check.sh --file-system raw
  sledsim crash-app sqlite --keys

The program runs once on the emulated device, which records all requests with their data. Of each
instant the contents of the device are rebuilt: what its media held, and nothing of a volatile
buffer. They are served, mounted and checked: every acknowledged transaction must be there, and
nothing else. This takes real time and needs root, except for scripts on the raw device.

What a killed run leaves is cleaned up by the next one, or by sledsim umount --all --stale.

A cut ends as: recovered whole; lost unacknowledged only (what was under way); lost acknowledged;
corrupt, detected; corrupt, silent; did not mount; check did not end; check failed. The first two
are good.

Exit codes: 0 if every cut ended well; 1 if one ended badly, damaged the file system, or lost what
the device had promised to keep (0 with --exit-zero); 2 if an input must be changed.
"""
_DEVICE = "g2-buffered"


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "crash-app", _crash, _ABOUT)
    parser.add_argument("program", metavar="PROGRAM", help=f"{', '.join(PROGRAMS)}: what runs")
    parser.add_argument("--device", metavar="NAME", help=f"a preset, or a TOML file ({_DEVICE})")
    parser.add_argument("--scheduler", metavar="NAME", help="scheduler (fcfs)")
    parser.add_argument(
        "--cuts", metavar="N", type=int, default=200, help="at how many instants power fails (200)"
    )
    parser.add_argument("--seed", metavar="N", type=int, default=1, help="seed of the instants (1)")
    parser.add_argument("--preset", metavar="NAME", help="a set-up known to be good or bad")
    parser.add_repeatable(
        "--set", "KEY=VALUE", "a key of the program, or of the device as device.KEY"
    )
    parser.add_argument(
        "--keys", action="store_true", help="list the program's keys and presets, and end"
    )
    parser.add_argument("--file-system", metavar="TYPE", help="ext4, xfs or raw (ext4)")
    parser.add_argument(
        "--data",
        metavar="MODE",
        help="how ext4 treats data: ordered, journal or writeback (ordered)",
    )
    parser.add_argument(
        "--no-barriers", action="store_true", help="mount ext4 so that it never flushes"
    )
    parser.add_argument("--options", metavar="OPTIONS", help="further ones for mount -o")
    parser.add_argument(
        "--fs-mib", metavar="MIB", type=int, help="size of the file system (as the program needs)"
    )
    for name, what in (
        ("fill", "a script that makes the initial data"),
        ("load", "a script that works on them"),
        ("check", "a script that checks them after a cut"),
    ):
        parser.add_argument(f"--{name}", metavar="SCRIPT", help=what)
    parser.add_repeatable("--log-files", "PATTERN", "files of scripts that are logs, as in 'wal/*'")
    parser.add_argument(
        "--patience",
        metavar="SECONDS",
        type=float,
        default=60.0,
        help="how long the check of one cut may take (60)",
    )
    parser.add_argument(
        "--fsck", action="store_true", help="look the file system over after good checks, too"
    )
    parser.add_argument(
        "--folder",
        metavar="DIR",
        help="keep the recording, and each bad outcome with its image, in this empty folder",
    )
    parser.add_argument(
        "--replay", metavar="N", type=int, help="repeat cut N of the experiment in --folder"
    )
    outputs.add_plot(parser, "the outcomes and the time to be back in service")
    add_exit_zero(parser)
    outputs.add_report(parser)


def _crash(options: argparse.Namespace) -> bool:
    program = options.program
    kind(program)
    if options.keys:
        _list_keys(program, options)
        return True
    outputs.check_plot(options)
    outputs.check_report(options)
    with one_signal():
        result = _experiment(options) if options.replay is None else _replay(options)
    outputs.write_plot(options, result.plot)
    outputs.write_report(options, result)
    again = None if options.replay is None else result.cuts[0]
    if options.json:
        print_json((again or result).to_dict())
    elif again is not None:
        print(table(_facts(again), "<<"))
    else:
        result.show()
        for file in (options.plot, options.report, options.folder):
            if file is not None:
                print(f"\nwritten: {file}")
    return result.passed or bool(options.exit_zero)


def _experiment(options: argparse.Namespace) -> Result:
    from sledsim.programs.crashes.experiment import experiment  # it imports much

    return experiment(
        _setup(options),
        cuts=options.cuts,
        seed=options.seed,
        patience_s=options.patience,
        fsck=options.fsck,
        folder=None if options.folder is None else Path(options.folder),
        tell=tell,
    )


def _setup(options: argparse.Namespace) -> Setup:
    """Return the set-up of the options: those of a preset, and what is given over them."""
    program = options.program
    keys: dict[str, Any] = {}
    chosen: dict[str, Any] = {}
    if options.preset is not None:
        found = preset(program, options.preset)
        keys, chosen = dict(found.keys), dict(found.file_system)
    given = [_setting(text) for text in options.set]
    keys |= {key: value for key, value in given if not key.startswith("device.")}
    named = {
        name: getattr(options, name)
        for name in ("file_system", "data", "options", "fs_mib", "scheduler")
    }
    chosen |= {name: value for name, value in named.items() if value is not None}
    if options.no_barriers:
        chosen["barriers"] = False
    scripts = {name: getattr(options, name) for name in ("fill", "load", "check")}
    scripts = {name: path and str(Path(path).absolute()) for name, path in scripts.items()}
    if any(scripts.values()) or options.log_files:
        scripts["log_files"] = options.log_files
    return Setup(
        program=program,
        device=options.device or _DEVICE,
        keys=keys,
        scripts={name: value for name, value in scripts.items() if value},
        settings=tuple(f"{k}={v}" for k, v in given if k.startswith("device.")),
        **chosen,
    )


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise SledsimError(f"--set {text}: must be KEY=VALUE")
    return key, value


def _replay(options: argparse.Namespace) -> Result:
    from sledsim.programs.crashes.experiment import replay  # it imports much

    if options.folder is None:
        raise SledsimError(
            f"--replay {options.replay}: must come with --folder DIR, which keeps the experiment"
        )
    return replay(
        Path(options.folder),
        options.replay,
        program=options.program,
        device=options.device,
        patience_s=options.patience,
    )


def _facts(cut: CutResult) -> list[list[str]]:
    verdict = cut.trial.verdict
    rows = [
        [
            "cut",
            f"{cut.number}, at {cut.instant.at_ns / 1e6:,.6f} ms: {STRATA[cut.instant.stratum]}",
        ],
        ["acknowledged", f"{number(cut.acknowledged)} transactions"],
        ["device", ", ".join(f"{key} {value}" for key, value in cut.facts.items())],
        ["outcome", OUTCOMES[verdict.outcome]],
    ]
    rows += [["found", verdict.text]] if verdict.text else []
    rows += [["file system", cut.trial.damage]] if cut.trial.damage else []
    return rows + [
        [f"{name}, ms", "-" if (ms := cut.trial.times_ms[key]) is None else number(ms, 3)]
        for key, name in PHASES.items()
    ]


def _list_keys(program: str, options: argparse.Namespace) -> None:
    found = kind(program)
    if options.json:
        keys = {
            name: {"default": key.default, "allowed": key.allowed, "what": key.what}
            for name, key in found.keys.items()
        }
        presets = {
            name: {"good": each.is_good, "what": each.what}
            for name, each in PRESETS[program].items()
        }
        about = {"program": program, "title": found.title, "about": found.about}
        print_json(about | {"keys": keys, "presets": presets})
        return
    print(f"{found.title}. {found.about}")
    if found.keys:
        rows = [["key", "default", "allowed", ""]]
        rows += [[k, str(e.default), e.allowed, e.what] for k, e in found.keys.items()]
        print(f"\n{table(rows, '<<<<')}")
    if PRESETS[program]:
        rows = [["preset", "", ""]]
        rows += [[k, "good" if e.is_good else "bad", e.what] for k, e in PRESETS[program].items()]
        print(f"\n{table(rows, '<<<')}")
