//! The `postmark` workload: PostMark on a file system of its time.
//!
//! - `buffers`: the buffer cache, which turns accesses into requests;
//! - `file_system`: what creating, reading, appending and deleting access;
//! - here: the keys, and the program as a source of requests.

mod buffers;

mod file_system;

use super::generator::read_seed;
use super::{ClosedSpec, TAKEN_EARLY};
use crate::model::Source;
use file_system::{BLOCK, ENTRY, FRAGMENT, File, FileSystem};
use file_system::{GROUP, GROUP_DATA, GROUP_INODES, LONGEST, ROOT};
use serde::{Serialize, Serializer};
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::random::Stream;
use sledsim_base::request::Request;
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::result;

/// The name of the workload.
pub(super) const NAME: &str = "postmark";

/// Blocks of the device in a fragment.
const FRAGMENT_BLOCKS: u32 = FRAGMENT / BLOCK_BYTES as u32;

/// The largest file system, in groups: 16 GiB.
const MOST_GROUPS: u64 = 1024;

/// Which data are written at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum DataWrites {
    /// Full blocks alone.
    FullBlocks,
    /// All, at the close of a file.
    Close,
}

const DATA_WRITES: [(&str, DataWrites); 2] =
    [("full_blocks", DataWrites::FullBlocks), ("close", DataWrites::Close)];

/// The keys of the workload.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "workload", rename = "postmark")]
pub struct PostMarkSpec {
    /// The most.
    requests: Option<u64>,
    seed: u64,
    files: u32,
    transactions: u32,
    min_bytes: u32,
    max_bytes: u32,
    cache_mib: f64,
    data_writes: DataWrites,
    /// The keys with the origin of each value, for messages.
    #[serde(skip)]
    keys: Keys,
}

impl PostMarkSpec {
    /// Reads the keys; the caller finishes `keys`.
    ///
    /// # Errors
    /// A key out of range, or sizes that contradict each other.
    pub fn read(keys: &mut Keys) -> Result<Self> {
        let min_bytes = keys.opt_u32("min_bytes", 1..=LONGEST)?.unwrap_or(500);
        let max_bytes = keys.opt_u32("max_bytes", 1..=LONGEST)?.unwrap_or(10_000);
        if min_bytes > max_bytes {
            let problem = format!("must be at most max_bytes, {max_bytes}");
            return Err(keys.refuse("min_bytes", problem));
        }
        let cache = Range::at_least(0.25).at_most(4096.0);
        Ok(Self {
            requests: keys.opt_u64("requests", 1..=i64::MAX as u64)?,
            seed: read_seed(keys)?.unwrap_or(1),
            files: keys.opt_u32("files", 1..=500_000)?.unwrap_or(500),
            transactions: keys.opt_u32("transactions", 0..=u32::MAX)?.unwrap_or(500),
            min_bytes,
            max_bytes,
            cache_mib: keys.opt_f64("cache_mib", cache)?.unwrap_or(32.0),
            data_writes: (keys.opt_choice("data_writes", &DATA_WRITES)?)
                .unwrap_or(DataWrites::FullBlocks),
            keys: keys.clone(),
        })
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The same load with its seed increased by `k`, modulo 2^64.
    pub fn with_seed_offset(&self, k: u64) -> Self {
        Self { seed: self.seed.wrapping_add(k), ..self.clone() }
    }

    /// The workload on a device of `device_blocks` blocks.
    ///
    /// # Errors
    /// A device too small for the files.
    pub fn source(&self, device_blocks: u64) -> Result<PostMark> {
        let groups = (device_blocks / u64::from(GROUP * FRAGMENT_BLOCKS)).min(MOST_GROUPS) as u32;
        // The program's table has room for twice as many files as it begins with.
        let most = self.files + self.transactions.min(self.files);
        // With so many blocks, each part finds one even if no two share one.
        let in_file = self.max_bytes.div_ceil(BLOCK);
        let needed = most * in_file + most * ENTRY / BLOCK + 2;
        let (data, inodes) = (groups * GROUP_DATA, groups * GROUP_INODES);
        if needed > data / 10 * 9 || ROOT + most >= inodes {
            let problem = format!(
                "must fit in 90 % of the file system: up to {most} files of {in_file} blocks of 8 \
                 KiB, in {data} blocks and {inodes} inodes in {groups} groups of 16 MiB"
            );
            return Err(self.keys.refuse("files", problem));
        }
        let cache = (self.cache_mib * f64::from((1 << 20) / FRAGMENT)) as u32;
        let table = (ROOT + 1..).map(|inode| File { inode, ..File::default() });
        Ok(PostMark {
            spec: self.clone(),
            file_system: FileSystem::new(groups, cache),
            table: table.take(most as usize).collect(),
            free: (0..most).map(Reverse).collect(),
            step: 0,
            created: 0,
            now: Some(Nanos::ZERO),
            taken: 0,
            draws: Stream::new(self.seed, NAME),
        })
    }
}

/// A running PostMark: one process with one request outstanding.
///
/// An operation of the program becomes the requests of the file system, in their order;
/// the next operation begins when they are complete.
#[derive(Debug)]
pub struct PostMark {
    spec: PostMarkSpec,
    file_system: FileSystem,
    /// The program's table of files, and its free places.
    table: Vec<File>,
    free: BinaryHeap<Reverse<u32>>,
    /// Files created first, transactions, and places of the table deleted from.
    step: u64,
    /// Files created.
    created: u64,
    /// The time of the process, while no request is outstanding.
    now: Option<Nanos>,
    taken: u64,
    draws: Stream,
}

/// Every key with its value in effect, and the operations so far.
impl Serialize for PostMark {
    fn serialize<S: Serializer>(&self, serializer: S) -> result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Facts<'a> {
            #[serde(flatten)]
            spec: &'a PostMarkSpec,
            #[serde(flatten)]
            arrivals: ClosedSpec,
            files_created: u64,
            files_deleted: u64,
        }
        let (spec, arrivals) = (&self.spec, ClosedSpec::default());
        let (files_created, files_deleted) = (self.files_created(), self.files_deleted());
        Facts { spec, arrivals, files_created, files_deleted }.serialize(serializer)
    }
}

