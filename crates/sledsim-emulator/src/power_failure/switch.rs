//! The power of an export: on or off.

use super::data::{Base, WrittenData};
use super::recording::{RecordingFolder, document};
use super::spec::{CutSpec, Schedule};
use crate::command::{Command, CommandKind};
use crate::errno::{Errno, errno_of};
use crate::store::Store;
use crate::timeline::{Answer, Timeline, Unanswered};
use serde_json::{Value, json};
use sledsim_base::error::{Error, Result};
use sledsim_base::request::{Flags, Op, Request};
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use sledsim_core::catalog::Device;
use sledsim_core::model::torn_blocks::TornBlocks;
use sledsim_experiments::power_failure::{Epoch, History, Recorded, fail};
use smallvec::SmallVec;
use std::collections::{BTreeSet, HashSet};
use std::io;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

/// Something that ends when power fails: a connection.
pub trait HangUp: Send + Sync {
    /// Ends it; must not block.
    fn hang_up(&self);
}

/// The power of an export.
pub struct Power {
    device: Device,
    timeline: Arc<Timeline>,
    store: Arc<dyn Store>,
    torn: TornBlocks,
    back_after: Option<Nanos>,
    state: Mutex<SwitchState>,
    changed: Condvar,
}

struct SwitchState {
    on: bool,
    stopped: bool,
    schedule: Schedule,
    /// When power returns by itself.
    back_at: Option<Nanos>,
    /// From power-on until the device has started, and from then until it has recovered.
    back: (Nanos, Nanos),
    data: WrittenData,
    history: History,
    /// Why the store did not take an image: power does not return then.
    failed: Option<String>,
    unreadable: BTreeSet<u64>,
    last: Option<Value>,
    cuts: u64,
    /// Connections, with the streams of their commands.
    links: Vec<(u32, Weak<dyn HangUp>)>,
    /// The streams of connections that have ended: what they sent is lost, also what is still
    /// on its way to the device.
    ended: HashSet<u32>,
    recording: Option<RecordingFolder>,
}

/// Ids and answers of commands that were begun.
pub type Begun = (Range<u64>, SmallVec<[Answer; 1]>);

/// Commands that were not begun.
pub(crate) struct NotBegun {
    pub(crate) errno: Errno,
    /// The replies to others, if power has failed now.
    pub(crate) unanswered: Unanswered,
}

impl From<Errno> for NotBegun {
    fn from(errno: Errno) -> Self {
        let unanswered = Unanswered::default();
        Self { errno, unanswered }
    }
}

impl Power {
    /// Starts with power on. The model of `timeline` keeps contents, with these torn
    /// blocks; `recording` receives all requests and data.
    pub(crate) fn start(
        device: Device,
        timeline: Arc<Timeline>,
        store: Arc<dyn Store>,
        torn: TornBlocks,
        cuts: CutSpec,
        recording: Option<RecordingFolder>,
    ) -> Result<Arc<Self>> {
        timeline.keep_completions();
        let mut recording = recording;
        if let Some(folder) = &mut recording {
            folder.started(timeline.clock_start_ns());
        }
        let data = match &recording {
            Some(folder) => folder.create_data()?,
            None => WrittenData::in_memory()?.with_initial(),
        };
        let power = Arc::new(Self {
            device,
            timeline,
            store,
            torn,
            back_after: cuts.back_after,
            state: Mutex::new(SwitchState {
                on: true,
                stopped: false,
                schedule: Schedule::new(cuts.when),
                back_at: None,
                back: (Nanos::ZERO, Nanos::ZERO),
                data,
                history: History { epochs: vec![Epoch::default()] },
                failed: None,
                unreadable: BTreeSet::new(),
                last: None,
                cuts: 0,
                links: Vec::new(),
                ended: HashSet::new(),
                recording,
            }),
            changed: Condvar::new(),
        });
        let weak = Arc::downgrade(&power);
        thread::Builder::new()
            .name("sledsim-power".into())
            .spawn(move || watch(&weak))
            .map_err(|error| Error::System(format!("cannot start a thread: {error}")))?;
        Ok(power)
    }

    fn state(&self) -> MutexGuard<'_, SwitchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether power is off.
    pub fn is_off(&self) -> bool {
        !self.state().on
    }

    /// Whether it has ended the connection whose commands have this number.
    pub(crate) fn has_ended(&self, stream: u32) -> bool {
        self.state().ended.contains(&stream)
    }

    /// Whether one of these blocks cannot be read since power has failed.
    pub(crate) fn cannot_read(&self, lbns: Range<u64>) -> bool {
        self.state().unreadable.range(lbns).next().is_some()
    }

