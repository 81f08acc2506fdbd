//! Protocol data units (RFC 7143, section 11): a header of 48 bytes, additional headers,
//! data, and digests of both.

use crate::net::{ClientErrorKind, End, Header, Input};
use crate::scsi::bytes::{be16, be32, be64};
use smallvec::SmallVec;

/// Operation codes of initiators.
pub(super) const NOP_OUT: u8 = 0x00;
pub(super) const SCSI_COMMAND: u8 = 0x01;
pub(super) const TASK_MANAGEMENT: u8 = 0x02;
pub(super) const LOGIN: u8 = 0x03;
pub(super) const TEXT: u8 = 0x04;
pub(super) const DATA_OUT: u8 = 0x05;
pub(super) const LOGOUT: u8 = 0x06;
pub(super) const SNACK: u8 = 0x10;

/// Operation codes of targets.
pub(super) const NOP_IN: u8 = 0x20;
pub(super) const SCSI_RESPONSE: u8 = 0x21;
pub(super) const TASK_MANAGEMENT_RESPONSE: u8 = 0x22;
pub(super) const LOGIN_RESPONSE: u8 = 0x23;
pub(super) const TEXT_RESPONSE: u8 = 0x24;
pub(super) const DATA_IN: u8 = 0x25;
pub(super) const LOGOUT_RESPONSE: u8 = 0x26;
pub(super) const R2T: u8 = 0x31;
pub(super) const REJECT: u8 = 0x3f;

/// The final bit of byte 1.
pub(super) const FINAL: u8 = 1 << 7;

/// No tag.
pub(super) const NO_TAG: u32 = u32::MAX;

/// Bytes of the basic header.
pub(super) const HEADER_BYTES: usize = 48;

/// The type of an additional header with the rest of a long CDB.
const EXTENDED_CDB: u8 = 1;

/// A CDB.
pub(super) type Cdb = SmallVec<[u8; 32]>;

/// The header of a received PDU.
pub(super) struct Received {
    /// The basic header.
    pub(super) bytes: [u8; HEADER_BYTES],
    /// The CDB beyond its 16 bytes, if any.
    extended_cdb: SmallVec<[u8; 16]>,
}

impl Received {
    pub(super) fn opcode(&self) -> u8 {
        self.bytes[0] & 0x3f
    }

    pub(super) fn is_immediate(&self) -> bool {
        self.bytes[0] & 0x40 != 0
    }

    pub(super) fn is_final(&self) -> bool {
        self.bytes[1] & FINAL != 0
    }

    /// Bytes of data, without padding.
    pub(super) fn data_bytes(&self) -> usize {
        (be32(&self.bytes, 4) & 0xff_ffff) as usize
    }

    pub(super) fn lun(&self) -> u64 {
        be64(&self.bytes, 8)
    }

    /// The initiator task tag.
    pub(super) fn tag(&self) -> u32 {
        be32(&self.bytes, 16)
    }

    pub(super) fn cmd_sn(&self) -> u32 {
        be32(&self.bytes, 24)
    }

    /// The field of four bytes at `at`.
    pub(super) fn field(&self, at: usize) -> u32 {
        be32(&self.bytes, at)
    }

    /// The CDB of a command.
    pub(super) fn cdb(&self) -> Cdb {
        let mut cdb = Cdb::from_slice(&self.bytes[32..]);
        cdb.extend_from_slice(&self.extended_cdb);
        cdb
    }
}

/// Which digests PDUs have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Digests {
    pub(super) header: bool,
    pub(super) data: bool,
}

/// Bytes of a digest.
const DIGEST: usize = 4;

/// Bytes until the next multiple of 4.
fn padding(bytes: usize) -> usize {
    bytes.wrapping_neg() % 4
}

fn protocol(why: impl Into<String>) -> End {
    End::Bad(ClientErrorKind::Protocol, why.into())
}