impl PostMark {
    /// How many files it has created.
    pub fn files_created(&self) -> u64 {
        self.created
    }

    /// How many of them it has deleted.
    pub fn files_deleted(&self) -> u64 {
        self.created - self.left()
    }

    /// Does the next step of the program; returns whether there was one.
    fn advance(&mut self) -> Result<bool> {
        let files = u64::from(self.spec.files);
        let end = files + u64::from(self.spec.transactions);
        if self.step < files {
            self.create()?;
        } else if self.step < end && self.left() > 0 {
            self.transact()?;
        } else if self.left() > 0 {
            self.delete((self.step - end) as u32);
        } else {
            return Ok(false);
        }
        self.step += 1;
        Ok(true)
    }

    /// How many files there are.
    fn left(&self) -> u64 {
        (self.table.len() - self.free.len()) as u64
    }

    /// Reads a file or appends to one, then creates one or deletes one.
    fn transact(&mut self) -> Result<()> {
        let number = self.any_file();
        let file = &mut self.table[number as usize];
        if self.draws.chance(0.5) {
            self.file_system.open(file);
            self.file_system.read(file);
        } else if file.bytes < self.spec.max_bytes {
            let left = self.spec.max_bytes - file.bytes;
            let bytes = file.bytes + 1 + self.draws.below(u64::from(left)) as u32;
            self.file_system.open(file);
            self.file_system.write(file, bytes, self.spec.data_writes == DataWrites::Close)?;
        }
        if self.draws.chance(0.5) {
            return self.create();
        }
        let number = self.any_file();
        self.delete(number);
        Ok(())
    }

    /// The place of a file, all equally likely.
    fn any_file(&mut self) -> u32 {
        loop {
            let number = self.draws.below(self.table.len() as u64) as u32;
            if self.table[number as usize].bytes > 0 {
                return number;
            }
        }
    }

    /// Creates a file, if the table has a place for it.
    fn create(&mut self) -> Result<()> {
        let Some(Reverse(number)) = self.free.pop() else {
            return Ok(());
        };
        let spread = (self.spec.max_bytes - self.spec.min_bytes).max(1);
        let bytes = self.spec.min_bytes + self.draws.below(u64::from(spread)) as u32;
        self.created += 1;
        let file = &mut self.table[number as usize];
        self.file_system.create(file, bytes, self.spec.data_writes == DataWrites::Close)
    }

