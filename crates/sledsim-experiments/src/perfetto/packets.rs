//! Writes tracks, slices and counters, packet by packet.

use super::lanes::Lanes;
use super::messages::{
    CLEARED, ChildOrdering, CounterDescriptor, Data, DebugAnnotation, EventType, InternedData,
    NEEDS_NAMES, Name, ProcessDescriptor, TracePacket, TrackDescriptor, TrackEvent, Unit,
};
use super::outstanding::Outstanding;
use prost::Message;
use rustc_hash::FxBuildHasher;
use sledsim_base::request::Op;
use sledsim_base::row::{Parts, Row, Status};
use sledsim_base::units::Nanos;
use std::collections::HashMap;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// All packets are of one sequence.
const SEQUENCE: u32 = 1;
/// The key of a packet in the trace: field 1, of variable length.
const PACKET_KEY: u8 = 1 << 3 | 2;

/// Categories of slices.
const CATEGORIES: [&str; 2] = ["request", "cause"];

/// The causes in the order in which they happen, with their times.
type Cause = (&'static str, fn(&Parts) -> Nanos);
const CAUSES: [Cause; 9] = [
    ("overhead", |parts| parts.overhead),
    ("queue", |parts| parts.queue),
    ("other", |parts| parts.other),
    (SEEK, |parts| parts.seek),
    ("head switch", |parts| parts.head_switch),
    ("rotation", |parts| parts.rotation),
    ("transfer", |parts| parts.transfer),
    ("retry", |parts| parts.retry),
    ("bus", |parts| parts.bus),
];
const SEEK: &str = "seek";

/// The arguments of slices; their texts are [`texts`].
#[derive(Clone, Copy)]
enum Argument {
    Id,
    Parent,
    Op,
    Lbn,
    Blocks,
    Status,
    QueueDepth,
    Passes,
    Retries,
    Energy,
    Lateness,
    XSeek,
    YSeek,
    Settle,
    Turnaround,
}

const ARGUMENTS: [&str; 15] = [
    "id",
    "parent",
    "op",
    "lbn",
    "blocks",
    "status",
    "queue_depth",
    "passes",
    "retries",
    "energy_nj",
    "lateness_ns",
    "x_seek_ns",
    "y_seek_ns",
    "settle_ns",
    "turnaround_ns",
];

/// Texts of arguments: operations, then statuses.
fn texts() -> impl Iterator<Item = &'static str> {
    Op::ALL.into_iter().map(Op::name).chain(Status::ALL.into_iter().map(Status::name))
}

/// Names with the numbers by which packets refer to them, from 1 on.
fn numbered(names: impl IntoIterator<Item = &'static str>) -> Vec<Name> {
    let name = |(iid, name): (u64, &str)| Name { iid: Some(iid), name: Some(name.to_owned()) };
    (1..).zip(names).map(name).collect()
}

/// A device: its group of tracks, and the counter of the host's requests in it.
/// They are described with the first row that needs them.
struct Device {
    name: String,
    track: Option<u64>,
    counter: Option<u64>,
}

/// A stream of a device.
struct Stream {
    track: u64,
    lanes: Lanes,
}

/// A trace being written.
pub struct Packets<W: Write> {
    sink: BufWriter<W>,
    /// The packet being encoded, and the arguments of its event.
    bytes: Vec<u8>,
    arguments: Vec<DebugAnnotation>,
    tracks: u64,
    devices: Vec<Device>,
    streams: HashMap<(u16, u32), Stream, FxBuildHasher>,
    outstanding: Outstanding,
}

impl<W: Write> Packets<W> {
    /// Begins a trace; `folder` is for a temporary file.
    pub fn new(sink: W, folder: &Path) -> io::Result<Self> {
        let mut packets = Self {
            sink: BufWriter::with_capacity(1 << 16, sink),
            bytes: Vec::new(),
            arguments: Vec::new(),
            tracks: 0,
            devices: Vec::new(),
            streams: HashMap::default(),
            outstanding: Outstanding::new(folder),
        };
        let names = Op::ALL.map(Op::name).into_iter();
        packets.write(TracePacket {
            sequence_flags: Some(CLEARED),
            interned_data: Some(InternedData {
                event_categories: numbered(CATEGORIES),
                event_names: numbered(names.chain(CAUSES.map(|(name, _)| name))),
                debug_annotation_names: numbered(ARGUMENTS),
                debug_annotation_string_values: numbered(texts()),
            }),
            ..TracePacket::default()
        })?;
        Ok(packets)
    }

