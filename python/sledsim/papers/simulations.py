"""Simulations of items: each is done once, and kept in a store that all items share."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sledsim as ss
from sledsim.outcomes import OutcomeStore

if TYPE_CHECKING:
    from collections.abc import Iterator

ENVIRONMENT = "SLEDSIM_OUTCOMES"
"""The variable of the environment that names a folder for all of them."""

_stores: list[OutcomeStore] = []
"""Those in use, the innermost last; items may simulate in threads."""


def summary_of(
    load: ss.Load, device: ss.Device, scheduler: str = "fcfs", *, seeds: int = 1, **keys: Any
) -> dict[str, Any]:
    """Return the summary of a run, as :attr:`Run.summary <sledsim.Run.summary>` has it.

    Where :func:`sledsim.papers.run` runs items, or ``SLEDSIM_OUTCOMES`` of the environment names a
    folder, it is read from a store if there was such a run before. An item that needs rows or a
    distribution calls :func:`sledsim.simulate`.

    Parameters
    ----------
    load, device, scheduler, seeds
        As for :func:`sledsim.simulate`. Several seeds are run one after the other.
    **keys
        ``layout``, ``background`` and ``precision``, likewise.
    """
    named = os.environ.get(ENVIRONMENT)
    if _stores or named:
        store = _stores[-1] if _stores else OutcomeStore(named or "")
        document = store.simulate(load, device, scheduler, seeds=seeds, threads=1, **keys)
    else:
        document = ss.simulate(
            load, device, scheduler, seeds=seeds, requests=False, threads=1, **keys
        ).document
    summary: dict[str, Any] = document["summary"]
    return summary


@contextlib.contextmanager
def stored_in(folder: Path) -> Iterator[OutcomeStore]:
    """Let :func:`summary_of` use the store in a folder."""
    _stores.append(OutcomeStore(folder))
    try:
        yield _stores[-1]
    finally:
        _stores.pop()


def folder_of(output: Path) -> Path:
    """Return where the store is for items of which the files go to ``output``.

    That is the folder :data:`ENVIRONMENT` names, or else one beside them.
    """
    named = os.environ.get(ENVIRONMENT)
    return Path(named) if named else output / "outcomes"
