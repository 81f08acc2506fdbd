//! One file read at several positions at the same time.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

/// A file that several readers read, each at its own position.
#[derive(Clone, Debug)]
pub struct SharedFile {
    file: Arc<File>,
    bytes: u64,
}

impl SharedFile {
    /// The file with its current length.
    pub fn of(file: File) -> io::Result<Self> {
        let bytes = file.metadata()?.len();
        let file = Arc::new(file);
        Ok(Self { file, bytes })
    }

    /// The first `bytes` bytes of the file.
    pub(crate) fn with_bytes(file: Arc<File>, bytes: u64) -> Self {
        Self { file, bytes }
    }

    /// Its length in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A reader from the byte `at` on, independent of all others.
    pub fn reader_at(&self, at: u64) -> impl Read + Send + use<> {
        let file = Arc::clone(&self.file);
        At { file, at }
    }
}

/// A position in a file.
struct At {
    file: Arc<File>,
    at: u64,
}

impl Read for At {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let count = std::os::unix::fs::FileExt::read_at(&*self.file, buffer, self.at)?;
        #[cfg(windows)]
        let count = std::os::windows::fs::FileExt::seek_read(&*self.file, buffer, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}
