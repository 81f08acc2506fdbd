//! The row of the result table: one request, its times, energy and outcome.

use crate::request::{Op, Request};
use crate::units::Nanos;
use std::ops::Add;

/// How a request ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Status {
    /// Served.
    #[default]
    Ok,
    /// The device could not serve it.
    Error,
}

impl Status {
    /// All, in the order of their Arrow dictionary.
    pub const ALL: [Self; 2] = [Self::Ok, Self::Error];

    /// The name used in rows and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
        }
    }
}

/// The parts of a response time: the table that fields, sums, names and conversions are
/// made of. Gives the macro `$with` of each its text, its name, its column, and whether it
/// `adds` to the sum or `details` another one.
#[macro_export]
macro_rules! with_parts {
    ($with:ident) => {
        $with! {
            /// Waiting: for the bus with the command, then for the mechanism, for room
            /// in a buffer, or for blocks that are being read.
            queue queue_ns adds;
            /// Command processing, paid at arrival.
            overhead overhead_ns adds;
            /// Positioning: for every pass the larger of X and Y.
            seek seek_ns adds;
            /// X part of all seeks, settle included.
            x_seek x_seek_ns details;
            /// Y part of all seeks, turnarounds included.
            y_seek y_seek_ns details;
            /// Settling after X moves; for a disk the extra settle time of a write in
            /// seeks and head switches.
            settle settle_ns details;
            /// Reversals of the Y velocity.
            turnaround turnaround_ns details;
            /// Rotational latency (disks): waiting on track while other sectors pass.
            rotation rotation_ns adds;
            /// Head switches (disks).
            head_switch head_switch_ns adds;
            /// Media transfer.
            transfer transfer_ns adds;
            /// From the end of the media transfer to the last byte on the bus; for
            /// writes the transfer to the device, where it overlaps with nothing else.
            bus bus_ns adds;
            /// Repeated attempts.
            retry retry_ns adds;
            /// Anything else, such as starting up from the inactive state.
            other other_ns adds;
        }
    };
}

/// Whether a part adds to the sum; else it details another one.
macro_rules! adds {
    (adds) => {
        true
    };
    (details) => {
        false
    };
}

