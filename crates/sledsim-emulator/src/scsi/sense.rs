//! Sense data (SPC-4, section 4.5), and the status of a task (SAM-5, section 5.3).

use super::bytes::put;

/// The status of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// The command has been executed.
    Good = 0x00,
    /// It has not; sense data say why.
    CheckCondition = 0x02,
    /// It is part of a batch that is being gathered or has been executed.
    Intermediate = 0x10,
}

/// Sense keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Key {
    NoSense = 0x0,
    NotReady = 0x2,
    MediumError = 0x3,
    HardwareError = 0x4,
    IllegalRequest = 0x5,
    UnitAttention = 0x6,
    DataProtect = 0x7,
    AbortedCommand = 0xb,
    Miscompare = 0xe,
}

/// Why a command was not executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sense {
    pub(super) key: Key,
    /// Additional sense code and its qualifier.
    pub(super) code: (u8, u8),
    /// The LBN of the first block that failed, or the byte at which data differ.
    pub(super) information: Option<u64>,
    /// The byte that is invalid: of the CDB, or of the parameter list.
    pub(super) field: Option<Field>,
}

/// An invalid byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Cdb(u16),
    Parameter(u16),
}

/// Bytes of fixed-format sense data.
const FIXED_BYTES: usize = 18;

impl Sense {
    /// Sense data of this key and code.
    pub(super) const fn of(key: Key, code: (u8, u8)) -> Self {
        Self { key, code, information: None, field: None }
    }

    /// NO ADDITIONAL SENSE INFORMATION.
    pub(super) const NONE: Self = Self::of(Key::NoSense, (0x00, 0x00));
    /// LOGICAL UNIT NOT READY, MANUAL INTERVENTION REQUIRED: its device has no power.
    pub(super) const NO_POWER: Self = Self::of(Key::NotReady, (0x04, 0x03));
    /// LOGICAL UNIT NOT READY, INITIALIZING COMMAND REQUIRED: it was stopped.
    pub(super) const STOPPED: Self = Self::of(Key::NotReady, (0x04, 0x02));
    /// LOGICAL UNIT NOT READY, OPERATION IN PROGRESS: its device has work.
    pub(super) const WORKS: Self = Self::of(Key::NotReady, (0x04, 0x07));
    /// UNRECOVERED READ ERROR.
    pub(super) const READ_ERROR: Self = Self::of(Key::MediumError, (0x11, 0x00));
    /// WRITE ERROR.
    pub(super) const WRITE_ERROR: Self = Self::of(Key::MediumError, (0x0c, 0x00));
    /// INTERNAL TARGET FAILURE.
    pub(super) const INTERNAL: Self = Self::of(Key::HardwareError, (0x44, 0x00));
    /// PARAMETER LIST LENGTH ERROR.
    pub(super) const PARAMETER_LENGTH: Self = Self::of(Key::IllegalRequest, (0x1a, 0x00));
    /// INVALID COMMAND OPERATION CODE.
    pub(super) const NO_SUCH_COMMAND: Self = Self::of(Key::IllegalRequest, (0x20, 0x00));
    /// LOGICAL BLOCK ADDRESS OUT OF RANGE.
    pub(super) const OUT_OF_RANGE: Self = Self::of(Key::IllegalRequest, (0x21, 0x00));
    /// LOGICAL UNIT NOT SUPPORTED.
    pub(super) const NO_SUCH_UNIT: Self = Self::of(Key::IllegalRequest, (0x25, 0x00));
    /// POWER ON, RESET, OR BUS DEVICE RESET OCCURRED.
    pub(super) const POWER_ON: Self = Self::of(Key::UnitAttention, (0x29, 0x00));
    /// BUS DEVICE RESET FUNCTION OCCURRED: a logical unit was reset.
    pub(super) const UNIT_RESET: Self = Self::of(Key::UnitAttention, (0x29, 0x03));
    /// MODE PARAMETERS CHANGED.
    pub(super) const MODE_CHANGED: Self = Self::of(Key::UnitAttention, (0x2a, 0x01));
    /// COMMANDS CLEARED BY ANOTHER INITIATOR.
    pub(super) const CLEARED: Self = Self::of(Key::UnitAttention, (0x2f, 0x00));
    /// WRITE PROTECTED.
    pub(super) const WRITE_PROTECTED: Self = Self::of(Key::DataProtect, (0x27, 0x00));
    /// SPACE ALLOCATION FAILED WRITE PROTECT.
    pub(super) const NO_SPACE: Self = Self::of(Key::DataProtect, (0x27, 0x07));
    /// COMMAND ABORTED BY THE DEVICE SERVER: the server stops.
    pub(super) const STOPPING: Self = Self::of(Key::AbortedCommand, (0x2f, 0x02));
    /// PROTOCOL SERVICE CRC ERROR: data were lost on the way (RFC 7143, section 11.4.7.2).
    pub(super) const DATA_LOST: Self = Self::of(Key::AbortedCommand, (0x47, 0x05));
    /// MISCOMPARE DURING VERIFY OPERATION.
    pub(super) const MISCOMPARE: Self = Self::of(Key::Miscompare, (0x1d, 0x00));

