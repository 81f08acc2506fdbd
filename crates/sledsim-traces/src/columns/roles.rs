//! The roles of columns, and their quantities.

use crate::units::Quantity;

/// The role of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The arrival.
    Time,
    /// The completion, from which `response` leads back to the arrival.
    Completion,
    /// The first byte.
    Offset,
    /// The number of bytes.
    Bytes,
    /// The operation.
    Op,
    /// The device, by number or name.
    Device,
    /// The name of a device that also has a number.
    DeviceName,
    /// From arrival to completion.
    Response,
    /// From this completion to the next arrival.
    Think,
    /// From arrival to the start of service.
    Queue,
    /// Whether the next request of the device belongs to the same batch.
    Linked,
}

impl Role {
    /// All, as the enum orders them.
    pub const ALL: [Self; 11] = [
        Self::Time,
        Self::Completion,
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
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Completion => "completion",
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

    /// Its quantity, if it is a number with a unit.
    pub fn quantity(self) -> Option<Quantity> {
        match self {
            Self::Time | Self::Completion | Self::Response | Self::Think | Self::Queue => {
                Some(Quantity::Time)
            }
            Self::Offset | Self::Bytes => Some(Quantity::Size),
            Self::Op | Self::Device | Self::DeviceName | Self::Linked => None,
        }
    }
}