macro_rules! parts {
    ($($(#[$doc:meta])* $name:ident $column:ident $kind:ident;)*) => {
        /// The components of a request's response time.
        ///
        /// The exclusive parts add up to completion minus arrival exactly. `x_seek` (with
        /// settle), `y_seek` (with turnarounds), `settle` and `turnaround` detail `seek`;
        /// X and Y overlap, so they do not add up to it.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Parts {
            $($(#[$doc])* pub $name: Nanos,)*
        }

        impl Parts {
            /// How many there are.
            pub const COUNT: usize = Self::NAMES.len();
            /// Their names, in the order of the table.
            pub const NAMES: [&str; [$(stringify!($name)),*].len()] = [$(stringify!($name)),*];
            /// The columns that hold them, in the order of the table.
            pub const COLUMNS: [&str; Self::COUNT] = [$(stringify!($column)),*];

            /// Each part, in the order of the table.
            #[inline]
            pub fn each(&self) -> [Nanos; Self::COUNT] {
                [$(self.$name),*]
            }

            /// With each part, in the order of the table.
            pub fn from_each([$($name),*]: [Nanos; Self::COUNT]) -> Self {
                Self { $($name),* }
            }

            /// The sum of the exclusive parts.
            #[inline]
            pub fn total(&self) -> Nanos {
                Nanos::ZERO $(+ if adds!($kind) { self.$name } else { Nanos::ZERO })*
            }

            /// The exclusive parts.
            pub fn exclusive(&self) -> impl Iterator<Item = Nanos> {
                let parts = self.each().into_iter().zip([$(adds!($kind)),*]);
                parts.filter_map(|(part, adds)| adds.then_some(part))
            }
        }

        impl Add for Parts {
            type Output = Self;

            /// Adds component by component.
            #[inline]
            fn add(self, other: Self) -> Self {
                Self { $($name: self.$name + other.$name,)* }
            }
        }
    };
}

with_parts!(parts);

/// A place of a mechanism that is positioned over its media.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The cylinder of the arm, or the one nearest to the sled.
    pub cylinder: u32,
    /// The head of a disk; of a sled the nearest boundary between rows, 0 below row 0.
    pub head_or_edge: u32,
    /// The direction of a sled in Y, 1 up or -1 down; 0 for a disk.
    pub direction: i8,
}

impl Place {
    /// The head, of a disk.
    pub fn head(&self) -> Option<u32> {
        (self.direction == 0).then_some(self.head_or_edge)
    }

    /// The boundary between rows, of a sled.
    pub fn edge(&self) -> Option<u32> {
        (self.direction != 0).then_some(self.head_or_edge)
    }

    /// The direction in Y, of a sled.
    pub fn sled_direction(&self) -> Option<i8> {
        (self.direction != 0).then_some(self.direction)
    }
}

/// Where a mechanism went for a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// Where it was when it took the request up.
    pub from: Place,
    /// Where it was after the last pass.
    pub to: Place,
    /// Cylinders moved over, there and back counted twice.
    pub cylinders: u64,
}

/// One request's result; the columns of the result table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The request's id, unique per device.
    pub id: u64,
    /// In a row of a device inside another, the id of the enclosing device's request;
    /// [`NO_REQUEST`](crate::request::NO_REQUEST) for work of its own.
    pub parent: Option<u64>,
    /// The device of the tree that served it; 0 is the outermost.
    pub device: u16,
    /// The stream the request came from.
    pub stream: u32,
    /// The operation.
    pub op: Op,
    /// First logical block.
    pub lbn: u64,
    /// 512-byte blocks in all extents.
    pub blocks: u32,
    /// The time of arrival.
    pub arrival: Nanos,
    /// The start of positioning.
    pub start: Nanos,
    /// The time of completion.
    pub completion: Nanos,
    /// Requests waiting in the device or being served by its mechanism when
    /// this one arrived (itself not counted); those in a buffer or on the bus are not
    /// among them.
    pub queue_depth: u32,
    /// The components of the response time.
    pub parts: Parts,
    /// Uninterrupted sweeps over the media.
    pub passes: u32,
    /// Repeated attempts.
    pub retries: u32,
    /// How it ended.
    pub status: Status,
    /// Where the mechanism went; `None` if it has no cylinders, did not move for this
    /// request, or served it with others.
    pub path: Option<Path>,
    /// Energy spent on this request in nanojoules (idling not included), or
    /// [`UNKNOWN_ENERGY`].
    pub energy_nj: u64,
}

/// The energy of a request on a device without values of power.
pub const UNKNOWN_ENERGY: u64 = u64::MAX;

impl Row {
    /// A row with the fields of the request; all others are zero.
    #[inline]
    pub fn of(request: &Request, device: u16) -> Self {
        Self {
            id: request.id,
            parent: request.parent,
            device,
            stream: request.stream,
            op: request.op,
            lbn: request.lbn(),
            blocks: request.blocks(),
            arrival: request.arrival,
            ..Self::default()
        }
    }

    /// Adds the work of `child`, a request inside the device: passes, retries and energy.
    #[inline]
    pub fn add_work(&mut self, child: &Self) {
        self.passes += child.passes;
        self.retries += child.retries;
        self.energy_nj = self.energy_nj.saturating_add(child.energy_nj);
    }

    /// As [`Row::add_work`], of a child whose failure is that of this request.
    #[inline]
    pub fn charge(&mut self, child: &Self) {
        self.add_work(child);
        if child.status != Status::Ok {
            self.status = child.status;
        }
    }

    /// The energy in nanojoules, if it is known.
    #[inline]
    pub fn energy_nj(&self) -> Option<u64> {
        (self.energy_nj != UNKNOWN_ENERGY).then_some(self.energy_nj)
    }

    /// Completion minus arrival.
    #[inline]
    pub fn response(&self) -> Nanos {
        self.completion - self.arrival
    }

    /// The time at mechanisms that it caused: seek, rotation, head switch, transfer, retry
    /// and other; `None` if it met no mechanism.
    #[inline]
    pub fn service(&self) -> Option<Nanos> {
        let parts = &self.parts;
        let moves = parts.seek + parts.rotation + parts.head_switch;
        (self.passes > 0).then_some(moves + parts.transfer + parts.retry + parts.other)
    }
}
