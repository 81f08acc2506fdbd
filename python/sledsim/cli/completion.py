"""``sledsim completion``: shell completion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim import _core, programs
from sledsim._core import SledsimError
from sledsim.cli.parser import command, print_json

if TYPE_CHECKING:
    import argparse

    from sledsim.cli.parser import Commands

_ABOUT = """\
Print a script that completes sledsim's commands, options and names in a shell.

  sledsim completion bash > ~/.local/share/bash-completion/completions/sledsim
  sledsim completion zsh > ~/.zsh/completions/_sledsim
  sledsim completion fish > ~/.config/fish/completions/sledsim.fish

It takes effect in the next shell. The folder must be there; that of zsh must be in fpath, before
compinit is called in ~/.zshrc. It completes commands, options, files, and the names of devices,
schedulers, layouts, workloads and scenarios that come with sledsim. It needs the library shtab.
"""

_SHELLS = ("bash", "zsh", "fish")

_FILES = {"FILE", "PATH", "IN", "OUT"}
_FOLDERS = {"DIR", "FOLDER"}


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "completion", _completion, _ABOUT)
    parser.add_argument(
        "shell",
        metavar="SHELL",
        choices=_SHELLS,
        help=f"{', '.join(_SHELLS[:-1])} or {_SHELLS[-1]}",
    )


def _completion(options: argparse.Namespace) -> None:
    script = completion(options.shell)
    if options.json:
        print_json({"shell": options.shell, "script": script})
    else:
        print(script)


def completion(shell: str) -> str:
    """Write a script that makes a shell complete the command lines of sledsim.

    Parameters
    ----------
    shell
        ``"bash"``, ``"zsh"`` or ``"fish"``.
    """
    try:
        import shtab  # an extra
    except ImportError:
        raise SledsimError("sledsim completion needs shtab: pip install shtab") from None
    if shell not in shtab.SUPPORTED_SHELLS:
        raise SledsimError(
            f"shtab {shtab.__version__} does not know {shell}: pip install --upgrade shtab"
        )
    from sledsim.cli import whole_parser  # it imports this

    parser, known = whole_parser(), _known()
    for each in parser.all_parsers():
        each.description = (each.description or "").partition("\n")[0]  # shells show one line
        for action in each.actions():
            names, files = known.get(str(action.metavar)) or known.get(action.dest) or ([], False)
            if names and files:
                action.complete = _names_and_files(action.dest, names)  # type: ignore[attr-defined]
            elif names:
                action.choices = names
            elif action.metavar in _FILES:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
            elif action.metavar in _FOLDERS:
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    return shtab.complete(parser, shell)


def _known() -> dict[str, tuple[list[str], bool]]:
    """Return known names by metavar, and whether a file may stand there, too."""
    devices = (_core.names("presets"), True)
    return {
        "DEVICE": devices,
        "devices": devices,
        "workload": (_core.names("workloads") + _core.names("workload_presets"), True),
        "scenario": (_core.names("scenarios"), True),
        "scheduler": (_core.names("schedulers"), False),
        "schedulers": (_core.names("schedulers"), False),
        "layout": (_core.names("layouts"), False),
        "application": (list(programs.NAMES), False),
    }


def _names_and_files(what: str, names: list[str]) -> dict[str, Any]:
    """Make shtab complete names and files."""
    function, listed = f"_sledsim_{what}_or_file", " ".join(names)  # bash needs _file for folders
    return {
        "bash": function,
        "zsh": function,
        "fish": f"({function})",
        "preamble": {
            "bash": f'{function}() {{ compgen -W "{listed}" -- "$1"; compgen -f -- "$1"; }}',
            "zsh": f"{function}() {{ _alternative "
            f"'{what}s:{what}:({listed})' 'files:file:_files' }}",
            "fish": f"function {function}\n"
            f"    string split ' ' '{listed}'\n"
            "    __fish_complete_path (commandline -ct)\n"
            "end",
        },
    }
