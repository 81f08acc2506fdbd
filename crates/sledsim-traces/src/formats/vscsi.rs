//! VMware's vscsiStats traces, versions 1 and 2, as in the CloudPhysics set.

use crate::bytes::{Bytes, field};
use crate::format::{Clock, Format};
use crate::reader::Reader;
use crate::record::{END_BYTES, LATEST_NS, Record};
use sledsim_base::error::{Error, Result};
use sledsim_base::request::Op;
use sledsim_base::units::{BLOCK_BYTES, Nanos};

/// Its registration.
pub(super) const ENTRY: Format = Format {
    name: "vscsi",
    about: "VMware vscsiStats, binary, versions 1 and 2",
    endings: &["vscsi", "vscsitrace", "vscsi1", "vscsi2"],
    clock: Clock::Calendar,
    by_columns: false,
    units: None,
    by_action: false,
    open: |input, _| Ok(Box::new(Vscsi::new(Bytes::new(input))?)),
};

/// Little-endian records of 32 or 40 bytes, one virtual disk per file. The
/// upper byte of the version field of the first record is the version:
///
/// - 1: `u32 serial, u32 bytes, u32 nSG, u16 opcode, u16 version, u64 LBN,
///   u64 us`;
/// - 2: `u16 opcode, u16 version, u32 serial, u32 bytes, u32 nSG, u64 LBN,
///   u64 us, u64 response_us`.
///
/// The opcode is that of the SCSI command, the LBN counts blocks of 512 bytes.
pub struct Vscsi {
    bytes: Bytes,
    layout: FieldOffsets,
}

/// The offsets of the fields of a version.
#[derive(Clone, Copy)]
struct FieldOffsets {
    version: u16,
    record: usize,
    version_at: usize,
    opcode_at: usize,
    bytes_at: usize,
    lbn_at: usize,
    us_at: usize,
    response_us_at: Option<usize>,
}

const VERSION_1: FieldOffsets = FieldOffsets {
    version: 1,
    record: 32,
    version_at: 14,
    opcode_at: 12,
    bytes_at: 4,
    lbn_at: 16,
    us_at: 24,
    response_us_at: None,
};

const VERSION_2: FieldOffsets = FieldOffsets {
    version: 2,
    record: 40,
    version_at: 2,
    opcode_at: 0,
    bytes_at: 8,
    lbn_at: 16,
    us_at: 24,
    response_us_at: Some(32),
};

impl FieldOffsets {
    #[inline]
    fn version_in(&self, record: &[u8]) -> u16 {
        u16::from_le_bytes(field(record, self.version_at)) >> 8
    }
}

impl Vscsi {
    /// Reads from `bytes`; the first record determines the version.
    pub fn new(mut bytes: Bytes) -> Result<Self> {
        let first = bytes.peek(VERSION_1.record)?;
        if first.len() < VERSION_1.record {
            let problem = match first.len() {
                0 => "no requests".to_owned(),
                found => format!("{found} bytes: a vSCSI record has 32 or 40"),
            };
            return Err(bytes.refuse(problem));
        }
        let fits = |layout: &&FieldOffsets| layout.version_in(first) == layout.version;
        if let Some(&layout) = [VERSION_2, VERSION_1].iter().find(fits) {
            return Ok(Self { bytes, layout });
        }
        let found = [VERSION_1, VERSION_2].map(|layout| layout.version_in(first));
        let [one, two] = found;
        Err(bytes.refuse(format!(
            "not a vSCSI trace: its version is {one} in a record of version 1, and {two} in one \
             of version 2"
        )))
    }
}

/// The operation of a SCSI command, by its opcode.
#[inline]
fn operation(opcode: u16) -> Option<Op> {
    match opcode {
        0x28 | 0x88 | 0xa8 | 0x08 => Some(Op::Read),
        // WRITE, then WRITE AND VERIFY.
        0x2a | 0x8a | 0xaa | 0x0a | 0x2e | 0x8e | 0xae => Some(Op::Write),
        // SYNCHRONIZE CACHE.
        0x35 | 0x91 => Some(Op::Flush),
        _ => None,
    }
}

impl Reader for Vscsi {
    fn next(&mut self) -> Result<Option<Record>> {
        let layout = self.layout;
        let Some(record) = self.bytes.take(layout.record)? else {
            return Ok(None);
        };
        let version = layout.version_in(record);
        let opcode = u16::from_le_bytes(field(record, layout.opcode_at));
        let bytes = u32::from_le_bytes(field(record, layout.bytes_at));
        let lbn = u64::from_le_bytes(field(record, layout.lbn_at));
        let us = u64::from_le_bytes(field(record, layout.us_at));
        let response_us = layout.response_us_at.map(|at| u64::from_le_bytes(field(record, at)));
        let bad = |problem: String| Err(self.bytes.refuse(problem));
        if version != layout.version {
            let expected = layout.version;
            return bad(format!(
                "version is {version}: must be {expected}, as in the first record"
            ));
        }
        let Some(op) = operation(opcode) else {
            return bad(format!(
                "opcode is {opcode:#04x}: must be a SCSI READ (0x08, 0x28, 0x88, 0xa8), WRITE \
                 (0x0a, 0x2a, 0x8a, 0xaa; and verify 0x2e, 0x8e, 0xae) or SYNCHRONIZE CACHE \
                 (0x35, 0x91)"
            ));
        };
        let ns = |us: u64| us.checked_mul(1_000).filter(|&ns| ns <= LATEST_NS);
        let Some(time) = ns(us) else {
            return bad(format!("time is {us} us: must be at most 9e15"));
        };
        let response = match response_us.map(|us| (us, ns(us))) {
            Some((us, None)) => {
                return bad(format!("response is {us} us: must be at most 9e15"));
            }
            Some((_, Some(ns))) => Some(Nanos(ns)),
            None => None,
        };
        let mut found = Record { time: Nanos(time), op, response, ..Record::default() };
        if op != Op::Flush {
            if bytes == 0 {
                return bad("bytes is 0: must be at least 1".to_owned());
            }
            let offset = lbn.checked_mul(BLOCK_BYTES);
            let offset = offset.filter(|&at| at <= END_BYTES - u64::from(bytes));
            let Some(offset) = offset else {
                return bad(format!(
                    "LBN is {lbn}: must be a number of 512-byte blocks, the request ending by 2^54"
                ));
            };
            (found.offset, found.bytes) = (offset, u64::from(bytes));
        }
        Ok(Some(found))
    }

    fn refuse(&self, problem: String) -> Error {
        self.bytes.refuse(problem)
    }

    fn bytes_read(&self) -> u64 {
        self.bytes.bytes_read()
    }
}