    /// Adds the next device: number 0, 1, ...
    pub fn add_device(&mut self, name: &str) {
        self.devices.push(Device { name: name.to_owned(), track: None, counter: None });
    }

    /// The group of tracks of a device.
    fn track_of(&mut self, device: u16) -> io::Result<u64> {
        let found = &self.devices[usize::from(device)];
        if let Some(track) = found.track {
            return Ok(track);
        }
        let name = found.name.clone();
        let track = self.describe(TrackDescriptor {
            process: Some(ProcessDescriptor {
                pid: Some(i32::from(device) + 1),
                process_name: Some(name),
            }),
            child_ordering: Some(ChildOrdering::Explicit.into()),
            ..TrackDescriptor::default()
        })?;
        self.devices[usize::from(device)].track = Some(track);
        Ok(track)
    }

    /// The counter of a device.
    fn counter_of(&mut self, device: u16) -> io::Result<u64> {
        if let Some(counter) = self.devices[usize::from(device)].counter {
            return Ok(counter);
        }
        let track = self.track_of(device)?;
        let counter = self.describe(TrackDescriptor {
            parent_uuid: Some(track),
            name: Some("outstanding requests".to_owned()),
            counter: Some(CounterDescriptor { unit: Some(Unit::Count.into()), unit_name: None }),
            sibling_order_rank: Some(0),
            ..TrackDescriptor::default()
        })?;
        self.devices[usize::from(device)].counter = Some(counter);
        Ok(counter)
    }

    /// Writes a request of a device that was added, and how late its reply was, if
    /// that is known.
    pub fn push(&mut self, row: &Row, lateness: Option<Nanos>) -> io::Result<()> {
        if row.parent.is_none() {
            self.counter_of(row.device)?;
            (self.outstanding).add(row.device, row.arrival.0, row.completion.0)?;
        }
        let track = self.lane_of(row)?;
        self.request_arguments(row, lateness);
        self.begin(track, row.arrival, 0, row.op as usize)?;
        let mut at = row.arrival;
        for (cause, (name, time_of)) in CAUSES.iter().enumerate() {
            let time = time_of(&row.parts);
            if time == Nanos::ZERO {
                continue;
            }
            if *name == SEEK {
                self.seek_arguments(&row.parts);
            }
            self.begin(track, at, 1, Op::ALL.len() + cause)?;
            at += time;
            self.end(track, at)?;
        }
        self.end(track, row.completion)
    }

    /// Writes the power of all devices: the beginning of each window, and watts.
    pub fn power(&mut self, windows: impl IntoIterator<Item = (Nanos, f64)>) -> io::Result<()> {
        let mut windows = windows.into_iter().peekable();
        if windows.peek().is_none() {
            return Ok(());
        }
        let track = self.describe(TrackDescriptor {
            name: Some("power of all devices".to_owned()),
            counter: Some(CounterDescriptor { unit: None, unit_name: Some("W".to_owned()) }),
            ..TrackDescriptor::default()
        })?;
        windows.try_for_each(|(at, watts)| {
            let event = TrackEvent {
                r#type: Some(EventType::Counter.into()),
                track_uuid: Some(track),
                double_counter_value: Some(watts),
                ..TrackEvent::default()
            };
            self.event(at, event)
        })
    }

    /// Writes the counters of outstanding requests; the sink.
    pub fn finish(mut self) -> io::Result<W> {
        let outstanding = std::mem::replace(&mut self.outstanding, Outstanding::new(Path::new("")));
        outstanding.count(|device, at, count| {
            let event = TrackEvent {
                r#type: Some(EventType::Counter.into()),
                track_uuid: Some(self.counter_of(device)?),
                counter_value: Some(count),
                ..TrackEvent::default()
            };
            self.event(Nanos(at), event)
        })?;
        self.sink.into_inner().map_err(io::IntoInnerError::into_error)
    }

    /// The track of the lane that a request takes.
    fn lane_of(&mut self, row: &Row) -> io::Result<u64> {
        let key = (row.device, row.stream);
        let group = self.track_of(row.device)?;
        let mut stream = match self.streams.remove(&key) {
            Some(stream) => stream,
            None => Stream {
                track: self.describe(TrackDescriptor {
                    parent_uuid: Some(group),
                    name: Some(format!("stream {}", row.stream)),
                    child_ordering: Some(ChildOrdering::Explicit.into()),
                    sibling_order_rank: Some(rank(u64::from(row.stream))),
                    ..TrackDescriptor::default()
                })?,
                lanes: Lanes::default(),
            },
        };
        let (start, end) = (row.arrival.0, row.completion.0);
        let track = stream.lanes.take(start, end, |lane| {
            self.describe(TrackDescriptor {
                parent_uuid: Some(stream.track),
                name: Some(format!("lane {}", lane + 1)),
                sibling_order_rank: Some(rank(lane as u64)),
                ..TrackDescriptor::default()
            })
        });
        self.streams.insert(key, stream);
        track
    }

