//! Records of many parts in one temporary file, read back part by part.
//!
//! A part has a buffer. When all buffers together reach a bound they are
//! appended to the file, one chunk for each part. The chunks of a part form a
//! chain: each begins with the position of the next. So memory depends on the
//! number of parts alone, and one file is open for any number of them.

use sledsim_base::error::{Error, Result};
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use sledsim_traces::{Record, SharedFile};
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The bytes of all buffers at which they are written.
const MOST_HELD_BYTES: usize = 8 << 20;
/// The bytes before the records of a chunk: the position of the next chunk of
/// the part, and how many bytes of records follow.
const HEAD_BYTES: usize = 16;
/// Stands for no next chunk.
const NONE: u64 = u64::MAX;

/// A record in the file: since the record before, offset, bytes, response, think,
/// queue, device, operation and whether it is linked. Most numbers are small, and
/// take few bytes.
type Held = (i64, u64, u64, Option<Nanos>, Option<Nanos>, Option<Nanos>, u32, u8, bool);

/// Records by part, in the order in which they were added.
pub struct Spill {
    folder: PathBuf,
    pub(super) file: File,
    /// The length of the file.
    end: u64,
    parts: Vec<Chain>,
    held_bytes: usize,
    /// The bytes of all buffers at which they are written.
    pub(super) most_held_bytes: usize,
}

/// The records of a part.
#[derive(Default)]
struct Chain {
    buffer: Vec<u8>,
    /// The time of the last record.
    last: Nanos,
    /// The positions of the first and the last chunk.
    chunks: Option<(u64, u64)>,
}

impl Spill {
    /// No records yet; the file is in `folder` and has no name.
    pub fn new(folder: &Path) -> Result<Self> {
        let file = tempfile::tempfile_in(folder);
        Ok(Self {
            file: file.map_err(|error| failed(folder, &error))?,
            folder: folder.to_owned(),
            end: 0,
            parts: Vec::new(),
            held_bytes: 0,
            most_held_bytes: MOST_HELD_BYTES,
        })
    }

    /// Adds a record to a part.
    pub fn push(&mut self, part: usize, record: &Record) -> Result<()> {
        if self.parts.len() <= part {
            self.parts.resize_with(part + 1, Chain::default);
        }
        self.held_bytes += self.parts[part].push(record);
        if self.held_bytes >= self.most_held_bytes {
            let flushed = self.flush();
            flushed.map_err(|error| failed(&self.folder, &error))?;
        }
        Ok(())
    }

    /// Appends the buffers to the file, and links each to the chunk before.
    fn flush(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.end))?;
        let mut writer = BufWriter::with_capacity(1 << 18, &self.file);
        let mut links = Vec::new();
        for chain in self.parts.iter_mut().filter(|c| c.buffer.capacity() > 0) {
            let bytes = chain.buffer.len();
            // The next chunk will be as long. What no record came for is given back.
            chain.buffer.shrink_to(bytes);
            if bytes == 0 {
                continue;
            }
            writer.write_all(&NONE.to_le_bytes())?;
            writer.write_all(&(bytes as u64).to_le_bytes())?;
            writer.write_all(&chain.buffer)?;
            chain.buffer.clear();
            let first = match chain.chunks {
                Some((first, last)) => {
                    links.push((last, self.end));
                    first
                }
                None => self.end,
            };
            chain.chunks = Some((first, self.end));
            self.end += (HEAD_BYTES + bytes) as u64;
        }
        writer.flush()?;
        drop(writer);
        for (chunk, next) in links {
            self.file.seek(SeekFrom::Start(chunk))?;
            self.file.write_all(&next.to_le_bytes())?;
        }
        self.held_bytes = 0;
        Ok(())
    }

    /// The records, of which no more are added.
    pub fn complete(self) -> Result<Spilled> {
        let file = SharedFile::of(self.file).map_err(|error| failed(&self.folder, &error))?;
        Ok(Spilled { folder: self.folder, file, parts: self.parts })
    }
}

/// The records of all parts. Several threads read them at a time.
pub struct Spilled {
    folder: PathBuf,
    file: SharedFile,
    parts: Vec<Chain>,
}

