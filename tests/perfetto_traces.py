"""Reads traces with Perfetto's own classes, as its trace processor does."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

_CLEARED, _NEEDS = 1, 2


@dataclass
class Slice:
    """A slice, with those inside."""

    name: str
    category: str
    start: int
    end: int
    arguments: dict[str, int | str]
    parts: list[Slice] = field(default_factory=list)


@dataclass
class Track:
    """A track, the slices on it that are in no other, and the values of a counter."""

    name: str
    process: tuple[int, str] | None
    parent: int | None
    unit: str
    rank: int
    slices: list[Slice] = field(default_factory=list)
    values: list[tuple[int, float]] = field(default_factory=list)


@dataclass
class Trace:
    """Tracks by their uuid."""

    tracks: dict[int, Track]

    def path(self, uuid: int) -> tuple[str, ...]:
        """Names of a track and those above it, the outermost first."""
        track = self.tracks[uuid]
        own = track.process[1] if track.process else track.name
        return (*(self.path(track.parent) if track.parent else ()), own)

    def counters(self) -> dict[tuple[str, ...], list[tuple[int, float]]]:
        """Values of the counters by path."""
        return {
            self.path(uuid): track.values for uuid, track in self.tracks.items() if track.values
        }

    def requests(self) -> dict[tuple[str, int], Slice]:
        """Outermost slices by device and id."""
        found: dict[tuple[str, int], Slice] = {}
        for uuid, track in self.tracks.items():
            for one in track.slices:
                key = self.path(uuid)[0], int(one.arguments["id"])
                assert key not in found
                found[key] = one
        return found


def read(path: str | Path) -> Trace:
    """Read a trace; check that names are declared first and slices nest."""
    messages = pytest.importorskip(
        "perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="perfetto is not installed"
    )
    unknown_fields = pytest.importorskip("google.protobuf.unknown_fields")
    trace = messages.Trace()
    trace.ParseFromString(Path(path).read_bytes())
    assert trace.packet[0].sequence_flags == _CLEARED
    interned = trace.packet[0].interned_data
    names = {one.iid: one.name for one in interned.event_names}
    categories = {one.iid: one.name for one in interned.event_categories}
    arguments = {one.iid: one.name for one in interned.debug_annotation_names}
    texts = {one.iid: one.str.decode() for one in interned.debug_annotation_string_values}
    tracks: dict[int, Track] = {}
    events: list[tuple[int, Any]] = []
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id == 1
        for message in (packet, packet.track_event, packet.track_descriptor):
            assert not len(unknown_fields.UnknownFieldSet(message))
        if packet.HasField("track_descriptor"):
            about = packet.track_descriptor
            assert about.uuid not in tracks
            assert not about.HasField("parent_uuid") or about.parent_uuid in tracks
            tracks[about.uuid] = Track(
                about.name,
                (about.process.pid, about.process.process_name)
                if about.HasField("process")
                else None,
                about.parent_uuid if about.HasField("parent_uuid") else None,
                about.counter.unit_name,
                about.sibling_order_rank,
            )
        elif packet.HasField("track_event"):
            assert packet.sequence_flags == _NEEDS
            assert packet.track_event.track_uuid in tracks
            events.append((packet.timestamp, packet.track_event))
    events.sort(key=lambda event: event[0])  # stable, as the trace processor's
    under_way: dict[int, list[Slice]] = defaultdict(list)
    kinds = messages.TrackEvent
    for at, event in events:
        track, stack = tracks[event.track_uuid], under_way[event.track_uuid]
        if event.type == kinds.TYPE_COUNTER:
            double = event.HasField("double_counter_value")
            track.values.append((at, event.double_counter_value if double else event.counter_value))
        elif event.type == kinds.TYPE_SLICE_BEGIN:
            (category,) = event.category_iids
            given = {
                arguments[one.name_iid]: texts[one.string_value_iid]
                if one.HasField("string_value_iid")
                else one.uint_value
                for one in event.debug_annotations
            }
            made = Slice(names[event.name_iid], categories[category], at, at, given)
            (stack[-1].parts if stack else track.slices).append(made)
            stack.append(made)
        else:
            assert event.type == kinds.TYPE_SLICE_END
            stack.pop().end = at
    assert not any(under_way.values()), "a slice has no end"
    return Trace(tracks)
