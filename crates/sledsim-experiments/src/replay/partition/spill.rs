//! Records of many parts in one temporary file, read back part by part.
//!
//! A part has a buffer. When all buffers together reach a bound they are
//! appended to the file, one chunk for each part. The chunks of a part form a
//! chain: each begins with the position of the next. So memory depends on the
//! number of parts alone, and one file is open for any number of them.

use sledsim_base::error::{Error, Result};
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use sledsim_traces::Record;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The bytes of all buffers at which they are written.
const MOST_HELD_BYTES: usize = 32 << 20;
/// The bytes of a record in the file.
const RECORD_BYTES: usize = 6 * 8 + 4 + 2;
/// The bytes before the records of a chunk: the position of the next chunk of
/// the part, and the number of records.
const HEAD_BYTES: usize = 16;
/// Stands for a time that a record does not have, and for no next chunk.
const NONE: u64 = u64::MAX;

/// Records by part, in the order in which they were added.
pub struct Spill {
    folder: PathBuf,
    file: File,
    /// The length of the file.
    end: u64,
    parts: Vec<Chain>,
    held_bytes: usize,
    /// The bytes of all buffers at which they are written.
    most_held_bytes: usize,
}

/// The records of a part.
#[derive(Default)]
struct Chain {
    buffer: Vec<u8>,
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

    /// Adds a part and returns its index.
    pub fn add_part(&mut self) -> usize {
        self.parts.push(Chain::default());
        self.parts.len() - 1
    }

    /// Adds a record to a part.
    pub fn push(&mut self, part: usize, record: &Record) -> Result<()> {
        let chain = &mut self.parts[part];
        encode(record, &mut chain.buffer);
        self.held_bytes += RECORD_BYTES;
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
        for chain in self.parts.iter_mut().filter(|c| !c.buffer.is_empty()) {
            let buffer = std::mem::take(&mut chain.buffer);
            let records = (buffer.len() / RECORD_BYTES) as u64;
            writer.write_all(&NONE.to_le_bytes())?;
            writer.write_all(&records.to_le_bytes())?;
            writer.write_all(&buffer)?;
            let first = match chain.chunks {
                Some((first, last)) => {
                    links.push((last, self.end));
                    first
                }
                None => self.end,
            };
            chain.chunks = Some((first, self.end));
            self.end += (HEAD_BYTES + buffer.len()) as u64;
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

    /// Calls `each` with the records of a part, in the order in which they were
    /// added, and forgets those that were still in memory.
    pub fn drain(
        &mut self,
        part: usize,
        each: &mut dyn FnMut(&Record) -> Result<()>,
    ) -> Result<()> {
        let chain = std::mem::take(&mut self.parts[part]);
        let mut next = chain.chunks.map(|(first, _)| first);
        while let Some(at) = next {
            let chunk = self.chunk(at);
            let (following, chunk) = chunk.map_err(|error| failed(&self.folder, &error))?;
            decode(&chunk, each)?;
            next = (following != NONE).then_some(following);
        }
        decode(&chain.buffer, each)
    }

    /// The position of the next chunk, and the records of the one at `at`.
    fn chunk(&mut self, at: u64) -> io::Result<(u64, Vec<u8>)> {
        self.file.seek(SeekFrom::Start(at))?;
        let mut head = [0; HEAD_BYTES];
        self.file.read_exact(&mut head)?;
        let (next, records) = (number(&head, 0), number(&head, 1));
        let mut chunk = vec![0; records as usize * RECORD_BYTES];
        self.file.read_exact(&mut chunk)?;
        Ok((next, chunk))
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

/// Appends a record.
fn encode(record: &Record, to: &mut Vec<u8>) {
    let time = |time: Option<Nanos>| time.map_or(NONE, |time| time.0);
    for value in [
        record.time.0,
        record.offset,
        record.bytes,
        time(record.response),
        time(record.think),
        time(record.queue),
    ] {
        to.extend(value.to_le_bytes());
    }
    to.extend(record.device.to_le_bytes());
    to.extend([record.op as u8, u8::from(record.linked)]);
}

/// Calls `each` with the records in `bytes`.
fn decode(bytes: &[u8], each: &mut dyn FnMut(&Record) -> Result<()>) -> Result<()> {
    let time = |value: u64| (value != NONE).then_some(Nanos(value));
    for bytes in bytes.chunks_exact(RECORD_BYTES) {
        let [device @ .., op, linked] = &bytes[48..] else {
            unreachable!("a record has {RECORD_BYTES} bytes")
        };
        each(&Record {
            time: Nanos(number(bytes, 0)),
            device: u32::from_le_bytes(device.try_into().unwrap_or_default()),
            op: Op::ALL[usize::from(*op)],
            offset: number(bytes, 1),
            bytes: number(bytes, 2),
            response: time(number(bytes, 3)),
            think: time(number(bytes, 4)),
            queue: time(number(bytes, 5)),
            lateness: None,
            linked: *linked != 0,
        })?;
    }
    Ok(())
}

/// The number at a place, in numbers of 8 bytes.
fn number(bytes: &[u8], place: usize) -> u64 {
    let bytes = bytes[8 * place..8 * place + 8].try_into();
    u64::from_le_bytes(bytes.unwrap_or_default())
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
        spill.most_held_bytes = 100 * RECORD_BYTES;
        let mut expected: Vec<Vec<Record>> = vec![Vec::new(); 50];
        for part in 0..expected.len() {
            assert_eq!(spill.add_part(), part);
        }
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
            // Part 49 stays empty, and small ones get most.
            let part = ((any() % 49) * (any() % 49) / 49) as usize;
            spill.push(part, &record).unwrap();
            expected[part].push(record);
        }
        assert!(spill.end > 123 * 5400, "each hundred is written");
        for (part, expected) in expected.iter().enumerate() {
            let mut found = Vec::new();
            let mut take = |record: &Record| {
                found.push(*record);
                Ok(())
            };
            spill.drain(part, &mut take).unwrap();
            assert!(found == *expected, "part {part}");
        }
    }
}