    /// Deletes the file at a place, if there is one.
    fn delete(&mut self, number: u32) {
        let file = &mut self.table[number as usize];
        if file.bytes > 0 {
            self.file_system.delete(file);
            self.free.push(Reverse(number));
        }
    }
}

impl Source for PostMark {
    fn next_arrival(&mut self) -> Result<Option<Nanos>> {
        while self.now.is_some() && self.file_system.buffers.due.is_empty() && self.advance()? {}
        let more = self.spec.requests.is_none_or(|requests| self.taken < requests);
        let is_due = more && !self.file_system.buffers.due.is_empty();
        Ok(self.now.filter(|_| is_due))
    }

    fn take(&mut self) -> Request {
        let due = &mut self.file_system.buffers.due;
        let (op, (at, fragments)) = due.pop_front().expect(TAKEN_EARLY);
        let now = self.now.take().expect(TAKEN_EARLY);
        self.taken += 1;
        let [lbn, blocks] = [at, fragments].map(|count| count * FRAGMENT_BLOCKS);
        Request::new(self.taken - 1, now, op, lbn.into(), blocks)
    }

    fn completed(&mut self, _id: u64, at: Nanos) {
        self.now = Some(at);
    }

    fn requests(&self) -> Option<u64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{PostMark, PostMarkSpec};
    use crate::model::Source;
    use sledsim_base::keys::Keys;
    use sledsim_base::request::Op;
    use std::collections::BTreeSet;

    fn source(text: &str) -> PostMark {
        let mut keys = Keys::parse(text, "load.toml").unwrap();
        PostMarkSpec::read(&mut keys).unwrap().source(524_288).unwrap()
    }

    /// No fragment has two owners or belongs to metadata; a file has the fragments of its
    /// size, all parts in one block each; what is read of a file was written before.
    #[test]
    fn blocks_have_one_owner_and_files_their_size() {
        let small = "files = 30\ntransactions = 300\ncache_mib = 0.25\nmax_bytes = 98304\n";
        for text in [small.to_owned(), format!("{small}data_writes = \"close\"")] {
            let mut source = source(&text);
            let (mut written, mut before) = (BTreeSet::new(), BTreeSet::new());
            let (mut reads, mut now) = (0, source.next_arrival().unwrap());
            while now.is_some() {
                let request = source.take();
                source.completed(request.id, request.arrival);
                let first = request.lbn() as u32 / 2;
                let run: Vec<_> = (first..first + request.blocks() / 2).collect();
                if request.op == Op::Write {
                    written.extend(run.iter().copied());
                }
                let mut owned = BTreeSet::new();
                for file in source.table.iter().filter(|file| file.bytes > 0) {
                    assert!((500..=98_304).contains(&file.bytes), "{}", file.bytes);
                    let sum: u32 = file.parts.iter().map(|run| run.1).sum();
                    assert_eq!(sum, file.bytes.div_ceil(1024));
                    for (at, fragments) in &file.parts {
                        // By hand: the inodes end with block 67 of a group of 2048.
                        assert!(at % 16_384 >= 544, "{at} belongs to inodes");
                        assert_eq!(at / 8, (at + fragments - 1) / 8, "one block");
                        for at in *at..at + fragments {
                            assert!(owned.insert(at), "{at} has two owners");
                        }
                    }
                }
                before.difference(&owned).for_each(|at| _ = written.remove(at));
                if request.op == Op::Read && run.iter().all(|at| owned.contains(at)) {
                    reads += 1;
                    assert!(run.iter().all(|at| written.contains(at)), "{request:?}");
                }
                before = owned;
                now = source.next_arrival().unwrap();
            }
            assert!(reads > 100 && source.left() == 0, "{reads}");
        }
    }

    /// Sizes are uniform: the mean is that of 500 to 9999 bytes within five standard errors.
    #[test]
    fn sizes_have_their_mean() {
        let mut source = source("files = 6000\ntransactions = 0");
        for _ in 0..6000 {
            assert!(source.advance().unwrap());
        }
        let sum: u32 = source.table.iter().map(|file| file.bytes).sum();
        let (mean, error) = (f64::from(sum) / 6000.0, 9500.0 / (12.0_f64 * 6000.0).sqrt());
        assert!((mean - 5249.5).abs() < 5.0 * error, "{mean}");
    }
}
