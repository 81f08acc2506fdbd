//! What a column can be, and what its numbers measure.

use crate::record::END_BYTES;

/// What a column can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The arrival.
    Time,
    /// The first byte.
    Offset,
    /// How many bytes.
    Bytes,
    /// What the request did.
    Op,
    /// The device, by number or name.
    Device,
    /// The name of the device beside its number.
    DeviceName,
    /// From arrival to completion.
    Response,
    /// From this completion to the next arrival.
    Think,
    /// From arrival to the start of service.
    Queue,
    /// Whether the next request of the device is of the same batch.
    Linked,
}

impl Role {
    /// All, as the enum orders them.
    pub const ALL: [Self; 10] = [
        Self::Time,
        Self::Offset,
        Self::Bytes,
        Self::Op,
        Self::Device,
        Self::DeviceName,
        Self::Response,
        Self::Think,
        Self::Queue,
        Self::Linked,
    ];

    /// Its name in the key.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Offset => "offset",
            Self::Bytes => "bytes",
            Self::Op => "op",
            Self::Device => "device",
            Self::DeviceName => "device_name",
            Self::Response => "response",
            Self::Think => "think",
            Self::Queue => "queue",
            Self::Linked => "linked",
        }
    }

    /// Whether it is a number with a unit: of time, or of bytes.
    #[must_use]
    pub fn quantity(self) -> Option<Quantity> {
        match self {
            Self::Time | Self::Response | Self::Think | Self::Queue => Some(Quantity::Time),
            Self::Offset | Self::Bytes => Some(Quantity::Size),
            Self::Op | Self::Device | Self::DeviceName | Self::Linked => None,
        }
    }
}

/// What a number measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A time, in nanoseconds.
    Time,
    /// A length or a place, in bytes.
    Size,
}

impl Quantity {
    /// The units it may have, for messages.
    #[must_use]
    pub fn units(self) -> &'static str {
        match self {
            Self::Time => "s, ms, us, ns, or a number of one such as 100ns",
            Self::Size => "B, KiB, MiB, GiB, or a number of one such as 512B",
        }
    }

    /// The most that is read: nanoseconds or bytes. Times on a clock that
    /// counts from 1601 still fit; see
    /// [`crate::LATEST_NS`] for what is left of them.
    #[must_use]
    pub fn most(self) -> u64 {
        match self {
            Self::Time => u64::MAX - 2,
            Self::Size => END_BYTES,
        }
    }
}
