//! The contents of the media: a sparse store of bytes.

/// The unit of allocation in bytes.
const CHUNK_BYTES: usize = 1 << 17;

/// The bytes of a device; unwritten ones are 0 and take no memory.
#[derive(Debug, Default)]
pub struct Store {
    chunks: Vec<Option<Box<[u8]>>>,
}

impl Store {
    /// Clears all bytes.
    pub fn clear(&mut self) {
        self.chunks.clear();
    }

    /// Writes `bytes` from byte `at` of the device on.
    pub fn write(&mut self, at: u64, bytes: &[u8]) {
        let mut rest = bytes;
        let mut at = at as usize;
        while !rest.is_empty() {
            let (chunk, from) = (at / CHUNK_BYTES, at % CHUNK_BYTES);
            let (now, later) = rest.split_at(rest.len().min(CHUNK_BYTES - from));
            if chunk >= self.chunks.len() {
                self.chunks.resize(chunk + 1, None);
            }
            let kept =
                self.chunks[chunk].get_or_insert_with(|| vec![0; CHUNK_BYTES].into_boxed_slice());
            kept[from..from + now.len()].copy_from_slice(now);
            at += now.len();
            rest = later;
        }
    }

    /// Reads from byte `at` of the device on into all of `bytes`.
    pub fn read(&self, at: u64, bytes: &mut [u8]) {
        let mut rest = bytes;
        let mut at = at as usize;
        while !rest.is_empty() {
            let (chunk, from) = (at / CHUNK_BYTES, at % CHUNK_BYTES);
            let now = rest.len().min(CHUNK_BYTES - from);
            let (now, later) = rest.split_at_mut(now);
            match self.chunks.get(chunk) {
                Some(Some(kept)) => now.copy_from_slice(&kept[from..from + now.len()]),
                _ => now.fill(0),
            }
            at += now.len();
            rest = later;
        }
    }
}
