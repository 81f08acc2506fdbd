"""Reads parameter files.

A file is a sequence of ``TYPE NAME { KEY = VALUE, ... }``, ``instantiate [ NAME, ... ] as BLOCK``,
``topology TYPE NAME [ TYPE NAME [ ... ], ... ]`` and ``source FILE``. A key is one or more words; a
list of words instead gives several keys one value. A value is a number (decimal or ``0x``), a word,
a list ``[ VALUE, ... ]`` in which ``disk0 .. disk3`` counts up, a block ``TYPE { ... }`` or
``TYPE NAME { ... }``, or a component as in ``topology``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from sledsim.disksim.numbers import REAL, real, shown, whole
from sledsim.disksim.tokens import Token, tokens_of_file, tokens_of_text
from sledsim.disksim.tree import (
    RESERVED,
    Block,
    Instantiation,
    Item,
    List,
    Place,
    Scalar,
    Tree,
    Wiring,
    error,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

_INTEGER = re.compile(r"[+-]?\d+")
_HEX = re.compile(r"0[xX][0-9a-fA-F]+")
_COUNTED = re.compile(r"(.*?)(\d+)")
_JOINED_RANGE = re.compile(r"([A-Za-z_][\w-]*?\d+)\.\.([A-Za-z_][\w-]*?\d+)")
_LONGEST_RANGE = 100_000
_MOST_COUNTED = 200_000
"""Names that all ranges of a tree may stand for."""
_DEEPEST = 100


def read(path: str | PathLike[str]) -> Tree:
    """Read a parameter file and every file it sources."""
    file = Path(path)
    sourced: list[Path] = []
    return _Parser(tokens_of_file(file, sourced)).tree(file, sourced)


def parse(text: str, file: str | PathLike[str] = "<text>") -> Tree:
    """Read a text as if it were the file ``file``, in whose folder sourced files are sought."""
    sourced: list[Path] = []
    return _Parser(tokens_of_text(text, Path(file), sourced)).tree(Path(file), sourced)


class _Parser:
    """Reads from left to right with one token of look-ahead."""

    def __init__(self, tokens: Iterator[Token]) -> None:
        self._tokens = tokens
        self._next = next(tokens)
        self._depth = 0
        self._counted = 0

    def tree(self, file: Path, sourced: list[Path]) -> Tree:
        blocks: dict[str, Block] = {}
        instantiations: list[Instantiation] = []
        topologies: list[Wiring] = []
        while not self._next.sign(""):
            if self._next.keyword("instantiate"):
                instantiations.append(self._instantiation())
            elif self._next.keyword("topology"):
                self._take()
                type_ = self._word("the type of a component")
                topologies.append(self._wiring(type_, self._word("the name of a component").text))
            else:
                block = self._top_block()
                name = block.name or ""
                if name in blocks:
                    first = blocks[name].place
                    raise error(block.place, f"'{name}' is defined a second time, first at {first}")
                blocks[name] = block
        return Tree(file, blocks, tuple(instantiations), tuple(topologies), tuple(sourced))

    def _top_block(self) -> Block:
        expected = "a block 'TYPE NAME { ... }', 'source', 'instantiate' or 'topology'"
        type_ = self._word(expected)
        if not self._next.is_word:
            raise error(
                self._next.place,
                f"expected the name of the block '{type_.text}', found {self._next}",
            )
        name = self._word("the name of the block")
        return self._block(type_, name.text)

    def _block(self, type_: Token, name: str | None) -> Block:
        what = type_.text if name is None else f"{type_.text} {name}"
        self._expect("{", f"after '{what}'")
        self._enter(type_.place)
        values: dict[str, Item] = {}
        keys: dict[str, Place] = {}
        while not self._next.sign("}"):
            names = self._keys()
            value = self._value(f"the value of '{names[0].text}'")
            for key in names:
                if key.text in values:
                    line = keys[key.text]
                    raise error(key.place, f"'{key.text}' is given a second time, first at {line}")
                values[key.text] = value
                keys[key.text] = key.place
            if self._next.sign("}"):
                break
            if not self._next.sign(","):
                raise error(
                    self._next.place,
                    f"expected ',' or '}}' after the value of '{names[0].text}',"
                    f" found {self._next}",
                )
            comma = self._take()
            if self._next.sign("}"):
                raise error(comma.place, "expected another 'KEY = VALUE' after ',', found '}'")
        self._take()
        self._depth -= 1
        return Block(type_.text, name, values, type_.place, keys)

    def _keys(self) -> list[Token]:
        if self._next.sign("["):
            self._take()
            keys = [self._key("a key")]
            while self._next.sign(","):
                self._take()
                keys.append(self._key("a key"))
            self._expect("]", "after a list of keys")
        else:
            keys = [self._key("a key or '}'")]
        self._expect("=", f"after the key '{keys[-1].text}'")
        return keys

    def _key(self, what: str) -> Token:
        words = [self._word(what)]
        while self._next.is_word:
            words.append(self._word(what))
        text = " ".join(word.text for word in words)
        return Token(text, is_word=True, quoted=False, place=words[0].place)

    def _value(self, what: str) -> Item:
        token = self._next
        if token.sign("["):
            return self._list()
        word = self._word(what)
        if self._next.sign("{"):
            return self._block(word, None)
        if _number(word) is None and self._next.is_word and not self._next.keyword(".."):
            second = self._take()
            if self._next.sign("{"):
                return self._block(word, second.text)
            if self._next.sign("["):
                return self._wiring(word, second.text)
            raise error(
                second.place,
                f"expected ',' or a closing bracket after '{word.text}', found {second}",
            )
        number = _number(word)
        return Scalar(word.text if number is None else number, word.place)

    def _list(self) -> List:
        place = self._take().place
        self._enter(place)
        items: list[Item] = []
        while not self._next.sign("]"):
            items.extend(self._list_item())
            if self._next.sign("]"):
                break
            if not self._next.sign(","):
                raise error(
                    self._next.place,
                    f"expected ',' or ']' in the list of line {place.line}, found {self._next}",
                )
            comma = self._take()
            if self._next.sign("]"):
                raise error(comma.place, "expected another value after ',', found ']'")
        self._take()
        self._depth -= 1
        return List(tuple(items), place)

    def _list_item(self) -> list[Item]:
        token = self._next
        item = self._value("a value")
        if isinstance(item, Scalar):
            if self._next.keyword(".."):
                self._take()
                last = self._word("the end of the range")
                return self._range(str(item.value), last.text, item.place)
            joined = None if token.quoted else _JOINED_RANGE.fullmatch(str(item.value))
            if joined:
                return self._range(joined[1], joined[2], item.place)
        return [item]

    def _range(self, first: str, last: str, place: Place) -> list[Item]:
        names = _counted(first, last, place)
        self._counted += len(names)
        if self._counted > _MOST_COUNTED:
            raise error(place, f"all ranges together have more than {_MOST_COUNTED} names")
        return [*names]

    def _instantiation(self) -> Instantiation:
        place = self._take().place
        if not self._next.sign("["):
            raise error(self._next.place, f"expected '[' after 'instantiate', found {self._next}")
        names = []
        for item in self._list():
            if not isinstance(item, Scalar) or not isinstance(item.value, str):
                raise error(item.place, "expected the name of a component")
            names.append(item.value)
        if not self._next.keyword("as"):
            raise error(self._next.place, f"expected 'as', found {self._next}")
        self._take()
        return Instantiation(tuple(names), self._word("the name of a block").text, place)

    def _wiring(self, type_: Token, name: str) -> Wiring:
        if not self._next.sign("["):
            raise error(
                self._next.place, f"expected '[' after '{type_.text} {name}', found {self._next}"
            )
        below = []
        for item in self._list():
            if not isinstance(item, Wiring):
                raise error(item.place, "expected a component 'TYPE NAME [ ... ]'")
            below.append(item)
        return Wiring(type_.text, name, tuple(below), type_.place)

    def _enter(self, place: Place) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise error(place, f"blocks and lists nest deeper than {_DEEPEST}")

    def _word(self, what: str) -> Token:
        token = self._next
        if not token.is_word or (not token.quoted and token.text in RESERVED):
            raise error(token.place, f"expected {what}, found {token}")
        return self._take()

    def _expect(self, sign: str, where: str) -> None:
        if not self._next.sign(sign):
            raise error(self._next.place, f"expected '{sign}' {where}, found {self._next}")
        self._take()

    def _take(self) -> Token:
        token = self._next
        if not token.sign(""):
            self._next = next(self._tokens)
        return token


def _number(word: Token) -> int | float | None:
    if word.quoted:
        return None
    text = word.text
    if _INTEGER.fullmatch(text):
        return whole(text, word.place)
    if _HEX.fullmatch(text):
        return whole(text, word.place, base=16)
    if REAL.fullmatch(text):
        return real(text, word.place)
    return None


def _counted(first: str, last: str, place: Place) -> list[Scalar]:
    range_ = shown(f"{first} .. {last}")
    start, end = _COUNTED.fullmatch(first), _COUNTED.fullmatch(last)
    if start is None or end is None or start[1] != end[1]:
        raise error(place, f"{range_}: must be one name with two numbers, as a1 .. a4")
    from_, to = whole(start[2], place), whole(end[2], place)
    if not 0 <= to - from_ < _LONGEST_RANGE:
        raise error(place, f"{range_}: must count up, over at most {_LONGEST_RANGE} names")
    return [Scalar(f"{start[1]}{number}", place) for number in range(from_, to + 1)]
