"""Splits parameter files into words and signs, putting sourced files in place.

``source FILE`` stands for the text of FILE, wherever it is; FILE is relative to the file that names
it. ``#`` starts a comment that ends with the line. A word ends at a blank or at one of ``{}[]=,#``;
in double quotes it may hold any of them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sledsim._arguments import placed
from sledsim._core import SpecError
from sledsim._input_files import content
from sledsim.disksim.tree import Place, error

if TYPE_CHECKING:
    from collections.abc import Iterator

_PIECE = re.compile(
    r"""(?P<blank>[ \t\r\f\v]+|\#[^\n]*)
    |(?P<newline>\n)
    |(?P<sign>[{}\[\]=,])
    |"(?P<quoted>[^"\n]*)"
    |(?P<word>[^\s{}\[\]=,\#"]+)
    |(?P<wrong>.)""",
    re.VERBOSE,
)
_DEEPEST = 100
"""Files inside files."""
_CLOSES = {"}": "{", "]": "["}


class Token(NamedTuple):
    """A sign, or a word; the end of everything is the sign ``""``."""

    text: str
    is_word: bool
    quoted: bool
    place: Place

    def __str__(self) -> str:
        if not self.is_word and not self.text:
            return "the end of the file"
        return f"'{self.text}'"

    def keyword(self, text: str) -> bool:
        """Whether this is the reserved word ``text``."""
        return self.is_word and not self.quoted and self.text == text

    def sign(self, *texts: str) -> bool:
        """Whether this is one of the signs ``texts``."""
        return not self.is_word and self.text in texts


def tokens_of_file(path: Path, sourced: list[Path]) -> Iterator[Token]:
    """Yield the tokens of a file; the files it comes from are added to ``sourced``."""
    return _with_sources(text_of_file(path), path, (path.resolve(),), sourced)


def tokens_of_text(text: str, file: Path, sourced: list[Path]) -> Iterator[Token]:
    """Yield the tokens of a text as if it stood in ``file``."""
    return _with_sources(text, file, (file.resolve(),), sourced)


def _with_sources(
    text: str, file: Path, inside: tuple[Path, ...], sourced: list[Path]
) -> Iterator[Token]:
    if file not in sourced:
        sourced.append(file)
    tokens = _pieces(text, file)
    opened: list[Token] = []
    for token in tokens:
        if token.sign("{", "["):
            opened.append(token)
        elif token.sign("}", "]"):
            _close(token, opened)
        elif token.sign("") and opened:
            raise error(opened[-1].place, f"'{opened[-1].text}' is not closed in {file}")
        if not token.keyword("source"):
            if token.sign("") and len(inside) > 1:
                break
            yield token
            continue
        name = next(tokens)
        if not name.is_word:
            raise error(token.place, f"'source' must be followed by a file name, found {name}")
        path = file.parent / name.text
        try:
            known = path.resolve()
        except (OSError, ValueError) as wrong:
            raise error(token.place, f"'source {name.text}': {wrong}") from None
        if known in inside:
            raise error(token.place, f"'source {name.text}': {path} sources itself")
        if len(inside) > _DEEPEST:
            raise error(token.place, f"'source' nests deeper than {_DEEPEST}")
        try:
            included = text_of_file(path)
        except SpecError as wrong:
            raise error(token.place, f"'source {name.text}': {wrong}") from None
        yield from _with_sources(included, path, (*inside, known), sourced)


def _close(token: Token, opened: list[Token]) -> None:
    if not opened:
        raise error(token.place, f"'{token.text}' closes nothing that was opened in this file")
    start = opened.pop()
    if start.text != _CLOSES[token.text]:
        place = f"line {start.place.line}"
        raise error(token.place, f"'{token.text}' cannot close the '{start.text}' of {place}")


def _pieces(text: str, file: Path) -> Iterator[Token]:
    place = Place(file, 1)
    for match in _PIECE.finditer(text):
        match match.lastgroup:
            case "newline":
                place = Place(file, place.line + 1)
            case "sign":
                yield Token(match[0], is_word=False, quoted=False, place=place)
            case "word":
                yield Token(match[0], is_word=True, quoted=False, place=place)
            case "quoted":
                yield Token(match["quoted"], is_word=True, quoted=True, place=place)
            case "wrong":
                raise error(place, "a double quote is not closed on its line")
    yield Token("", is_word=False, quoted=False, place=place)


def text_of_file(path: Path) -> str:
    """Return the text of a file, its line ends as newlines."""
    try:
        data = content(path)
    except OSError as wrong:
        raise placed(
            SpecError, f"cannot read {path}: {wrong.strerror or wrong}", file=path
        ) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        line = data.count(b"\n", 0, wrong.start) + 1
        raise error(Place(path, line), "not a text file in UTF-8") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise error(Place(path, line), "not a text file: it holds a zero byte")
    return text.replace("\r\n", "\n").replace("\r", "\n")