impl Digests {
    /// Bytes that a header without additional ones takes.
    pub(super) fn header_bytes(self) -> usize {
        HEADER_BYTES + if self.header { DIGEST } else { 0 }
    }

    /// Bytes that `data` bytes take.
    pub(super) fn data_bytes(self, data: usize) -> usize {
        let digest = if self.data && data > 0 { DIGEST } else { 0 };
        data + padding(data) + digest
    }

    /// Waits for a header; [`End::Eof`] if the initiator has sent its last byte before.
    pub(super) fn receive_header(self, input: &mut Input) -> Result<Received, End> {
        let mut bytes = [0; HEADER_BYTES];
        bytes.copy_from_slice(input.take(HEADER_BYTES)?);
        let additional = usize::from(bytes[4]) * 4;
        let digest = self.header_bytes() - HEADER_BYTES;
        let rest = input.take_rest(additional + digest).map_err(inside)?;
        let (headers, digest) = rest.split_at(additional);
        if self.header {
            let sum = crc32c::crc32c_append(crc32c::crc32c(&bytes), headers);
            if digest != sum.to_le_bytes() {
                return Err(protocol("a header has a wrong digest"));
            }
        }
        Ok(Received { bytes, extended_cdb: extended_cdb(headers)? })
    }

    /// Waits for the data of a PDU.
    pub(super) fn receive_data(self, input: &mut Input, bytes: usize) -> Result<&[u8], End> {
        let whole = input.take_rest(self.data_bytes(bytes)).map_err(inside)?;
        if self.data && bytes > 0 {
            let (padded, digest) = whole.split_at(whole.len() - DIGEST);
            if digest != crc32c::crc32c(padded).to_le_bytes() {
                return Err(protocol("data have a wrong digest"));
            }
        }
        Ok(&whole[..bytes])
    }

    /// Completes a header and its data for sending: their length, padding and digests.
    pub(super) fn seal(self, head: &mut Header, data: &mut Vec<u8>) {
        let bytes = data.len();
        head[5..8].copy_from_slice(&(bytes as u32).to_be_bytes()[1..]);
        if self.header {
            let sum = crc32c::crc32c(head);
            head.extend_from_slice(&sum.to_le_bytes());
        }
        data.resize(bytes + padding(bytes), 0);
        if self.data && bytes > 0 {
            let sum = crc32c::crc32c(data);
            data.extend_from_slice(&sum.to_le_bytes());
        }
    }
}

/// An end of input inside a PDU is an error.
fn inside(end: End) -> End {
    match end {
        End::Eof => crate::net::cut_short(),
        end => end,
    }
}

/// The rest of a long CDB in the additional headers.
fn extended_cdb(mut headers: &[u8]) -> Result<SmallVec<[u8; 16]>, End> {
    let mut cdb = SmallVec::new();
    while headers.len() >= 4 {
        let bytes = usize::from(be16(headers, 0));
        let whole = 3 + bytes;
        let whole = whole + padding(whole);
        if bytes == 0 || whole > headers.len() {
            return Err(protocol("an additional header is longer than all of them"));
        }
        if headers[2] & 0x3f == EXTENDED_CDB {
            // One reserved byte precedes it.
            cdb.extend_from_slice(&headers[4..3 + bytes]);
        }
        headers = &headers[whole..];
    }
    Ok(cdb)
}

/// The header of a PDU to be sent.
pub(super) fn header(opcode: u8, flags: u8, lun: u64, tag: u32) -> Header {
    let mut head = Header::from_elem(0, HEADER_BYTES);
    head[0] = opcode;
    head[1] = flags;
    head[8..16].copy_from_slice(&lun.to_be_bytes());
    set(&mut head, 16, tag);
    head
}

/// Sets the field of four bytes at `at`.
pub(super) fn set(head: &mut Header, at: usize, field: u32) {
    head[at..at + 4].copy_from_slice(&field.to_be_bytes());
}
