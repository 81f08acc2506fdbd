//! An export: a model for the times and a store for the data, under a name.
//!
//! - `batch` serves several commands as one.
//! - `exchange` changes data in place.
//! - `pieces` zeroes long ranges.

mod batch;
mod exchange;
mod pieces;

pub use batch::{BatchReply, CommandResult, Refusal};
pub use exchange::{Exchange, Unchanged};

use crate::command::{Command, CommandKind};
use crate::errno::{Errno, errno_of};
use crate::log::Log;
use crate::power_failure::{NotBegun, Power};
use crate::store::{Flushes, Store};
use crate::timeline::{Answer, Reply, Timeline};
use sledsim_base::request::Op;
use sledsim_base::units::BLOCK_BYTES;
use sledsim_core::catalog::Device;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::thread::{self, JoinHandle};

/// A request that waits for the store to be durable.
struct Sync {
    id: u64,
    reply: Box<dyn Reply>,
}

/// The parameters of an export.
#[derive(Clone, Debug)]
pub struct ExportInfo {
    /// Name of the export.
    pub name: String,
    /// The backing file; `None` for memory.
    pub file: Option<PathBuf>,
    /// Whether writes are refused.
    pub read_only: bool,
    /// The device that the timeline simulates.
    pub device: Device,
    /// The scheduler of each of its mechanisms.
    pub scheduler: SchedulerSpec,
    /// Seconds of model time per second of real time.
    pub speed: f64,
}

/// A served device.
pub struct Export {
    about: ExportInfo,
    bytes: u64,
    timeline: Arc<Timeline>,
    store: Arc<dyn Store>,
    /// Held by commands while they change data, exclusively by an exchange. Taken before
    /// the lock of the power, and never held while a reply is sent.
    changing: RwLock<()>,
    flushes: Arc<Flushes>,
    log: Arc<Log>,
    syncs: Option<Sender<Sync>>,
    syncer: Option<JoinHandle<()>>,
    power: Option<Arc<Power>>,
}

impl Export {
    /// Serves the data of `store` at the times of `timeline`, which reports to `log`.
    pub fn new(
        about: ExportInfo,
        timeline: Timeline,
        store: Box<dyn Store>,
        log: Arc<Log>,
    ) -> io::Result<Self> {
        let (timeline, store) = (Arc::new(timeline), Arc::<dyn Store>::from(store));
        let flushes = Arc::new(Flushes::of(Arc::clone(&store)));
        let (syncs, waiting) = channel();
        let syncer = {
            let (timeline, flushes) = (Arc::clone(&timeline), Arc::clone(&flushes));
            thread::Builder::new()
                .name("sledsim-sync".into())
                .spawn(move || sync(&waiting, &timeline, &flushes))?
        };
        Ok(Self {
            about,
            bytes: timeline.blocks() * BLOCK_BYTES,
            timeline,
            store,
            changing: RwLock::new(()),
            flushes,
            log,
            syncs: Some(syncs),
            syncer: Some(syncer),
            power: None,
        })
    }

    /// The same with power that may fail; `make` gets its timeline and its store.
    pub(crate) fn with_power<E>(
        mut self,
        make: impl FnOnce(Arc<Timeline>, Arc<dyn Store>) -> Result<Arc<Power>, E>,
    ) -> Result<Self, E> {
        let power = make(Arc::clone(&self.timeline), Arc::clone(&self.store))?;
        self.power = Some(power);
        Ok(self)
    }

    /// Its power, if that may fail.
    pub fn power(&self) -> Option<&Arc<Power>> {
        self.power.as_ref()
    }

    /// Whether it has power now.
    pub fn is_on(&self) -> bool {
        self.power.as_ref().is_none_or(|power| !power.is_off())
    }

    /// Its parameters.
    pub fn about(&self) -> &ExportInfo {
        &self.about
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.about.name
    }

    /// Its capacity in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether the `bytes` bytes from `offset` on lie within the export.
    pub fn contains(&self, offset: u64, bytes: u64) -> bool {
        let end = offset.checked_add(bytes);
        end.is_some_and(|end| end <= self.bytes)
    }

    /// Whether writes are refused.
    pub fn is_read_only(&self) -> bool {
        self.about.read_only
    }

    /// The timeline of its requests.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// The store with its data.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Flushes the store; a direct flush of the store would not be recorded here.
    pub fn flushes(&self) -> &Flushes {
        &self.flushes
    }