    /// INVALID FIELD IN CDB, at byte `at`.
    pub(super) const fn invalid_field(at: u16) -> Self {
        Self { field: Some(Field::Cdb(at)), ..Self::of(Key::IllegalRequest, (0x24, 0x00)) }
    }

    /// INVALID FIELD IN PARAMETER LIST, at byte `at`.
    pub(super) const fn invalid_parameter(at: u16) -> Self {
        Self { field: Some(Field::Parameter(at)), ..Self::of(Key::IllegalRequest, (0x26, 0x00)) }
    }

    /// The same about this LBN or offset.
    pub(super) const fn at(self, information: u64) -> Self {
        Self { information: Some(information), ..self }
    }

    /// In bytes, in the fixed format or in that of descriptors.
    pub(super) fn encode(&self, descriptors: bool) -> Vec<u8> {
        match descriptors {
            true => self.encode_descriptors(),
            false => self.encode_fixed(),
        }
    }

    /// Sense key specific bytes: the field pointer.
    fn pointer(&self) -> Option<[u8; 3]> {
        let (kind, at) = match self.field? {
            Field::Cdb(at) => (0xc0, at),
            Field::Parameter(at) => (0x80, at),
        };
        let [high, low] = at.to_be_bytes();
        Some([kind, high, low])
    }

    fn encode_fixed(&self) -> Vec<u8> {
        let mut bytes = vec![0; FIXED_BYTES];
        bytes[0] = 0x70;
        bytes[2] = self.key as u8;
        // An LBN beyond four bytes does not fit: the field is not valid then.
        if let Some(information) = self.information.and_then(|what| u32::try_from(what).ok()) {
            bytes[0] |= 0x80;
            put(&mut bytes, 3, &information.to_be_bytes());
        }
        bytes[7] = (FIXED_BYTES - 8) as u8;
        (bytes[12], bytes[13]) = self.code;
        if let Some(pointer) = self.pointer() {
            put(&mut bytes, 15, &pointer);
        }
        bytes
    }

    fn encode_descriptors(&self) -> Vec<u8> {
        let mut bytes = vec![0x72, self.key as u8, self.code.0, self.code.1, 0, 0, 0, 0];
        if let Some(information) = self.information {
            bytes.extend_from_slice(&[0x00, 0x0a, 0x80, 0x00]);
            bytes.extend_from_slice(&information.to_be_bytes());
        }
        if let Some(pointer) = self.pointer() {
            bytes.extend_from_slice(&[0x02, 0x06, 0x00, 0x00]);
            bytes.extend_from_slice(&pointer);
            bytes.push(0);
        }
        bytes[7] = (bytes.len() - 8) as u8;
        bytes
    }
}
