//! The benchmark: PostMark's files and transactions, as a source of requests.

use super::PostMarkSpec;
use super::file_system::{File, FileSystem};
use crate::model::Source;
use crate::model::plain_requests::{Plain, PlainSource};
use crate::workloads::{bounded, nothing_due};
use serde_json::{Value, json};
use sledsim_base::error::Result;
use sledsim_base::random::Stream;
use sledsim_base::request::Request;
use sledsim_base::units::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A running PostMark: one process with one request outstanding.
///
/// An operation of the program becomes the requests of the file system, in their order;
/// the next operation begins when they are complete.
#[derive(Debug)]
pub struct PostMark {
    spec: PostMarkSpec,
    facts: Value,
    file_system: FileSystem,
    /// The program's table of files, of 0 bytes where there is none, and its free places.
    table: Vec<File>,
    free: BinaryHeap<Reverse<u32>>,
    counts: Counts,
    step: Step,
    /// Steps done.
    done: u64,
    /// The time of the process, while no request is outstanding.
    now: Option<Nanos>,
    /// When the delayed writes are due.
    update: Nanos,
    taken: u64,
    sizes: Stream,
    choices: Stream,
    places: Stream,
    folders: Stream,
}

/// What the program does next.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Makes directories, and how many were.
    Directories(u32),
    /// Creates the first files.
    Files(u32),
    /// Does transactions.
    Transactions(u32),
    /// Deletes the file at a place of the table.
    Deletions(u32),
    Ended,
}

/// Operations done.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    created: u64,
    deleted: u64,
    read: u64,
    appended: u64,
}

impl PostMark {
    pub(super) fn new(spec: &PostMarkSpec, file_system: FileSystem, facts: Value) -> Self {
        let stream = |purpose: &str| Stream::new(spec.seed, purpose);
        Self {
            spec: spec.clone(),
            facts,
            file_system,
            table: Vec::new(),
            free: BinaryHeap::new(),
            counts: Counts::default(),
            step: Step::Directories(0),
            done: 0,
            now: Some(Nanos::ZERO),
            update: Nanos::from_s(spec.update_s),
            taken: 0,
            sizes: stream("size"),
            choices: stream("op"),
            places: stream("place"),
            folders: stream("directory"),
        }
    }

