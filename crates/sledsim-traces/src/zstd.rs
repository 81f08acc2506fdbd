//! Zstandard (RFC 8878): reads all frames of a file, skips skippable ones and
//! verifies checksums.

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{BufRead, Error, ErrorKind, Read, Result};

/// The most bytes of a window: as for `zstd -d`, which needs `--long` above.
const WINDOW_BYTES: u64 = 128 << 20;

/// Reads the frames of `source` one after the other.
pub struct Zstd<R> {
    source: R,
    frame: FrameDecoder,
    /// Whether a frame is being read.
    inside: bool,
}

impl<R: BufRead> Zstd<R> {
    /// Reads from `source`.
    pub fn new(source: R) -> Self {
        let mut frame = FrameDecoder::new();
        frame.set_max_window_size(WINDOW_BYTES);
        Self { source, frame, inside: false }
    }

    /// Begins the next frame; false at the end of the file.
    fn begin(&mut self) -> Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.frame.init(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let mut rest = (&mut self.source).take(u64::from(length));
                    if std::io::copy(&mut rest, &mut std::io::sink())? < u64::from(length) {
                        return Err(ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(problem(error)),
            }
        }
        Ok(false)
    }

    /// Compares the checksum of the frame, read to its end, with its content.
    fn verify(&self) -> Result<()> {
        let stated = self.frame.get_checksum_from_data();
        if stated.is_some() && stated != self.frame.get_calculated_checksum() {
            return Err(Error::new(ErrorKind::InvalidData, "wrong checksum"));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.inside {
                if !self.begin()? {
                    return Ok(0);
                }
                self.inside = true;
            }
            while self.frame.can_collect() == 0 && !self.frame.is_finished() {
                let wanted = BlockDecodingStrategy::UptoBytes(buffer.len());
                let decoded = self.frame.decode_blocks(&mut self.source, wanted);
                decoded.map_err(problem)?;
            }
            let count = self.frame.read(buffer)?;
            if count > 0 {
                return Ok(count);
            }
            self.verify()?;
            self.inside = false;
        }
    }
}

/// Converts to an I/O error: the underlying one, if there is one.
fn problem(error: FrameDecoderError) -> Error {
    if let FrameDecoderError::WindowSizeTooBig { requested, max } = error {
        let [declared, most] = [requested, max].map(|bytes| bytes >> 20);
        return Error::new(
            ErrorKind::OutOfMemory,
            format!("declare a window of {declared} MiB: at most {most} MiB are allowed"),
        );
    }
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<Error>() {
            return match error.raw_os_error() {
                Some(number) => Error::from_raw_os_error(number),
                None => error.kind().into(),
            };
        }
        cause = error.source();
    }
    Error::new(ErrorKind::InvalidData, error)
}
