//! Encoding of options and of the replies to them.

use super::wire::*;
use crate::export::Export;

/// The data of `NBD_OPT_INFO` and `NBD_OPT_GO`.
pub(super) struct Info<'a> {
    pub(super) name: &'a str,
    pub(super) wants_name: bool,
}

impl<'a> Info<'a> {
    pub(super) fn decode(data: &'a [u8]) -> Option<Self> {
        let mut fields = Fields(data);
        let name = fields.string()?;
        let mut wants_name = false;
        for _ in 0..fields.u16()? {
            wants_name |= fields.u16()? == INFO_NAME;
        }
        fields.0.is_empty().then_some(Self { name, wants_name })
    }
}

/// The data of the options about metadata contexts.
pub(super) struct MetaQuery<'a> {
    pub(super) name: &'a str,
    pub(super) queries: Vec<&'a str>,
}

impl<'a> MetaQuery<'a> {
    pub(super) fn decode(data: &'a [u8]) -> Option<Self> {
        let mut fields = Fields(data);
        let name = fields.string()?;
        let mut queries = Vec::new();
        for _ in 0..fields.u32()? {
            queries.push(fields.string()?);
        }
        fields.0.is_empty().then_some(Self { name, queries })
    }
}

/// The transmission flags of `export`.
pub(super) fn flags(export: &Export, structured: bool) -> u16 {
    let always = HAS_FLAGS | SEND_FLUSH | SEND_FUA | SEND_CACHE | CAN_MULTI_CONN;
    let writes = match export.is_read_only() {
        true => READ_ONLY,
        false => SEND_TRIM | SEND_WRITE_ZEROES | SEND_FAST_ZERO,
    };
    always | writes | if structured { SEND_DF } else { 0 }
}

/// A string preceded by its length.
pub(super) fn string(text: &str) -> Vec<u8> {
    let length = text.len() as u32;
    [&length.to_be_bytes(), text.as_bytes()].concat()
}

/// `NBD_INFO_EXPORT`.
pub(super) fn export(export: &Export, structured: bool) -> Vec<u8> {
    let mut info = INFO_EXPORT.to_be_bytes().to_vec();
    info.extend_from_slice(&export.bytes().to_be_bytes());
    info.extend_from_slice(&flags(export, structured).to_be_bytes());
    info
}

/// `NBD_INFO_NAME`.
pub(super) fn name(export: &Export) -> Vec<u8> {
    [&INFO_NAME.to_be_bytes(), export.name().as_bytes()].concat()
}

/// `NBD_INFO_BLOCK_SIZE`.
pub(super) fn block_size() -> Vec<u8> {
    let mut info = INFO_BLOCK_SIZE.to_be_bytes().to_vec();
    for size in [BLOCK_MINIMUM, BLOCK_PREFERRED, PAYLOAD_MAXIMUM] {
        info.extend_from_slice(&size.to_be_bytes());
    }
    info
}
