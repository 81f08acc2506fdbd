//! A file that is read at any place.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

/// A file that is read at any place, by several at once.
#[derive(Clone, Debug)]
pub struct Whole {
    file: Arc<File>,
    bytes: u64,
}

impl Whole {
    /// That file, as long as it is now.
    ///
    /// # Errors
    /// What the system says of its length.
    pub fn of(file: File) -> io::Result<Self> {
        let bytes = file.metadata()?.len();
        let file = Arc::new(file);
        Ok(Self { file, bytes })
    }

    /// The first so many bytes of that file.
    pub(crate) fn with_bytes(file: Arc<File>, bytes: u64) -> Self {
        Self { file, bytes }
    }

    /// Its length in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads from the byte `at` on; others may read elsewhere meanwhile.
    #[must_use]
    pub fn from(&self, at: u64) -> impl Read + Send + use<> {
        let file = Arc::clone(&self.file);
        At { file, at }
    }
}

/// A place in a file.
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