    /// Every key with its value in effect, and the operations so far.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut facts = self.facts.clone();
        facts["files_created"] = json!(self.counts.created);
        facts["files_deleted"] = json!(self.counts.deleted);
        facts["files_read"] = json!(self.counts.read);
        facts["files_appended"] = json!(self.counts.appended);
        facts["queue_depth"] = json!(1);
        facts["think_ms"] = json!(0.0);
        facts
    }

    /// Whether the requests depend on how long others take.
    #[must_use]
    pub fn needs_times(&self) -> bool {
        self.spec.needs_times()
    }

    /// The sizes of the files that there are, in bytes, and the blocks of the device that
    /// each owns: the first, and how many.
    pub fn files(&self) -> impl Iterator<Item = (u32, Vec<(u64, u32)>)> + '_ {
        let files = self.table.iter().filter(|file| file.inode.bytes > 0);
        files.map(|file| (file.inode.bytes, file.inode.extents()))
    }

    /// Does steps until a request is due or the program ends, and returns when it is due.
    fn advance(&mut self) -> Result<Option<Nanos>> {
        let Some(mut now) = self.now else {
            return Ok(None);
        };
        while self.file_system.buffers.due.is_empty() {
            if self.spec.needs_times() && now >= self.update {
                let wait = Nanos::from_s(self.spec.update_s).0.max(1);
                self.update = Nanos(now.0 - (now.0 - self.update.0) % wait + wait);
                self.file_system.update();
                continue;
            }
            if matches!(self.step, Step::Ended) {
                return Ok(None);
            }
            if self.transacts() {
                now.0 += Nanos::from_ms(self.spec.compute_ms).0;
            }
            self.now = Some(now);
            self.step = self.next_step()?;
            self.done += 1;
        }
        Ok(Some(now))
    }

    /// Does a step, and returns the next.
    fn next_step(&mut self) -> Result<Step> {
        let spec = &self.spec;
        Ok(match self.step {
            Step::Directories(made) if made < spec.subdirectories => {
                self.file_system.make_directory()?;
                Step::Directories(made + 1)
            }
            Step::Directories(_) => Step::Files(0),
            Step::Files(made) if made < spec.files => {
                self.create()?;
                Step::Files(made + 1)
            }
            Step::Files(_) => Step::Transactions(0),
            Step::Transactions(done) if self.transacts() => {
                self.transact()?;
                Step::Transactions(done + 1)
            }
            Step::Transactions(_) => Step::Deletions(0),
            Step::Deletions(place) if (place as usize) < self.table.len() => {
                self.delete(place);
                Step::Deletions(place + 1)
            }
            Step::Deletions(_) | Step::Ended => Step::Ended,
        })
    }

    /// Whether a transaction is next. Without a file the program gives up.
    fn transacts(&self) -> bool {
        let is_next =
            matches!(self.step, Step::Transactions(done) if done < self.spec.transactions);
        is_next && self.left() > 0
    }

    /// How many files there are.
    fn left(&self) -> u64 {
        self.counts.created - self.counts.deleted
    }

    /// Reads a file or appends to one, then creates one or deletes one.
    fn transact(&mut self) -> Result<()> {
        let place = self.any_file();
        let file = &mut self.table[place as usize];
        if self.choices.chance(0.5) {
            self.file_system.read(file);
            self.counts.read += 1;
        } else if file.inode.bytes < self.spec.max_bytes {
            let most = self.spec.max_bytes - file.inode.bytes;
            let bytes = 1 + self.sizes.below(u64::from(most)) as u32;
            self.file_system.append(file, bytes)?;
            self.counts.appended += 1;
        }
        if self.choices.chance(0.5) {
            self.create()
        } else {
            let place = self.any_file();
            self.delete(place);
            Ok(())
        }
    }

    /// The place of a file, all equally likely.
    fn any_file(&mut self) -> u32 {
        loop {
            let place = self.places.below(self.table.len() as u64) as u32;
            if self.table[place as usize].inode.bytes > 0 {
                return place;
            }
        }
    }

    /// Creates a file, if the table has a place for it.
    fn create(&mut self) -> Result<()> {
        if self.left() == 2 * u64::from(self.spec.files) {
            return Ok(());
        }
        let place = match self.free.pop() {
            Some(Reverse(place)) => place,
            None => {
                self.table.push(File::default());
                self.table.len() as u32 - 1
            }
        };
        let spread = self.spec.max_bytes - self.spec.min_bytes;
        let bytes = self.spec.min_bytes + self.sizes.below(u64::from(spread.max(1))) as u32;
        let directory = match self.spec.subdirectories {
            0 => 0,
            count => 1 + self.folders.below(u64::from(count)) as u32,
        };
        self.counts.created += 1;
        let file = &mut self.table[place as usize];
        self.file_system.create(file, directory, bytes)
    }

    /// Deletes the file at a place, if there is one.
    fn delete(&mut self, place: u32) {
        let file = &mut self.table[place as usize];
        if file.inode.bytes > 0 {
            self.file_system.delete(file);
            file.inode.bytes = 0;
            self.free.push(Reverse(place));
            self.counts.deleted += 1;
        }
    }
}

impl Source for PostMark {
    fn next_arrival(&mut self) -> Result<Option<Nanos>> {
        if self.taken < self.spec.requests {
            self.advance()
        } else {
            Ok(None)
        }
    }

    fn take(&mut self) -> Result<Request> {
        let id = self.taken;
        let at = self.now.ok_or_else(nothing_due)?;
        let plain = self.take_plain(at)?.ok_or_else(nothing_due)?;
        Ok(plain.request(id, at))
    }

    fn completed(&mut self, _id: u64, at: Nanos) {
        self.now = Some(at);
    }

    fn plain(&mut self) -> Option<&mut dyn PlainSource> {
        Some(self)
    }

    fn requests(&self) -> Option<u64> {
        None
    }

    fn share(&self) -> Option<f64> {
        let spec = &self.spec;
        let all = u64::from(spec.subdirectories) + u64::from(spec.transactions);
        let deletions = self.table.len().max(spec.files as usize) as u64;
        let steps = all + u64::from(spec.files) + deletions + 4;
        let by_steps = self.done as f64 / steps as f64;
        let by_requests = bounded(spec.requests).map_or(0.0, |all| self.taken as f64 / all as f64);
        Some(by_steps.max(by_requests).min(1.0))
    }
}

impl PlainSource for PostMark {
    fn due(&mut self) -> Result<Nanos> {
        Ok(self.next_arrival()?.unwrap_or(Nanos::MAX))
    }

    fn take_plain(&mut self, _at: Nanos) -> Result<Option<Plain>> {
        let plain = self.file_system.buffers.due.pop_front();
        self.now = None;
        self.taken += 1;
        plain.ok_or_else(nothing_due).map(Some)
    }
}
