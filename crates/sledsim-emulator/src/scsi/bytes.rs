//! Fields in big-endian order.

/// The `N` bytes from `at` on; the caller checks the length.
fn field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[at..at + N]);
    field
}

/// Two bytes from `at` on.
pub(crate) fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(field(bytes, at))
}

/// Four bytes from `at` on.
pub(crate) fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(field(bytes, at))
}

/// Eight bytes from `at` on.
pub(crate) fn be64(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(field(bytes, at))
}

/// Writes `field` at `at`.
pub(crate) fn put(bytes: &mut [u8], at: usize, field: &[u8]) {
    bytes[at..at + field.len()].copy_from_slice(field);
}

/// The first of `data`: no more than the allocation length of the CDB.
pub(super) fn truncated(mut data: Vec<u8>, allocation: u32) -> Vec<u8> {
    data.truncate(allocation as usize);
    data
}