    /// Ends `link`, whose commands have the number `stream`, when power fails. None of them
    /// begins afterwards, also once power is back. Returns `false` if it is off.
    pub fn register(&self, stream: u32, link: Weak<dyn HangUp>) -> bool {
        let mut state = self.state();
        state.links.retain(|(_, link)| link.strong_count() > 0);
        state.links.push((stream, link));
        state.on
    }

    /// Begins commands at one instant, keeps the data that they write, and moves all data.
    ///
    /// # Errors
    /// `EIO` while power is off, for commands of a connection that it has ended, and if it
    /// fails by these commands: the replies to those in flight are returned then.
    pub(crate) fn begin(
        &self,
        commands: &[Command<'_>],
        requests: impl Iterator<Item = Request>,
        access: impl Fn(&Command<'_>) -> Answer,
    ) -> std::result::Result<Begun, NotBegun> {
        let mut state = self.state();
        let has_ended = |command: &Command<'_>| state.ended.contains(&command.stream);
        if !state.on || commands.iter().any(has_ended) {
            return Err(Errno::IO.into());
        }
        for command in commands {
            if state.schedule.arrives(matches!(command.what, CommandKind::Flush)) {
                let (_, unanswered) = self.cut_at(state, None);
                let errno = Errno::IO;
                return Err(NotBegun { errno, unanswered });
            }
        }
        let mut tokens = SmallVec::<[u64; 1]>::new();
        for command in commands {
            match self.keep(&mut state.data, command) {
                Ok(token) => tokens.push(token),
                Err(error) => {
                    if let Some(folder) = &mut state.recording {
                        folder.lacks(&error);
                    }
                    return Err(errno_of(&error).into());
                }
            }
        }
        let (mut index, SwitchState { history, .. }) = (0, &mut *state);
        let epoch = history.epochs.last_mut().expect("one at least");
        let ids = self.timeline.begin_all(requests, |request, model| {
            let recorded = recorded(request, tokens[index]);
            index += 1;
            if request.op == Op::Write
                && let Some(contents) = model.contents()
            {
                contents.stage_write(&recorded.tokens());
            }
            epoch.requests.push(recorded);
        });
        let answers = commands.iter().map(|command| {
            let lbns = command.blocks();
            match command.what {
                CommandKind::Read(_) if state.unreadable.range(lbns.clone()).next().is_some() => {
                    return Err(Errno::IO);
                }
                CommandKind::Read(_) | CommandKind::Flush | CommandKind::Trim(_) => {}
                _ => state.unreadable.retain(|lbn| !lbns.contains(lbn)),
            }
            access(command)
        });
        let answers = answers.collect();
        Ok((ids, answers))
    }

    /// Keeps the data of a write, whole blocks, before they are in the store. Returns the
    /// token of the first.
    fn keep(&self, data: &mut WrittenData, command: &Command<'_>) -> io::Result<u64> {
        let lbns = command.blocks();
        let count = lbns.end - lbns.start;
        let (bytes, zeroes) = match command.what {
            CommandKind::Read(_) | CommandKind::Flush | CommandKind::Trim(_) => return Ok(0),
            CommandKind::Write(bytes) => (bytes, false),
            CommandKind::Zero { .. } => (&[][..], true),
        };
        data.keep_initial(&*self.store, &lbns)?;
        let whole = (command.offset | command.bytes()).is_multiple_of(BLOCK_BYTES);
        match (whole, zeroes) {
            (true, true) => data.append(None, count),
            (true, false) => data.append(Some(bytes), count),
            (false, _) => {
                let first = lbns.start * BLOCK_BYTES;
                let mut merged = vec![0; (count * BLOCK_BYTES) as usize];
                self.store.read(first, &mut merged)?;
                let at = (command.offset - first) as usize;
                let part = &mut merged[at..at + command.bytes() as usize];
                match zeroes {
                    true => part.fill(0),
                    false => part.copy_from_slice(bytes),
                }
                data.append(Some(&merged), count)
            }
        }
    }

    /// Power fails now.
    ///
    /// # Errors
    /// Power that is off; a store that cannot take the image.
    pub fn cut(&self) -> Result<Value> {
        self.cut_at(self.state(), None).0
    }

    /// Also returns the replies that are not sent; no lock is held then.
    fn cut_at(
        &self,
        mut state: MutexGuard<'_, SwitchState>,
        at: Option<Nanos>,
    ) -> (Result<Value>, Unanswered) {
        if !state.on {
            let problem = "power cut: power is off already; power it on first";
            let refused = Err(Error::Key(problem.to_owned()));
            return (refused, Unanswered::default());
        }
        state.on = false;
        state.schedule.at = None;
        // First, so that no client sees an answer to what is lost.
        for (stream, link) in std::mem::take(&mut state.links) {
            state.ended.insert(stream);
            if let Some(link) = link.upgrade() {
                link.hang_up();
            }
        }
        let SwitchState { history, data, recording, .. } = &mut *state;
        let epoch = history.epochs.last_mut().expect("one at least");
        let (outcome, unanswered) = self.timeline.cut(at, |model, at, completed| {
            for (id, completion) in completed.into_iter().filter(|(_, end)| *end < at) {
                epoch.complete(id, completion);
            }
            epoch.cut = Some(at);
            fail(&self.device, model, &self.torn, (&[], epoch), at)
        });
        let Some(outcome) = outcome else {
            let why = self.timeline.failed().unwrap_or_default();
            return (Err(Error::System(format!("power cut: {why}"))), unanswered);
        };
        let base = Base {
            store: recording.as_ref().map_or(&*self.store, RecordingFolder::base),
            torn: &self.torn,
        };
        let restored = data.restore(&outcome.image, &base, &*self.store);
        let zero = epoch.zero;
        state.unreadable.extend(outcome.image.unreadable(&self.torn));
        state.back = (outcome.startup, outcome.recovery);
        state.back_at = self.back_after.map(|after| outcome.at + after);
        state.cuts += 1;
        let document = document(&outcome, zero);
        state.last = Some(document.clone());
        if let Err(error) = &restored {
            state.failed = Some(format!("the store does not take the image: {error}"));
        }
        self.changed.notify_all();
        drop(state);
        let result = match restored {
            Ok(_) => Ok(document),
            Err(error) => {
                Err(Error::System(format!("power cut: the store does not take the image: {error}")))
            }
        };
        (result, unanswered)
    }

    /// Power returns now; the device starts, and recovers.
    ///
    /// # Errors
    /// Power that is on; an image that the store did not take.
    pub fn on(&self) -> Result<Value> {
        self.power_on(self.state())
    }

    fn power_on(&self, mut state: MutexGuard<'_, SwitchState>) -> Result<Value> {
        if state.on {
            return Err(Error::Key("power on: power is on already".to_owned()));
        }
        if let Some(failed) = &state.failed {
            return Err(Error::System(format!("power on: {failed}")));
        }
        let (startup, recovery) = state.back;
        let ready = startup + recovery;
        let zero = self.timeline.power_on(ready);
        state.history.epochs.push(Epoch { zero, ..Epoch::default() });
        state.schedule.power_on(zero + ready);
        state.back_at = None;
        state.on = true;
        self.changed.notify_all();
        Ok(json!({
            "at_ns": zero.0,
            "startup_ns": startup.0,
            "recovery_ns": recovery.0,
        }))
    }

    /// Its state as JSON: whether power is on, the cuts so far, the last one.
    pub fn to_json(&self) -> Value {
        let state = self.state();
        json!({
            "on": state.on,
            "cuts": state.cuts,
            "unreadable": state.unreadable.len(),
            "next_cut_ns": state.schedule.at.map(|at| at.0),
            "back_at_ns": state.back_at.map(|at| at.0),
            "last_cut": state.last,
        })
    }

    /// Completes the recording, if there is one.
    pub(crate) fn finish(&self) -> Result<()> {
        let mut state = self.state();
        state.stopped = true;
        self.changed.notify_all();
        let Some(folder) = state.recording.take() else {
            return Ok(());
        };
        let SwitchState { history, data, .. } = &mut *state;
        if let Some(epoch) = history.epochs.last_mut().filter(|epoch| epoch.cut.is_none()) {
            for (id, completion) in self.timeline.completed() {
                epoch.complete(id, completion);
            }
        }
        folder.finish(history, data)
    }

    /// Waits for the next instant at which power fails or returns; returns whether to go
    /// on.
    fn step(&self) -> bool {
        let state = self.state();
        if state.stopped {
            return false;
        }
        let next = match state.on {
            true => state.schedule.at,
            false => state.back_at,
        };
        let left = next.map_or(WATCHED, |at| self.timeline.left(at));
        if left > Duration::ZERO {
            let waited = self.changed.wait_timeout(state, left.min(WATCHED));
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        } else if state.on {
            let _ = self.cut_at(state, next);
        } else {
            let _ = self.power_on(state);
        }
        true
    }
}

/// How often the thread looks whether the export is still there.
const WATCHED: Duration = Duration::from_millis(500);

fn watch(power: &Weak<Power>) {
    while power.upgrade().is_some_and(|power| power.step()) {}
}

fn recorded(request: &Request, first_token: u64) -> Recorded {
    Recorded {
        id: request.id,
        op: request.op,
        lbn: request.lbn(),
        blocks: request.blocks(),
        fua: request.flags.contains(Flags::FUA),
        linked: request.flags.contains(Flags::LINKED),
        stream: request.stream,
        arrival: request.arrival,
        completion: None,
        first_token,
    }
}
