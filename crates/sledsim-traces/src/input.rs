//! The bytes of a trace, decompressed.

use super::shared_file::SharedFile;
use super::xz::Xz;
use super::zstd::Zstd;
use sledsim_base::error::{Error, Result};
use std::io::{BufReader, Cursor, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How a file is compressed, recognised by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Uncompressed.
    None,
    /// The format of the program bzip2, one stream or several.
    Bzip2,
    /// RFC 1952, one member or several.
    Gzip,
    /// RFC 8878, one frame or several.
    Zstd,
    /// The .xz format, one stream or several.
    Xz,
}

impl Compression {
    /// The name used in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Bzip2 => "bzip2",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Xz => "xz",
        }
    }

    fn of(head: &[u8]) -> Self {
        match head {
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, ..]
            | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, ..] => Self::Bzip2,
            [0x1f, 0x8b, ..] => Self::Gzip,
            // A frame, or a skippable frame before it.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            _ => Self::None,
        }
    }
}

/// The bytes of a trace used to recognise its format; more than the longest
/// line.
const HEAD_BYTES: usize = 1 << 17;
const RAW_BUFFER: usize = 1 << 17;
/// The first bytes that identify the compression.
const MAGIC_BYTES: u64 = 6;

/// The bytes of a trace, decompressed, with its name for messages.
pub struct Input {
    name: String,
    /// The undecoded file, if it is a file.
    file: Option<SharedFile>,
    compression: Compression,
    bytes: Box<dyn Read + Send>,
    /// Read ahead of `bytes` by [`Input::head`].
    head: Cursor<Vec<u8>>,
    /// The error that ended the head; reported once the head is consumed.
    problem: Option<String>,
    /// The number of bytes returned.
    read: u64,
    read_counter: ReadCounter,
}

/// Counts the bytes read of a file; may be queried while another thread reads.
#[derive(Clone, Debug, Default)]
pub struct ReadCounter {
    read: Arc<AtomicU64>,
    /// Whether the end was reached.
    ended: Arc<AtomicBool>,
    /// `None` for a stream without a length, such as a pipe.
    size: Option<u64>,
}

impl ReadCounter {
    /// The share of the (compressed) file read so far, if its length is known.
    pub fn share(&self) -> Option<f64> {
        let size = self.size.filter(|size| *size > 0)?;
        Some((self.read.load(Ordering::Relaxed) as f64 / size as f64).min(1.0))
    }
}

/// Counts the bytes read from `inner`.
struct Counted<R> {
    inner: R,
    read_counter: ReadCounter,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.read_counter.read.fetch_add(count as u64, Ordering::Relaxed);
        if count == 0 && !buffer.is_empty() {
            self.read_counter.ended.store(true, Ordering::Relaxed);
        }
        Ok(count)
    }
}

impl Input {
    /// Reads a file from its start; messages call it `name`.
    pub(super) fn from_file(name: &str, file: SharedFile) -> Result<Self> {
        let bytes = Box::new(file.reader_at(0));
        Ok(Self::sized(name, bytes, Some(file.bytes()))?.with_file(Some(file)))
    }

    /// Adds the file, for formats that need random access.
    pub(super) fn with_file(mut self, file: Option<SharedFile>) -> Self {
        self.file = file;
        self
    }

    /// The undecoded file (compressed, if it is), if it is a file.
    pub fn as_file(&self) -> Option<&SharedFile> {
        self.file.as_ref()
    }

    /// The total number of bytes, if known without decompression.
    pub(super) fn bytes(&self) -> Option<u64> {
        let plain = self.compression == Compression::None;
        self.read_counter.size.filter(|_| plain)
    }

    /// Reads from any source; messages call it `name`.
    pub fn new(name: &str, raw: Box<dyn Read + Send>) -> Result<Self> {
        Self::sized(name, raw, None)
    }

