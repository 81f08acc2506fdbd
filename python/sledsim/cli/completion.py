"""``sledsim completion``: shell completion."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sledsim import _core, programs
from sledsim._core import SledsimError
from sledsim._keys import things
from sledsim.caches import OPT
from sledsim.cli.parser import command, print_json
from sledsim.traces.files import sample_traces

if TYPE_CHECKING:
    import argparse

    from sledsim.cli.parser import Commands

_ABOUT = """\
Print a script that completes sledsim's commands, options and names in a shell.

  sledsim completion bash > ~/.local/share/bash-completion/completions/sledsim
  sledsim completion zsh > ~/.zsh/completions/_sledsim
  sledsim completion fish > ~/.config/fish/completions/sledsim.fish

It takes effect in the next shell. The folder must be there; that of zsh must be in fpath, before
compinit is called in ~/.zshrc. It completes commands, options, the names of devices, schedulers,
layouts, policies, workloads, scenarios and sample traces, also in lists (--devices g1,g2), keys
behind --set, and files by their endings. It needs the library shtab.
"""

_SHELLS = ("bash", "zsh", "fish")

_FILES = {"FILE", "PATH", "IN", "OUT", "ROWS"}
_FOLDERS = {"DIR", "FOLDER"}
_TOML = (".toml",)
_LOADS = (".toml", ".fio")
_COMPRESSED = (".gz", ".zst", ".xz", ".bz2")


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

    parser, find = whole_parser(), _Finder()
    for each in parser.all_parsers():
        each.description = (each.description or "").partition("\n")[0]  # shells show one line
        for action in each.actions():
            if action.metavar in _FOLDERS:
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
            elif (offer := find.offer(action)) is not None:
                action.complete = find.functions(action.dest, offer)  # type: ignore[attr-defined]
    return str(shtab.complete(parser, shell)) + (_OF_BASH if shell == "bash" else "")


_TABLES = {"devices": "device.", "schedulers": "scheduler.", "layouts": "layout."}
"""How keys of a family begin after ``--set``."""


def key_names() -> list[str]:
    """Names of the keys that ``--set`` takes, those of devices as ``device.KEY``."""
    names = {
        f"{_TABLES.get(thing['family'], '')}{key['key']}": None
        for thing in things()
        if thing["family"] != "caches"
        for key in thing["keys"]
        if "[" not in key["key"] and not {"table", "tables"} & {*map(str, key["types"])}
    }
    return list(names)


@dataclass(frozen=True)
class _Offer:
    """What may stand for an option or an argument."""

    names: tuple[str, ...] = ()
    endings: tuple[str, ...] | None = None
    """Those of files; all files if empty, none if ``None``."""
    several: bool = False
    """Whether it is a list with commas."""


class _Finder:
    """Finds what completes an option or an argument."""

    def __init__(self) -> None:
        names = _core.names
        devices = _Offer((*names("presets"),), _TOML)
        schedulers, layouts = _Offer((*names("schedulers"),)), _Offer((*names("layouts"),))
        self._known = {
            "device": devices,
            "devices": devices,
            "workload": _Offer((*names("workloads"), *names("workload_presets")), _LOADS),
            "scenario": _Offer((*names("scenarios"),), _LOADS),
            "study": _Offer((), _TOML),
            "scheduler": schedulers,
            "schedulers": schedulers,
            "layout": layouts,
            "layouts": layouts,
            "policies": _Offer((*names("policies"), OPT)),
            "application": _Offer((*programs.NAMES,)),
        }
        self._keys = _Offer(tuple(f"{name}=" for name in key_names()))
        endings = dict.fromkeys(f".{ending}" for ending in names("trace_endings"))
        samples = tuple(f"sample:{name}" for name in sample_traces())
        self._samples = _Offer(samples, (*endings, *_COMPRESSED))
        self._functions: dict[_Offer, str] = {}

    def offer(self, action: argparse.Action) -> _Offer | None:
        """Return what an action may be given, if it is known."""
        metavar, told = str(action.metavar), str(action.help)
        if metavar.startswith("KEY="):
            return self._keys
        if "sample:" in told:
            return self._samples
        if action.dest in self._known:
            return replace(self._known[action.dest], several=metavar.endswith(",..."))
        if metavar in _FILES:
            return _Offer(endings=(*re.findall(r"(?<!\w)\.[a-z][\w-]*", told),))
        return None

    def functions(self, what: str, offer: _Offer) -> dict[str, Any]:
        """Return the functions of the shells that make an offer, as shtab takes them."""
        name = self._functions.setdefault(offer, f"_sledsim_{what}_{len(self._functions)}")
        if offer.endings is not None:
            name += "_file"  # by which the script for bash knows that folders end in /
        return {
            "bash": name,
            "zsh": name,
            "fish": f"({name})",
            "preamble": {
                "bash": _bash(name, offer),
                "zsh": _zsh(name, offer),
                "fish": _fish(name, offer),
            },
        }


_OF_BASH = """

