"""Keys and values written as on a command line: ``rate=300,600``."""

from __future__ import annotations

import tomllib
from typing import Any

from sledsim._core import SledsimError


def setting(text: str) -> tuple[str, Any]:
    """Split ``KEY=VALUE``; the value is TOML, words without quotes.

    Raises
    ------
    SledsimError
        For text of another form.
    """
    key, equals, value = text.partition("=")
    if not equals or not key.strip() or not value.strip():
        msg = f"--set {text}: must be of the form key=value, as in --set requests=5000"
        raise SledsimError(msg)
    return key.strip(), _value(value.strip())


def axis(text: str) -> tuple[str, list[Any]]:
    """Split ``KEY=A,B,...``; the values are TOML, words without quotes.

    Raises
    ------
    SledsimError
        For text of another form.
    """
    key, equals, values = text.partition("=")
    if not equals or not key.strip() or not values.strip():
        msg = f"--vary {text}: must be of the form key=a,b,..., as in --vary rate=100,300"
        raise SledsimError(msg)
    parts = [part.strip() for part in _split(values)]
    if "" in parts:
        msg = f"--vary {text}: must be values separated by commas, none of them empty"
        raise SledsimError(msg)
    return key.strip(), [_value(part) for part in parts]


def _split(text: str) -> list[str]:
    """Split at commas that are not inside brackets or quotes."""
    parts, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        else:
            depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
