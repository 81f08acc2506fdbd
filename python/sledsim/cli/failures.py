"""Devices that failed in a server, and data that it failed to write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim._core import SledsimError

if TYPE_CHECKING:
    from collections.abc import Iterator


def failures(document: dict[str, Any]) -> Iterator[str]:
    """Name the devices, backing files and recordings of a server that failed, a line for each.

    Parameters
    ----------
    document
        The status of the server.
    """
    if "not_synced" in document:  # the file system on it, when it was unmounted
        yield document["not_synced"]
    for export in document["exports"]:
        if "device_failed" in export:
            yield f"{export['name']}: {export['device_failed']}"
        if "store_failed" in export:
            yield f"{export['name']}: {export['store_failed']}"
        if "recording_failed" in export:
            yield f"{export['name']}: the recording failed: {export['recording_failed']}"


def refuse_failures(*documents: dict[str, Any]) -> None:
    """Raise an error if a device failed, or a server failed to write data.

    Parameters
    ----------
    documents
        The final statistics of servers.
    """
    found = [line for document in documents for line in failures(document)]
    if found:
        raise SledsimError("; ".join(found))