    /// Statistics of its requests.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Serves `command`; `reply` is sent when it is due, perhaps before this returns.
    /// Partly covered blocks are accessed whole; long zeroes are several requests, one after
    /// the other. A command that cannot be served is
    /// answered at once: with `EINVAL` outside the device, `EIO` without power, `EROFS` on a read-only
    /// export, or the error of the store. After a flush of the store has failed,
    /// flushes and writes with FUA fail with `EIO`; reads and other writes continue.
    pub fn submit(self: &Arc<Self>, command: Command<'_>, reply: Box<dyn Reply>) {
        let bytes = command.bytes();
        if !self.contains(command.offset, bytes) {
            return reply.send(Err(Errno::INVAL));
        }
        let op = command.op();
        if self.about.read_only && !matches!(op, Op::Read | Op::Flush) {
            return reply.send(Err(Errno::ROFS));
        }
        if op != Op::Flush && bytes == 0 {
            return reply.send(Ok(Vec::new()));
        }
        if let CommandKind::Zero { unmap, .. } = command.what
            && bytes > pieces::PIECE_BYTES
        {
            return pieces::zero(self, &command, unmap, reply);
        }
        let begun = {
            let _changing = (!matches!(op, Op::Read | Op::Flush)).then(|| self.changing());
            self.begin(&command)
        };
        self.end(&command, begun, reply);
    }

    /// Lets no exchange pass while the guard lives.
    fn changing(&self) -> RwLockReadGuard<'_, ()> {
        self.changing.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins `command` and moves its data; returns its id with its answer.
    fn begin(&self, command: &Command<'_>) -> Result<(u64, Answer), NotBegun> {
        let Some(power) = &self.power else {
            let id = self.timeline.begin(command.request());
            return Ok((id, self.access(command)));
        };
        let requests = std::iter::once(command.request());
        let begun = power.begin(&[*command], requests, |command| self.access(command));
        begun.map(|(ids, mut answers)| (ids.start, answers.remove(0)))
    }

    /// Answers a command that was begun, when it is due. No guard is held.
    fn end(
        &self,
        command: &Command<'_>,
        begun: Result<(u64, Answer), NotBegun>,
        reply: Box<dyn Reply>,
    ) {
        match begun {
            Err(NotBegun { errno, unanswered }) => {
                reply.send(Err(errno));
                drop(unanswered);
            }
            Ok((id, answer)) => {
                if let Some((id, reply, answer)) = self.unless_synced(command, id, reply, answer) {
                    self.timeline.finish(id, reply, answer);
                }
            }
        }
    }

    /// Passes an answer that has to wait for a durable store to the sync thread;
    /// returns any other.
    fn unless_synced(
        &self,
        command: &Command<'_>,
        id: u64,
        reply: Box<dyn Reply>,
        answer: Answer,
    ) -> Option<(u64, Box<dyn Reply>, Answer)> {
        let op = command.op();
        let durable = op == Op::Flush || (command.fua && op != Op::Read);
        if answer.is_ok()
            && durable
            && self.store.is_durable()
            && let Some(syncs) = &self.syncs
        {
            // If the thread has ended, the reply is dropped with it.
            let _ = syncs.send(Sync { id, reply });
            return None;
        }
        Some((id, reply, answer))
    }

    /// Reads or writes the data.
    fn access(&self, command: &Command<'_>) -> Answer {
        let offset = command.offset;
        let done = match command.what {
            CommandKind::Read(bytes) => {
                let mut buffer = vec![0; bytes as usize];
                return match self.store.read(offset, &mut buffer) {
                    Ok(()) => Ok(buffer),
                    Err(error) => Err(errno_of(&error)),
                };
            }
            CommandKind::Write(data) => self.store.write(offset, data),
            CommandKind::Flush => Ok(()),
            // The media keep the data, which a power failure would bring back.
            CommandKind::Trim(_) if self.power.is_some() => Ok(()),
            CommandKind::Trim(bytes) => self.store.zero(offset, bytes, true),
            CommandKind::Zero { bytes, unmap } => self.store.zero(offset, bytes, unmap),
        };
        done.map(|()| Vec::new()).map_err(|error| errno_of(&error))
    }
}

impl Drop for Export {
    fn drop(&mut self) {
        self.syncs = None;
        if let Some(syncer) = self.syncer.take() {
            let _ = syncer.join();
        }
    }
}

/// Runs the sync thread: makes the store durable, once for all waiting requests.
fn sync(waiting: &Receiver<Sync>, timeline: &Timeline, flushes: &Flushes) {
    while let Ok(first) = waiting.recv() {
        let all: Vec<_> = std::iter::once(first).chain(waiting.try_iter()).collect();
        let done = flushes.flush();
        for Sync { id, reply } in all {
            timeline.finish(id, reply, done.map(|()| Vec::new()));
        }
    }
}
