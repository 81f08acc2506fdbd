"""The argument parser: argparse with errors of one line that offer the nearest names."""

from __future__ import annotations

import argparse
import sys

import sledsim

TYPE_CHECKING = False  # that of typing, whose import takes as long as Python's own start
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, NoReturn, TypeAlias

    from _typeshed import SupportsWrite

    Commands: TypeAlias = "argparse._SubParsersAction[Parser]"  # it has no other name


class _Once(argparse._StoreAction):
    """An option with a value, which is refused when it is given twice."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Take the value."""
        if isinstance(parser, Parser) and option_string is not None:
            if self.dest in parser.given:
                before = getattr(namespace, self.dest)
                parser.error(f"{option_string} {values}: is given twice, first as {before}")
            parser.given.add(self.dest)
        super().__call__(parser, namespace, values, option_string)


class Parser(argparse.ArgumentParser):
    """A parser whose options are never abbreviated, so that scripts keep working."""

    def __init__(self, **keywords: Any) -> None:
        keywords.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(allow_abbrev=False, **keywords)
        self.register("action", None, _Once)
        self.given: set[str] = set()
        """The options with one value that were given."""
        self._words: list[str] = []
        self.set_defaults(command=lambda _options: self.print_help())

    def add_commands(self) -> Commands:
        """Add sub-commands."""
        return self.add_subparsers(title="commands", metavar="COMMAND", prog=self.prog)

    def add_json(self) -> None:
        """Take ``--json``."""
        # Suppressed, as an option before a sub-command would be reset by the latter's default.
        self.add_argument(
            "--json",
            action="store_true",
            default=argparse.SUPPRESS,
            help="print one JSON document instead of text",
        )

    def add_repeatable(self, flag: str, metavar: str, what: str) -> None:
        """Take an option that may be given several times; its values are a list."""
        self.add_argument(
            flag, metavar=metavar, action="append", default=[], help=f"{what}; repeatable"
        )

    def all_parsers(self) -> Iterator[Parser]:
        """Iterate over this parser and those of all commands below it."""
        yield self
        for action in self._actions:
            if isinstance(action.choices, dict):  # commands by name
                for parser in action.choices.values():
                    yield from parser.all_parsers()

    def actions(self) -> list[argparse.Action]:
        """Return the options and arguments."""
        return self._actions

    def parse_known_args(  # type: ignore[override]  # (its overloads say the same)
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Refuse unknown arguments here, where the nearest options are known."""
        self.given = set()
        self._words = [*(sys.argv[1:] if args is None else args)]
        found, rest = super().parse_known_args(args, namespace)
        if rest:
            word = rest[0].partition("=")[0]
            near = self._near(word)
            kind = "option" if word.startswith("-") else "argument"
            key = word.lstrip("-").replace("-", "_")
            unlike = not near or key == "requests"  # which --report is near to
            if kind == "option" and unlike and "--set" in self._option_string_actions:
                near = f"; is it a key? Keys are set as in --set {key}=..."
            self.error(f"unknown {kind} '{word}'{near}")
        return found, rest

    def _near(self, word: str) -> str:
        shown = self._option_string_actions.items()
        return nearest(word, [name for name, its in shown if its.help != argparse.SUPPRESS])

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is not None and value not in action.choices:
            names = [str(name) for name in action.choices]
            near = nearest(str(value), names) or f"; there are {', '.join(names)}"
            what = "command" if action.metavar == "COMMAND" else "name"
            self.error(f"unknown {what} '{value}'{near}")

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        # argparse's own ignores errors of writing.
        (sys.stderr if file is None else file).write(message or "")

    def error(self, message: str) -> NoReturn:
        """End with the message on one line and exit code 2."""
        if message.endswith("expected one argument"):
            message += " (one that starts with '-' is joined with '=', as in --start=-50um,0um,up)"
        if message.startswith("the following arguments are required"):
            words = (word.partition("=")[0] for word in self._words if word.startswith("--"))
            unknown = [word for word in words if word not in self._option_string_actions]
            message += "".join(f"; unknown option '{word}'{self._near(word)}" for word in unknown)
        from sledsim._core import brief  # only errors need it

        self.exit(2, f"sledsim: error: {brief(message)}; see {self.prog} --help\n")


class Version(argparse.Action):
    """Print the version, and end; the library is loaded only for that."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(nargs=0, help="show program's version number and exit", **keywords)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        """Print the version."""
        print(f"{parser.prog} {sledsim.__version__}")
        parser.exit()


def listed(title: str) -> str:
    """Write the first line of a command's help as it stands in a list."""
    return title[:1].lower() + title[1:].rstrip(".")


def command(
    commands: Commands,
    name: str,
    do: Callable[[argparse.Namespace], bool | None],
    about: str,
) -> Parser:
    """Add a command; the first line of ``about`` stands in the list of commands.

    ``do`` returns ``False`` if a check failed.
    """
    parser = commands.add_parser(name, help=listed(about.partition("\n")[0]), description=about)
    parser.set_defaults(command=do)
    parser.add_json()
    return parser


def add_exit_zero(parser: Parser) -> None:
    """Take ``--exit-zero``."""
    parser.add_argument(
        "--exit-zero",
        action="store_true",
        help="end with exit code 0 also if a promise was broken, as an experiment may expect",
    )


def split_names(text: str, option: str) -> list[str]:
    """Split a list of names at its commas; the keys in parentheses behind a name belong to it."""
    from sledsim.hardware.labels import split_list  # help and version do without

    names = split_list(text)
    if "" in names:
        raise sledsim.SledsimError(
            f"{option} {text}: must be names separated by commas, none of them empty"
        )
    return names


def print_json(document: object) -> None:
    """Print a JSON document."""
    import json  # help and version do without

    print(json.dumps(document, indent=2, allow_nan=False))


def nearest(name: str, known: list[str]) -> str:
    """Write the names that are like one, as the end of a message."""
    import difflib  # only errors need it

    bare = {option.lstrip("-"): option for option in reversed(known)}
    like = 0.7 if name.startswith("-") else 0.6  # `--rate` is like `--trace` by 0.67
    near = [bare[each] for each in difflib.get_close_matches(name.lstrip("-"), bare, cutoff=like)]
    names = "' or '".join(near)
    return f"; did you mean '{names}'?" if near else ""
