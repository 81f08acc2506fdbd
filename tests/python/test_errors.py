"""Errors: their classes, and the file, the line and the key that each carries."""

from __future__ import annotations

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING

import pytest
import sledsim as ss

if TYPE_CHECKING:
    from pathlib import Path

CLASSES = [ss.SledsimError, ss.SpecError, ss.TraceError, ss.OutputError, ss.RemoteError]


def _same(error: Exception, other: Exception) -> bool:
    told = (type(error), str(error), vars(error))
    return told == (type(other), str(other), vars(other))


@pytest.mark.parametrize("kind", CLASSES)
def test_each_class_is_a_value_error_that_can_be_pickled(kind: type[ss.SledsimError]) -> None:
    error = kind("f:3: k = 1: must be 2")
    assert isinstance(error, ValueError)
    assert {*kind.__mro__} & {*CLASSES} == {ss.SledsimError, kind}
    assert (error.file, error.line, error.key) == (None, None, None)
    error.file, error.line, error.key = "f", 3, "k"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert _same(error, pickle.loads(pickle.dumps(error, protocol)))
    assert kind("other").file is None, "an attribute of one error is not that of the next"


def test_an_error_crosses_processes(tmp_path: Path) -> None:
    file = tmp_path / "value.toml"
    file.write_text('base = "g2"\n\nspring_factor = 2\n')
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        error = pool.submit(ss.device, str(file)).exception()
    assert isinstance(error, ss.SpecError)
    assert (error.file, error.line, error.key) == (str(file), 3, "spring_factor")


@pytest.mark.parametrize("kind", CLASSES)
def test_each_class_cuts_what_it_repeats(kind: type[ss.SledsimError]) -> None:
    error = kind(f"{'k' * 9000}.toml:3: rate = '{'a b' * 9000}'\x1b[31m\n: must be 2")
    assert str(error).startswith("kkk")
    assert str(error).endswith(r"'\u{1b}[31m\n: must be 2")
    assert str(error).count("characters)...") == 2
    assert len(str(error)) < 500
    assert _same(error, pickle.loads(pickle.dumps(error)))
    assert kind(5).args == (5,)
