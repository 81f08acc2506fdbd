//! The constants of the protocol, and its fields in network byte order.

use crate::errno::Errno;

/// `NBDMAGIC`, the first bytes of a server.
pub(super) const INIT_MAGIC: u64 = 0x4e42_444d_4147_4943;
/// `IHAVEOPT`, before the flags of a server and before every option.
pub(super) const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
pub(super) const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
pub(super) const REQUEST_MAGIC: u32 = 0x2560_9513;
pub(super) const SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
pub(super) const CHUNK_MAGIC: u32 = 0x668e_33ef;

/// Handshake flags, the same bits for server and client.
pub(super) const FIXED_NEWSTYLE: u16 = 1 << 0;
pub(super) const NO_ZEROES: u16 = 1 << 1;

/// Options.
pub(super) const OPT_EXPORT_NAME: u32 = 1;
pub(super) const OPT_ABORT: u32 = 2;
pub(super) const OPT_LIST: u32 = 3;
pub(super) const OPT_STARTTLS: u32 = 5;
pub(super) const OPT_INFO: u32 = 6;
pub(super) const OPT_GO: u32 = 7;
pub(super) const OPT_STRUCTURED_REPLY: u32 = 8;
pub(super) const OPT_LIST_META_CONTEXT: u32 = 9;
pub(super) const OPT_SET_META_CONTEXT: u32 = 10;

/// Replies to options.
pub(super) const REP_ACK: u32 = 1;
pub(super) const REP_SERVER: u32 = 2;
pub(super) const REP_INFO: u32 = 3;
pub(super) const REP_META_CONTEXT: u32 = 4;
pub(super) const REP_ERR_UNSUP: u32 = 1 << 31 | 1;
pub(super) const REP_ERR_POLICY: u32 = 1 << 31 | 2;
pub(super) const REP_ERR_INVALID: u32 = 1 << 31 | 3;
pub(super) const REP_ERR_TLS_REQD: u32 = 1 << 31 | 5;
pub(super) const REP_ERR_UNKNOWN: u32 = 1 << 31 | 6;
/// The server is shutting down, or the device has no power.
pub(super) const REP_ERR_SHUTDOWN: u32 = 1 << 31 | 7;
pub(super) const REP_ERR_TOO_BIG: u32 = 1 << 31 | 9;

/// Information types of an export.
pub(super) const INFO_EXPORT: u16 = 0;
pub(super) const INFO_NAME: u16 = 1;
pub(super) const INFO_BLOCK_SIZE: u16 = 3;

/// Transmission flags.
pub(super) const HAS_FLAGS: u16 = 1 << 0;
pub(super) const READ_ONLY: u16 = 1 << 1;
pub(super) const SEND_FLUSH: u16 = 1 << 2;
pub(super) const SEND_FUA: u16 = 1 << 3;
pub(super) const SEND_TRIM: u16 = 1 << 5;
pub(super) const SEND_WRITE_ZEROES: u16 = 1 << 6;
pub(super) const SEND_DF: u16 = 1 << 7;
pub(super) const CAN_MULTI_CONN: u16 = 1 << 8;
pub(super) const SEND_CACHE: u16 = 1 << 10;
pub(super) const SEND_FAST_ZERO: u16 = 1 << 11;

/// Commands.
pub(super) const CMD_READ: u16 = 0;
pub(super) const CMD_WRITE: u16 = 1;
pub(super) const CMD_DISC: u16 = 2;
pub(super) const CMD_FLUSH: u16 = 3;
pub(super) const CMD_TRIM: u16 = 4;
pub(super) const CMD_CACHE: u16 = 5;
pub(super) const CMD_WRITE_ZEROES: u16 = 6;
pub(super) const CMD_BLOCK_STATUS: u16 = 7;

/// Flags of commands.
pub(super) const FLAG_FUA: u16 = 1 << 0;
pub(super) const FLAG_NO_HOLE: u16 = 1 << 1;
pub(super) const FLAG_DF: u16 = 1 << 2;
pub(super) const FLAG_REQ_ONE: u16 = 1 << 3;
pub(super) const FLAG_FAST_ZERO: u16 = 1 << 4;

/// Chunks of structured replies; the last one of a reply is marked.
pub(super) const CHUNK_DONE: u16 = 1;
pub(super) const CHUNK_NONE: u16 = 0;
pub(super) const CHUNK_OFFSET_DATA: u16 = 1;
pub(super) const CHUNK_BLOCK_STATUS: u16 = 5;
pub(super) const CHUNK_ERROR: u16 = 1 << 15 | 1;

/// States in `base:allocation`.
pub(super) const STATE_HOLE: u32 = 1 << 0;
pub(super) const STATE_ZERO: u32 = 1 << 1;

/// Block sizes: minimum, preferred, and the most bytes of a request.
pub(super) const BLOCK_MINIMUM: u32 = 512;
pub(super) const BLOCK_PREFERRED: u32 = 4096;
pub(super) const PAYLOAD_MAXIMUM: u32 = 32 << 20;

/// The longest string of the protocol.
pub(super) const STRING_MAXIMUM: usize = 4096;

/// A request of the transmission phase; a write is followed by its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) flags: u16,
    pub(super) command: u16,
    pub(super) cookie: u64,
    pub(super) offset: u64,
    pub(super) length: u32,
}

impl Request {
    /// Bytes of a request.
    pub(super) const BYTES: usize = 28;

    /// Decodes a request; returns the bad magic number otherwise.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, u32> {
        let mut fields = Fields(bytes);
        let magic = fields.u32().unwrap_or(0);
        let mut decode = || {
            Some(Self {
                flags: fields.u16()?,
                command: fields.u16()?,
                cookie: fields.u64()?,
                offset: fields.u64()?,
                length: fields.u32()?,
            })
        };
        if magic == REQUEST_MAGIC { decode() } else { None }.ok_or(magic)
    }
}

/// Fields in order; `None` at the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (some, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(some)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// A string preceded by its length.
    pub(super) fn string(&mut self) -> Option<&'a str> {
        let count = self.u32()? as usize;
        if count > STRING_MAXIMUM {
            return None;
        }
        std::str::from_utf8(self.bytes(count)?).ok()
    }
}

/// Maps an error to the error numbers of the protocol.
pub(super) fn error_number(errno: Errno) -> u32 {
    match errno {
        Errno::PERM | Errno::ACCESS | Errno::ROFS => 1,
        Errno::NOMEM => 12,
        Errno::INVAL => 22,
        Errno::NOSPC | Errno::DQUOT | Errno::FBIG => 28,
        Errno::OVERFLOW => 75,
        Errno::OPNOTSUPP => 95,
        Errno::SHUTDOWN => 108,
        _ => 5,
    }
}