impl Spilled {
    /// Calls `each` with the records of a part, in the order in which they were
    /// added.
    pub fn read(&self, part: usize, each: &mut dyn FnMut(&Record) -> Result<()>) -> Result<()> {
        let chain = &self.parts[part];
        let mut next = chain.chunks.map(|(first, _)| first);
        let mut last = Nanos::ZERO;
        while let Some(at) = next {
            let chunk = self.chunk(at);
            let (following, chunk) = chunk.map_err(|error| failed(&self.folder, &error))?;
            self.decode(&chunk, &mut last, each)?;
            next = (following != NONE).then_some(following);
        }
        self.decode(&chain.buffer, &mut last, each)
    }

    /// The position of the next chunk, and the records of the one at `at`.
    fn chunk(&self, at: u64) -> io::Result<(u64, Vec<u8>)> {
        let mut file = self.file.reader_at(at);
        let mut head = [0; HEAD_BYTES];
        file.read_exact(&mut head)?;
        let [next, bytes] =
            [&head[..8], &head[8..]].map(|half| half.try_into().map_or(0, u64::from_le_bytes));
        let mut chunk = vec![0; bytes as usize];
        file.read_exact(&mut chunk)?;
        Ok((next, chunk))
    }

    /// Calls `each` with the records in `bytes`, which follow on one of the time `last`.
    fn decode(
        &self,
        mut bytes: &[u8],
        last: &mut Nanos,
        each: &mut dyn FnMut(&Record) -> Result<()>,
    ) -> Result<()> {
        while !bytes.is_empty() {
            let (held, rest): (Held, _) = postcard::take_from_bytes(bytes)
                .map_err(|error| failed(&self.folder, &io::Error::other(error)))?;
            let (since, offset, bytes_of, response, think, queue, device, op, linked) = held;
            *last = Nanos(last.0.wrapping_add_signed(since));
            bytes = rest;
            each(&Record {
                time: *last,
                device,
                op: Op::ALL[usize::from(op)],
                offset,
                bytes: bytes_of,
                response,
                think,
                queue,
                lateness: None,
                linked,
            })?;
        }
        Ok(())
    }
}

impl Chain {
    /// Adds a record to the buffer; returns how many bytes it takes.
    fn push(&mut self, record: &Record) -> usize {
        let Record { offset, bytes, response, think, queue, device, linked, .. } = *record;
        let since = record.time.0.wrapping_sub(self.last.0).cast_signed();
        let held: Held =
            (since, offset, bytes, response, think, queue, device, record.op as u8, linked);
        self.last = record.time;
        let before = self.buffer.len();
        let buffer = std::mem::take(&mut self.buffer);
        self.buffer = postcard::to_extend(&held, buffer).expect("memory takes all bytes");
        self.buffer.len() - before
    }
}

/// An error about the temporary file.
fn failed(folder: &Path, error: &io::Error) -> Error {
    let problem = match error.kind() {
        ErrorKind::StorageFull => "no space is left for the parts of the trace".to_owned(),
        _ => format!("cannot hold the parts of the trace: {error}"),
    };
    Error::file(folder, problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sledsim_base::random::Stream;

    /// Any records in any order come back by part, over several flushes.
    #[test]
    fn records_come_back_by_part_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let mut spill = Spill::new(folder.path()).unwrap();
        spill.most_held_bytes = 5400;
        let mut expected: Vec<Vec<Record>> = vec![Vec::new(); 49];
        let mut random = Stream::new(1, "spill");
        for _ in 0..12_345 {
            let mut any = || random.u64();
            let some = |value: u64| (value & 1 == 0).then_some(Nanos(value >> 1));
            let record = Record {
                time: Nanos(any()),
                device: any() as u32,
                op: Op::ALL[(any() % 4) as usize],
                offset: any(),
                bytes: any(),
                response: some(any()),
                think: some(any()),
                queue: some(any()),
                lateness: None,
                linked: any() & 1 == 1,
            };
            // Parts 1 and 2 stay empty, and small ones get most.
            let part = ((any() % 50) * (any() % 50) / 50) as usize;
            let part = if part < 3 { 0 } else { part };
            spill.push(part, &record).unwrap();
            expected[part].push(record);
        }
        assert!(spill.end > 100 * 5400, "about a hundred records are written at a time");
        let spilled = spill.complete().unwrap();
        for (part, expected) in expected.iter().enumerate() {
            let mut found = Vec::new();
            let mut take = |record: &Record| {
                found.push(*record);
                Ok(())
            };
            spilled.read(part, &mut take).unwrap();
            assert!(found == *expected, "part {part}");
        }
    }
}
