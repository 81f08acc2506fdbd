//! Zstandard (RFC 8878): reads all frames of a file, skips skippable ones and
//! verifies checksums.

use std::io::{BufRead, Error, ErrorKind, Read, Result};
use zstd::stream::raw::{Decoder, Operation as _};
use zstd::zstd_safe::DParameter;

/// The most bytes of a window, as a power of two: as for `zstd -d`, which needs
/// `--long` above.
const WINDOW_LOG: u32 = 27;
/// The first bytes of a frame that is not skippable.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Reads the frames of `source` one after the other.
pub struct Zstd<R> {
    source: R,
    frame: Decoder<'static>,
    /// Whether a frame is being read.
    inside: bool,
    /// Whether the decoder may hold more than the last buffer took.
    full: bool,
}

impl<R: BufRead> Zstd<R> {
    /// Reads from `source`.
    pub fn new(source: R) -> Result<Self> {
        let mut frame = Decoder::new()?;
        frame.set_parameter(DParameter::WindowLogMax(WINDOW_LOG))?;
        Ok(Self { source, frame, inside: false, full: false })
    }

    /// Begins the next frame; false at the end of the file.
    fn begin(&mut self) -> Result<bool> {
        if self.source.fill_buf()?.is_empty() {
            return Ok(false);
        }
        let mut header = Vec::new();
        self.take(MAGIC.len(), &mut header)?;
        if header == MAGIC {
            let window = self.window(&mut header)?;
            if window > 1 << WINDOW_LOG {
                let [declared, most] = [window, 1 << WINDOW_LOG].map(|bytes| bytes >> 20);
                return Err(Error::new(
                    ErrorKind::OutOfMemory,
                    format!("declare a window of {declared} MiB: at most {most} MiB are allowed"),
                ));
            }
        }
        self.frame.run_on_buffers(&header, &mut [])?;
        Ok(true)
    }

    /// Reads on in the header as far as the bytes of the window (section
    /// 3.1.1.1), and returns them: the decoder does not tell what it refuses.
    fn window(&mut self, header: &mut Vec<u8>) -> Result<u64> {
        let descriptor = self.take(1, header)?[0];
        if descriptor & 0x20 == 0 {
            let byte = self.take(1, header)?[0];
            let base = 1_u64 << (10 + (byte >> 3));
            return Ok(base + base / 8 * u64::from(byte & 7));
        }
        // A single segment: the window is the content.
        self.take([0, 1, 2, 4][usize::from(descriptor & 3)], header)?;
        let content = self.take(1 << (descriptor >> 6), header)?;
        let bytes = content.iter().rfold(0, |bytes, byte| bytes << 8 | u64::from(*byte));
        Ok(bytes + if content.len() == 2 { 256 } else { 0 })
    }

    /// Reads the next `count` bytes of the header.
    fn take<'a>(&mut self, count: usize, header: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        let start = header.len();
        header.resize(start + count, 0);
        self.source.read_exact(&mut header[start..])?;
        Ok(&header[start..])
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        while !buffer.is_empty() && (self.inside || self.begin()?) {
            self.inside = true;
            let source = if self.full { &[] } else { self.source.fill_buf()? };
            let is_cut = source.is_empty() && !self.full;
            let done = self.frame.run_on_buffers(source, buffer)?;
            self.source.consume(done.bytes_read);
            self.inside = done.remaining > 0;
            self.full = done.bytes_written == buffer.len();
            if done.bytes_written > 0 {
                return Ok(done.bytes_written);
            }
            if is_cut && self.inside {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(0)
    }
}