    fn sized(name: &str, raw: Box<dyn Read + Send>, size: Option<u64>) -> Result<Self> {
        let failed = |problem: &dyn std::fmt::Display| Error::trace(Path::new(name), problem);
        let read_counter = ReadCounter { size, ..ReadCounter::default() };
        let mut raw = Counted { inner: raw, read_counter: read_counter.clone() };
        let mut head = Vec::new();
        let read = (&mut raw).take(MAGIC_BYTES).read_to_end(&mut head);
        read.map_err(|error| failed(&error))?;
        let compression = Compression::of(&head);
        let whole = Cursor::new(head).chain(raw);
        let buffered = |whole| BufReader::with_capacity(RAW_BUFFER, whole);
        let bytes: Box<dyn Read + Send> = match compression {
            Compression::None => Box::new(whole),
            Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(buffered(whole))),
            Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(buffered(whole))),
            Compression::Zstd => {
                Box::new(Zstd::new(buffered(whole)).map_err(|error| failed(&error))?)
            }
            Compression::Xz => Box::new(Xz::new(buffered(whole))),
        };
        Ok(Self { compression, read_counter, ..Self::of(name, Vec::new(), bytes) })
    }

    /// `head`, then `rest`, both uncompressed.
    pub(super) fn of(name: &str, head: Vec<u8>, rest: Box<dyn Read + Send>) -> Self {
        Self {
            name: name.to_owned(),
            file: None,
            compression: Compression::None,
            bytes: rest,
            head: Cursor::new(head),
            problem: None,
            read: 0,
            read_counter: ReadCounter::default(),
        }
    }

    /// The name used in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The compression.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// The counter of the bytes read.
    pub fn read_counter(&self) -> ReadCounter {
        self.read_counter.clone()
    }

    /// The first bytes (128 KiB, or all), without taking them. An error within
    /// them is reported when [`Input::read`] reaches it.
    pub fn head(&mut self) -> Result<&[u8]> {
        if self.head.get_ref().is_empty() && self.read == 0 && self.problem.is_none() {
            let mut head = Vec::new();
            let mut bytes = (&mut self.bytes).take(HEAD_BYTES as u64);
            if let Err(error) = bytes.read_to_end(&mut head) {
                self.problem = Some(self.problem(&error));
            }
            self.head = Cursor::new(head);
        }
        Ok(self.head.get_ref())
    }

    /// The bytes that [`Input::head`] returned.
    pub(super) fn seen(&self) -> &[u8] {
        self.head.get_ref()
    }

    /// The state after the head: `Some(Ok)` if more may follow, `Some(Err)` if
    /// reading failed, `None` at the end of the trace.
    pub(super) fn after_head(&self) -> Option<std::result::Result<(), String>> {
        match &self.problem {
            Some(problem) => Some(Err(problem.clone())),
            None => (self.head.get_ref().len() == HEAD_BYTES).then_some(Ok(())),
        }
    }

    /// Reads some bytes; 0 at the end.
    #[inline]
    pub fn read(&mut self, buffer: &mut [u8]) -> std::result::Result<usize, String> {
        let mut count = self.head.read(buffer).unwrap_or(0);
        if count == 0 {
            if let Some(problem) = &self.problem {
                return Err(problem.clone());
            }
            count = loop {
                match self.bytes.read(buffer) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(self.problem(&error)),
                    Ok(count) => break count,
                }
            };
        }
        self.read += count as u64;
        Ok(count)
    }

    /// The number of bytes read.
    pub fn bytes_read(&self) -> u64 {
        self.read
    }

    fn problem(&self, error: &std::io::Error) -> String {
        // System errors have numbers; the others come from decompression.
        let kind = self.compression.name();
        let ended = self.read_counter.ended.load(Ordering::Relaxed);
        if error.raw_os_error().is_some() || self.compression == Compression::None {
            error.to_string()
        } else if error.kind() == ErrorKind::OutOfMemory {
            format!("the {kind} data {error}")
        } else if ended || error.kind() == ErrorKind::UnexpectedEof {
            format!("the {kind} data end in the middle: the file is cut off")
        } else {
            format!("the {kind} data are damaged ({error})")
        }
    }
}