# $1=word, $2=names, $3=endings of files, or -, $4=, in a list
_sledsim_offer() {
  local before= word=$1 ending found=
  [[ -n $4 ]] && word=${1##*,} before=${1%"${1##*,}"}
  compgen -P "$before" -W "$2" -- "$word"
  [[ $3 == - ]] && return
  for ending in $3; do
    compgen -P "$before" -f -X "!*$ending" -- "$word" && found=1
  done
  if [[ -n $found ]]; then
    compgen -P "$before" -d -- "$word"
  else
    compgen -P "$before" -f -- "$word"
  fi
}

# bash cuts words at : and =, but sledsim does not; it takes --option=VALUE for two words
_sledsim() {
  local rest=$COMP_LINE last=${COMP_WORDS[COMP_CWORD]} words=() at=-1 i
  for ((i = 0; i <= COMP_CWORD; i++)); do
    local piece=${COMP_WORDS[i]}
    if [[ $at == -1 || -z $rest || $rest == [[:space:]]* ]]; then
      words[++at]=$piece
      rest=${rest#"${rest%%[![:space:]]*}"}
    elif [[ $piece == = && ${words[at]} == --* ]]; then
      words[++at]=
    else
      words[at]+=$piece
    fi
    rest=${rest#"$piece"}
  done
  local COMP_WORDS=("${words[@]}") COMP_CWORD=$at word=${words[at]}
  _shtab_sledsim
  if [[ ${COMPREPLY[*]} == *sample:* ]]; then
    compopt +o filenames 2>/dev/null || :  # else : gets a backslash
  fi
  if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]]; then
    compopt -o nospace 2>/dev/null || :
  fi
  if [[ $word != "$last" ]]; then
    COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*[:=]}"}"}")
  fi
}

complete -o bashdefault -F _sledsim sledsim"""


def _bash(name: str, offer: _Offer) -> str:
    endings = "-" if offer.endings is None else " ".join(offer.endings)
    listed, comma = " ".join(offer.names), "," if offer.several else ""
    return f"""{name}() {{ _sledsim_offer "$1" '{listed}' '{endings}' '{comma}'; }}"""


def _zsh(name: str, offer: _Offer) -> str:
    listed, does = " ".join(offer.names), "_alternative"
    if offer.names:
        does += f" 'names:name:({listed})'"
    if offer.endings is not None:
        files = f' -g "*({"|".join(offer.endings)})(-.)"' if offer.endings else ""
        does += f" 'files:file:_files{files}'"
    if offer.names and offer.names[0].endswith("="):
        does = f"compadd -S '' -- {listed}"
    cut = "compset -P '*,'; " if offer.several else ""
    return f"{name}() {{ {cut}{does} }}"


def _fish(name: str, offer: _Offer) -> str:
    lines = ["set -l word (commandline -ct | string replace -r '^--[^=]*=' '')", "set -l before"]
    if offer.several:
        lines.append("set before (string replace -r '[^,]*$' '' -- \"$word\")")
    if offer.names:
        lines.append(f"printf '%s\\n' \"$before\"(string split ' ' '{' '.join(offer.names)}')")
    if offer.endings is not None:
        ends = "|".join(re.escape(ending) for ending in offer.endings)
        lines += [
            "set -l files (__fish_complete_path (string replace -r '.*,' '' -- \"$word\"))",
            f"set -l fit (string match -er '({ends})(\\t|$)' -- $files)",
            "test -n \"$fit\"; and set files $fit (string match -er '/(\\t|$)' -- $files)",
            'test -n "$files"; and printf \'%s\\n\' "$before"$files',
        ]
    return "\n    ".join([f"function {name}", *lines]) + "\nend"
