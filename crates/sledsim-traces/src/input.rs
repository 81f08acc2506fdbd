//! The bytes of a trace, decompressed.

use super::whole::Whole;
use super::zstd::Zstd;
use sledsim_base::error::{Error, Result};
use std::io::{BufReader, Cursor, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How a file is compressed, recognised by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
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
    #[must_use]
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
            // A frame, or one to be skipped before it.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            _ => Self::None,
        }
    }
}

/// First bytes of files that hold a trace in a way that is not read.
const NOT_READ: [(&[u8], &str); 3] = [
    (b"PK\x03\x04", "a zip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x04\x22\x4d\x18", "lz4 data"),
];

/// How much of a trace is looked at to tell its format; more than the longest
/// line.
const HEAD_BYTES: usize = 1 << 17;
const RAW_BUFFER: usize = 1 << 17;
/// As many first bytes as tell the compression.
const MAGIC_BYTES: u64 = 6;

/// The bytes of a trace, decompressed, with what messages need.
pub struct Input {
    name: String,
    /// The file as it is, if it is one.
    whole: Option<Whole>,
    compression: Compression,
    bytes: Box<dyn Read + Send>,
    /// Read ahead of `bytes` by [`Input::head`].
    head: Cursor<Vec<u8>>,
    /// What ended the reading of the head; due when all of it is handed out.
    problem: Option<String>,
    /// How many bytes were handed out.
    read: u64,
    so_far: SoFar,
}

/// How much of a file was read, to be asked while something else reads it.
#[derive(Clone, Debug, Default)]
pub struct SoFar {
    read: Arc<AtomicU64>,
    /// Whether more was asked for than there is.
    ended: Arc<AtomicBool>,
    /// `None` for what has no length, such as a pipe.
    size: Option<u64>,
}

impl SoFar {
    /// The share of the (compressed) file read so far, if its length is known.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        let size = self.size.filter(|size| *size > 0)?;
        Some((self.read.load(Ordering::Relaxed) as f64 / size as f64).min(1.0))
    }
}

/// Counts what is read.
struct Counted<R> {
    inner: R,
    so_far: SoFar,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.so_far.read.fetch_add(count as u64, Ordering::Relaxed);
        if count == 0 && !buffer.is_empty() {
            self.so_far.ended.store(true, Ordering::Relaxed);
        }
        Ok(count)
    }
}

/// Reads as much as is asked for, if there is as much.
struct Full<R>(R);

impl<R: Read> Read for Full<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.0.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

impl Input {
    /// Reads a file from its start; `name` is what messages call it.
    pub(super) fn whole(name: &str, whole: Whole) -> Result<Self> {
        let bytes = Box::new(whole.from(0));
        Ok(Self::sized(name, bytes, Some(whole.bytes()))?.with_whole(Some(whole)))
    }

    /// With the file that formats read which are not read from the front.
    pub(super) fn with_whole(mut self, whole: Option<Whole>) -> Self {
        self.whole = whole;
        self
    }

    /// The file as it is (compressed, if it is), if it is one.
    #[must_use]
    pub fn as_whole(&self) -> Option<&Whole> {
        self.whole.as_ref()
    }

    /// How many bytes there are, if that is known without decompression.
    pub(super) fn bytes(&self) -> Option<u64> {
        let plain = self.compression == Compression::None;
        self.so_far.size.filter(|_| plain)
    }

    /// Reads from anything; `name` is what messages call it.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn new(name: &str, raw: Box<dyn Read + Send>) -> Result<Self> {
        Self::sized(name, raw, None)
    }

    fn sized(name: &str, raw: Box<dyn Read + Send>, size: Option<u64>) -> Result<Self> {
        let failed = |problem: &dyn std::fmt::Display| Error::file(Path::new(name), problem);
        let so_far = SoFar {
            size,
            ..SoFar::default()
        };
        let mut raw = Counted {
            inner: raw,
            so_far: so_far.clone(),
        };
        let mut head = Vec::new();
        let read = (&mut raw).take(MAGIC_BYTES).read_to_end(&mut head);
        read.map_err(|error| failed(&error))?;
        if let Some((_, what)) = NOT_READ.iter().find(|(magic, _)| head.starts_with(magic)) {
            let problem =
                format!("{what}: must be plain, or compressed by gzip, zstd, xz or bzip2");
            return Err(failed(&problem));
        }
        let compression = Compression::of(&head);
        let whole = Cursor::new(head).chain(raw);
        let buffered = |whole| BufReader::with_capacity(RAW_BUFFER, whole);
        let bytes: Box<dyn Read + Send> = match compression {
            Compression::None => Box::new(whole),
            Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(buffered(whole))),
            Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(buffered(whole))),
            Compression::Zstd => Box::new(Zstd::new(buffered(whole))),
            Compression::Xz => Box::new(lzma_rust2::XzReader::new(Full(buffered(whole)), true)),
        };
        Ok(Self {
            compression,
            so_far,
            ..Self::of(name, Vec::new(), bytes)
        })
    }

    /// `head`, then `rest`: not looked at for compression.
    pub(super) fn of(name: &str, head: Vec<u8>, rest: Box<dyn Read + Send>) -> Self {
        Self {
            name: name.to_owned(),
            whole: None,
            compression: Compression::None,
            bytes: rest,
            head: Cursor::new(head),
            problem: None,
            read: 0,
            so_far: SoFar::default(),
        }
    }

    /// What messages call it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How it is compressed.
    #[must_use]
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// How much of the file was read, to be asked later.
    #[must_use]
    pub fn so_far(&self) -> SoFar {
        self.so_far.clone()
    }

    /// The first bytes (128 KiB, or all there are), without taking them. What
    /// ends them early is said when the reading comes there.
    ///
    /// # Errors
    /// None.
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

    /// What [`Input::head`] gave.
    pub(super) fn seen(&self) -> &[u8] {
        self.head.get_ref()
    }

    /// What comes after the head: `Some(Ok)` if there may be more, `Some(Err)`
    /// if nothing more can be read, `None` if it was all.
    pub(super) fn after_head(&self) -> Option<std::result::Result<(), String>> {
        match &self.problem {
            Some(problem) => Some(Err(problem.clone())),
            None => (self.head.get_ref().len() == HEAD_BYTES).then_some(Ok(())),
        }
    }

    /// Reads some bytes; 0 at the end.
    ///
    /// # Errors
    /// What the system says, or what is wrong with the compressed data.
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

    /// How many bytes were read.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.read
    }

    fn problem(&self, error: &std::io::Error) -> String {
        // The system's own errors have numbers; the others come from decompression.
        let kind = self.compression.name();
        let ended = self.so_far.ended.load(Ordering::Relaxed);
        if error.raw_os_error().is_some() || self.compression == Compression::None {
            error.to_string()
        } else if ended || error.kind() == ErrorKind::UnexpectedEof {
            format!("the {kind} data end in the middle: the file is cut off")
        } else {
            format!("the {kind} data are damaged ({error})")
        }
    }
}
