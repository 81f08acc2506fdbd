"""Keys and values written as on a command line: ``rate=300,600``."""

from __future__ import annotations

from typing import Any

from sledsim._core import SledsimError
from sledsim._input_files import toml
from sledsim.hardware.labels import split_list


def setting(text: str) -> tuple[str, Any]:
    """Split ``KEY=VALUE``; the value is TOML, words without quotes."""
    key, value = _key_and_rest("--set", text, "key=value", "requests=5000")
    return key, _value(value)


def axis(text: str) -> tuple[str, list[Any]]:
    """Split ``KEY=A,B,...``; the values are TOML, words without quotes."""
    key, values = _key_and_rest("--vary", text, "key=a,b,...", "rate=100,300")
    parts = split_list(values)
    if "" in parts:
        raise SledsimError(f"--vary {text}: must be values separated by commas, none of them empty")
    if len(parts) == 1 and values.count(":") and not any(map(str.isalpha, values)):
        raise SledsimError(
            f"--vary {text}: must be values separated by commas, as in --vary {key}=100,200,400"
        )
    return key, [_value(part) for part in parts]


def _key_and_rest(option: str, text: str, form: str, example: str) -> tuple[str, str]:
    key, _, rest = (part.strip() for part in text.partition("="))
    if not key or not rest:
        raise SledsimError(f"{option} {text}: must be of the form {form}, as in {option} {example}")
    return key, rest


def _value(text: str) -> Any:
    try:
        return toml(f"value = {text}")["value"]
    except ValueError:
        return text