    fn request_arguments(&mut self, row: &Row, lateness: Option<Nanos>) {
        self.number(Argument::Id, row.id);
        if let Some(parent) = row.parent {
            self.number(Argument::Parent, parent);
        }
        self.text(Argument::Op, row.op as usize);
        self.number(Argument::Lbn, row.lbn);
        self.number(Argument::Blocks, u64::from(row.blocks));
        self.text(Argument::Status, Op::ALL.len() + row.status as usize);
        self.number(Argument::QueueDepth, u64::from(row.queue_depth));
        self.number(Argument::Passes, u64::from(row.passes));
        if row.retries > 0 {
            self.number(Argument::Retries, u64::from(row.retries));
        }
        if let Some(energy) = row.energy_nj() {
            self.number(Argument::Energy, energy);
        }
        if let Some(lateness) = lateness {
            self.number(Argument::Lateness, lateness.0);
        }
    }

    fn seek_arguments(&mut self, parts: &Parts) {
        for (argument, time) in [
            (Argument::XSeek, parts.x_seek),
            (Argument::YSeek, parts.y_seek),
            (Argument::Settle, parts.settle),
            (Argument::Turnaround, parts.turnaround),
        ] {
            if time > Nanos::ZERO {
                self.number(argument, time.0);
            }
        }
    }

    fn number(&mut self, argument: Argument, value: u64) {
        self.arguments.push(DebugAnnotation {
            name_iid: Some(argument as u64 + 1),
            uint_value: Some(value),
            string_value_iid: None,
        });
    }

    /// Adds a text by its place in [`texts`].
    fn text(&mut self, argument: Argument, place: usize) {
        self.arguments.push(DebugAnnotation {
            name_iid: Some(argument as u64 + 1),
            uint_value: None,
            string_value_iid: Some(place as u64 + 1),
        });
    }

    /// Begins a slice with the arguments collected; `name` is its place among those
    /// of operations, then of causes.
    fn begin(&mut self, track: u64, at: Nanos, category: u64, name: usize) -> io::Result<()> {
        let event = TrackEvent {
            r#type: Some(EventType::SliceBegin.into()),
            track_uuid: Some(track),
            category_iid: Some(category + 1),
            name_iid: Some(name as u64 + 1),
            debug_annotations: std::mem::take(&mut self.arguments),
            ..TrackEvent::default()
        };
        self.event(at, event)
    }

    fn end(&mut self, track: u64, at: Nanos) -> io::Result<()> {
        let event = TrackEvent {
            r#type: Some(EventType::SliceEnd.into()),
            track_uuid: Some(track),
            ..TrackEvent::default()
        };
        self.event(at, event)
    }

    fn event(&mut self, at: Nanos, event: TrackEvent) -> io::Result<()> {
        self.write(TracePacket {
            timestamp: Some(at.0),
            sequence_flags: Some(NEEDS_NAMES),
            data: Some(Data::TrackEvent(event)),
            ..TracePacket::default()
        })
    }

    /// Writes a track with the next number.
    fn describe(&mut self, track: TrackDescriptor) -> io::Result<u64> {
        self.tracks += 1;
        let uuid = Some(self.tracks);
        self.write(TracePacket {
            data: Some(Data::TrackDescriptor(TrackDescriptor { uuid, ..track })),
            ..TracePacket::default()
        })?;
        Ok(self.tracks)
    }

    fn write(&mut self, mut packet: TracePacket) -> io::Result<()> {
        packet.trusted_packet_sequence_id = Some(SEQUENCE);
        self.bytes.clear();
        self.bytes.push(PACKET_KEY);
        let encoded = packet.encode_length_delimited(&mut self.bytes);
        encoded.map_err(io::Error::other)?;
        self.sink.write_all(&self.bytes)
    }
}

/// The rank of a track among others, below that of the counter.
fn rank(place: u64) -> i32 {
    i32::try_from(place + 1).unwrap_or(i32::MAX)
}
