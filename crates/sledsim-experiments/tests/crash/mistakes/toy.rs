//! A small write-back cache, correct or with one defect.
//!
//! Blocks are written to free slots of the front; a directory that survives
//! power failures says which slot is the newest of a block, and is changed when
//! the slot has been written. When few slots are free, blocks are copied to the
//! back, and leave the directory when they are there. A slot is free again when
//! no request reads it any more.

use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, Extents, Flags, Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::compose::Children;
use sledsim_core::compose::hybrids::{BACK, FRONT};
use sledsim_core::model::contents::Contents;
use sledsim_core::model::{CompletionSink, Model, Report};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// Nothing.
    None,
    /// Writes are acknowledged before the front has them.
    AcknowledgesAtOnce,
    /// Writes are acknowledged when the first part of them is in the front.
    AcknowledgesTheFirstPart,
    /// The directory names a slot before it has been written.
    EntersBeforeWritten,
    /// The directory does not survive.
    ForgetsTheDirectory,
    /// Recovery leaves one block out.
    ForgetsOneEntry,
    /// Recovery finds one block a slot further on.
    FindsTheNextSlot,
    /// Recovery finds a block again that had left the directory.
    ResurrectsAnEntry,
    /// A block leaves the directory before it is in the back.
    LeavesBeforeInBack,
    /// A newer version leaves the directory with an older one.
    LeavesWithTheOlder,
    /// A slot is free while its block is on its way to the back.
    FreesBeforeInBack,
    /// A slot is free while somebody reads it.
    FreesWhileRead,
    /// Reads that are partly in the front are served by the back.
    ReadsTheBack,
    /// Several versions of a block are copied to the back, the last one first.
    LosesTheOrder,
    /// A back with a volatile buffer is not told to write through.
    TrustsTheBuffer,
    /// Tokens of larger writes are in the wrong order.
    MixesBlocksUp,
    /// Recovery empties the front, and the directory first.
    EmptiesTheDirectoryFirst,
    /// What was recovered is there for whoever looks, not for those who read.
    Flickers,
    /// A write that has to wait is forgotten.
    ForgetsWhoWaits,
}

/// How many blocks go to the front at once.
const PART_BLOCKS: usize = 4;
/// How many copies are under way at once.
const MOST_COPIES: usize = 3;

/// What a request of a child is for.
enum Job {
    Write { host: u64, blocks: Vec<(u64, u64)> },
    Read { host: u64, places: Vec<usize>, slots: Vec<u64> },
    CopyOut { lbn: u64, slot: u64 },
    CopyIn { lbn: u64, slot: u64 },
}

struct HostRequest {
    row: Row,
    /// Parts to come.
    left: usize,
    tokens: Vec<u64>,
}

pub struct Toy {
    mistake: Mistake,
    children: Children,
    /// What survives: the slot of each block in the front.
    directory: BTreeMap<u64, u64>,
    last_left: Option<(u64, u64)>,
    slots: u64,
    free: VecDeque<u64>,
    /// How many read a slot, and slots that are to be free when nobody does.
    pins: BTreeMap<u64, u32>,
    dead: BTreeSet<u64>,
    copying: BTreeSet<u64>,
    copies: usize,
    /// Copies whose order is lost.
    stack: Vec<(u64, u64, u64)>,
    in_back: usize,
    /// Parts of writes that wait for slots.
    waiting: VecDeque<(u64, Vec<(u64, u64)>)>,
    ignored: BTreeSet<u64>,
    open: BTreeMap<u64, HostRequest>,
    jobs: BTreeMap<u64, Job>,
    next_id: u64,
    held: Vec<u64>,
    returned: BTreeMap<u64, Vec<u64>>,
}

impl Toy {
    pub fn new(mistake: Mistake, front: Box<dyn Model>, back: Box<dyn Model>) -> Self {
        let slots = front.blocks();
        Self {
            mistake,
            children: Children::new(vec![front, back]),
            directory: BTreeMap::new(),
            last_left: None,
            slots,
            free: (0..slots).collect(),
            pins: BTreeMap::new(),
            dead: BTreeSet::new(),
            copying: BTreeSet::new(),
            copies: 0,
            stack: Vec::new(),
            in_back: 0,
            waiting: VecDeque::new(),
            ignored: BTreeSet::new(),
            open: BTreeMap::new(),
            jobs: BTreeMap::new(),
            next_id: 0,
            held: Vec::new(),
            returned: BTreeMap::new(),
        }
    }

    fn is(&self, mistake: Mistake) -> bool {
        self.mistake == mistake
    }

    fn child(&mut self, index: usize) -> &mut dyn Contents {
        self.children.contents(index).expect("a keeper")
    }

    fn send(
        &mut self,
        child: usize,
        at: Nanos,
        op: Op,
        blocks: &[u64],
        job: Job,
        sink: &mut dyn CompletionSink,
    ) {
        let mut extents = Extents::new();
        for &lbn in blocks {
            match extents.last_mut() {
                Some(last) if last.end() == lbn => last.blocks += 1,
                _ => extents.push(Extent { lbn, blocks: 1 }),
            }
        }
        let parent = match &job {
            Job::Write { host, .. } | Job::Read { host, .. } => Some(*host),
            Job::CopyOut { .. } | Job::CopyIn { .. } => None,
        };
        let id = self.next_id;
        self.next_id += 1;
        self.jobs.insert(id, job);
        let fua = child == BACK && op == Op::Write && !self.is(Mistake::TrustsTheBuffer);
        let request = Request {
            id,
            parent,
            arrival: at,
            op,
            flags: Flags::FUA.when(fua),
            extents,
            ..Request::default()
        };
        self.children.submit(child, request, sink);
    }

    fn pin(&mut self, slot: u64) {
        *self.pins.entry(slot).or_default() += 1;
    }

    fn unpin(&mut self, slot: u64) {
        let pins = self.pins.entry(slot).or_default();
        *pins = pins.saturating_sub(1);
        if *pins == 0 && self.dead.remove(&slot) {
            self.free.push_back(slot);
        }
    }

    fn release(&mut self, slot: u64) {
        let is_read = self.pins.get(&slot).is_some_and(|pins| *pins > 0);
        if is_read && !self.is(Mistake::FreesWhileRead) {
            self.dead.insert(slot);
        } else if is_read {
            self.free.push_front(slot);
        } else if !self.free.contains(&slot) {
            self.free.push_back(slot);
        }
    }

    fn enter(&mut self, lbn: u64, slot: u64) {
        self.ignored.remove(&lbn);
        if let Some(old) = self.directory.insert(lbn, slot)
            && old != slot
        {
            self.release(old);
        }
    }

    fn leave(&mut self, lbn: u64, slot: u64) {
        let newest = self.directory.get(&lbn) == Some(&slot);
        if newest || self.is(Mistake::LeavesWithTheOlder) {
            self.directory.remove(&lbn);
            self.last_left = Some((lbn, slot));
            self.release(slot);
        }
    }

    /// Writes what there is room for, and makes room.
    fn work(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        while let Some((_, blocks)) = self.waiting.front()
            && blocks.len() <= self.free.len()
        {
            let Some((host, blocks)) = self.waiting.pop_front() else {
                break;
            };
            let slots: Vec<u64> = self.free.drain(..blocks.len()).collect();
            let mut tokens: Vec<u64> = blocks.iter().map(|of| of.1).collect();
            if self.is(Mistake::MixesBlocksUp) && tokens.len() > 2 {
                tokens.swap(1, 2);
            }
            self.child(FRONT).stage_write(&tokens);
            let lbns = blocks.iter().map(|of| of.0);
            let entries: Vec<_> = lbns.zip(slots.iter().copied()).collect();
            if self.is(Mistake::EntersBeforeWritten) {
                for (lbn, slot) in &entries {
                    self.enter(*lbn, *slot);
                }
            }
            let job = Job::Write { host, blocks: entries };
            self.send(FRONT, at, Op::Write, &slots, job, sink);
        }
        if self.is(Mistake::ForgetsWhoWaits) && self.waiting.len() > 3 {
            self.waiting.pop_back();
        }
        while self.free.len() < self.slots as usize / 2 && self.copies < MOST_COPIES {
            let again = self.is(Mistake::LosesTheOrder);
            let may = |of: &(&u64, &u64)| {
                !self.copying.contains(of.1) && (again || !self.lbn_is_copied(*of.0))
            };
            let Some((lbn, slot)) = self.directory.iter().find(may) else {
                break;
            };
            let (lbn, slot) = (*lbn, *slot);
            self.copying.insert(slot);
            self.copies += 1;
            self.pin(slot);
            let job = Job::CopyOut { lbn, slot };
            self.send(FRONT, at, Op::Read, &[slot], job, sink);
        }
    }

    fn lbn_is_copied(&self, wanted: u64) -> bool {
        self.jobs.values().any(|job| match job {
            Job::CopyOut { lbn, .. } | Job::CopyIn { lbn, .. } => *lbn == wanted,
            Job::Write { .. } | Job::Read { .. } => false,
        })
    }

    fn copy_in(&mut self, at: Nanos, of: (u64, u64, u64), sink: &mut dyn CompletionSink) {
        let (lbn, slot, token) = of;
        self.in_back += 1;
        if self.is(Mistake::LeavesBeforeInBack) {
            self.leave(lbn, slot);
        }
        if self.is(Mistake::FreesBeforeInBack) && !self.free.contains(&slot) {
            self.free.push_back(slot);
        }
        self.child(BACK).stage_write(&[token]);
        let job = Job::CopyIn { lbn, slot };
        self.send(BACK, at, Op::Write, &[lbn], job, sink);
    }

    fn child_done(&mut self, child: usize, row: &Row, sink: &mut dyn CompletionSink) {
        let at = row.completion;
        match self.jobs.remove(&row.id) {
            Some(Job::Write { host, blocks }) => {
                for (lbn, slot) in blocks {
                    self.enter(lbn, slot);
                }
                self.part_done(host, row, sink);
            }
            Some(Job::Read { host, places, slots }) => {
                let tokens = self.child(child).take_read_data(row.id);
                for slot in slots {
                    self.unpin(slot);
                }
                if let Some(open) = self.open.get_mut(&host) {
                    for (place, token) in places.into_iter().zip(tokens) {
                        open.tokens[place] = token;
                    }
                }
                self.part_done(host, row, sink);
            }
            Some(Job::CopyOut { lbn, slot }) => {
                let tokens = self.child(FRONT).take_read_data(row.id);
                let copy = (lbn, slot, tokens[0]);
                if self.is(Mistake::LosesTheOrder) {
                    self.stack.push(copy);
                } else {
                    self.copy_in(at, copy, sink);
                }
            }
            Some(Job::CopyIn { lbn, slot }) => {
                self.in_back -= 1;
                self.copies -= 1;
                self.copying.remove(&slot);
                self.leave(lbn, slot);
                self.unpin(slot);
            }
            None => {}
        }
        if self.in_back == 0
            && (self.stack.len() >= MOST_COPIES || self.waiting.is_empty())
            && let Some(copy) = self.stack.pop()
        {
            self.copy_in(at, copy, sink);
        }
        self.work(at, sink);
    }

    fn part_done(&mut self, host: u64, row: &Row, sink: &mut dyn CompletionSink) {
        let Some(open) = self.open.get_mut(&host) else {
            return;
        };
        open.left -= 1;
        if open.left == 0 || self.is(Mistake::AcknowledgesTheFirstPart) && row.op == Op::Write {
            self.answer(host, row, sink);
        }
    }

    fn answer(&mut self, host: u64, child: &Row, sink: &mut dyn CompletionSink) {
        let Some(open) = self.open.remove(&host) else {
            return;
        };
        let mut row = Row {
            start: child.start,
            completion: child.completion,
            parts: child.parts,
            ..open.row
        };
        row.parts.queue += child.arrival - row.arrival;
        self.returned.insert(host, open.tokens);
        sink.done(&row);
    }

    fn read(&mut self, request: &Request, blocks: &[u64], sink: &mut dyn CompletionSink) {
        let mut parts = [(Vec::new(), Vec::new()), (Vec::new(), Vec::new())];
        let entry = |lbn: &u64| {
            let slot = self.directory.get(lbn).copied();
            slot.filter(|_| !self.ignored.contains(lbn))
        };
        let in_back = self.is(Mistake::ReadsTheBack) && blocks.iter().any(|b| entry(b).is_none());
        for (place, lbn) in blocks.iter().enumerate() {
            let (child, block) = match entry(lbn) {
                Some(slot) if !in_back => (FRONT, slot),
                _ => (BACK, *lbn),
            };
            parts[child].0.push(block);
            parts[child].1.push(place);
        }
        let left = parts.iter().filter(|part| !part.0.is_empty()).count();
        self.open_with(request, left);
        for (child, (blocks, places)) in parts.into_iter().enumerate() {
            if blocks.is_empty() {
                continue;
            }
            let slots = if child == FRONT { blocks.clone() } else { Vec::new() };
            for slot in &slots {
                self.pin(*slot);
            }
            let job = Job::Read { host: request.id, places, slots };
            self.send(child, request.arrival, Op::Read, &blocks, job, sink);
        }
    }

    fn open_with(&mut self, request: &Request, left: usize) {
        let open = HostRequest {
            row: Row::of(request, 0),
            left,
            tokens: vec![0; request.blocks() as usize],
        };
        self.open.insert(request.id, open);
    }
}

impl Model for Toy {
    fn blocks(&self) -> u64 {
        self.children.blocks(BACK)
    }

    fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink) {
        self.advance(request.arrival, false, sink);
        let extents = request.extents.iter();
        let blocks: Vec<u64> = extents.flat_map(|e| e.lbn..e.end()).collect();
        let at_once =
            Row { start: request.arrival, completion: request.arrival, ..Row::of(&request, 0) };
        match request.op {
            Op::Read => self.read(&request, &blocks, sink),
            Op::Write => {
                let tokens = std::mem::take(&mut self.held);
                let of: Vec<_> = blocks.into_iter().zip(tokens).collect();
                let parts = of.chunks(PART_BLOCKS);
                if self.is(Mistake::AcknowledgesAtOnce) {
                    sink.done(&at_once);
                } else {
                    self.open_with(&request, parts.len());
                }
                for part in parts {
                    self.waiting.push_back((request.id, part.to_vec()));
                }
                self.work(request.arrival, sink);
            }
            // What is acknowledged is safe.
            Op::Flush | Op::Trim => sink.done(&at_once),
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        self.children.next_at()
    }

    fn happen(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        if let Some(Some((child, row))) = self.children.step(at, true, sink) {
            self.child_done(child, &row, sink);
        }
    }

    fn contents(&mut self) -> Option<&mut dyn Contents> {
        Some(self)
    }

    fn report(&self, until: Nanos, reports: &mut Vec<Report>) {
        self.children.report("toy", Vec::new(), until, reports);
    }
}

struct Nobody;

impl CompletionSink for Nobody {
    fn done(&mut self, _row: &Row) {}
    fn note(&mut self, _row: &Row) {}
}

impl Contents for Toy {
    fn stage_write(&mut self, tokens: &[u64]) {
        self.held = tokens.to_vec();
    }

    fn take_read_data(&mut self, id: u64) -> Vec<u64> {
        self.returned.remove(&id).unwrap_or_default()
    }

    fn lose_power(&mut self, at: Nanos, chance: &mut Stream) {
        for child in [FRONT, BACK] {
            self.child(child).lose_power(at, chance);
        }
        self.children.forget();
        self.pins.clear();
        self.dead.clear();
        self.copying.clear();
        (self.copies, self.in_back) = (0, 0);
        self.stack.clear();
        self.waiting.clear();
        self.ignored.clear();
        self.open.clear();
        self.jobs.clear();
        self.held.clear();
        self.returned.clear();
        if self.is(Mistake::ForgetsTheDirectory) {
            self.directory.clear();
        }
    }

    fn recover_until(&mut self, at: Nanos, until: Nanos) -> Option<Nanos> {
        match self.mistake {
            Mistake::ForgetsOneEntry => {
                self.directory.pop_last();
            }
            Mistake::FindsTheNextSlot => {
                if let Some(slot) = self.directory.values_mut().next() {
                    *slot = (*slot + 1) % self.slots;
                }
            }
            Mistake::ResurrectsAnEntry => {
                if let Some((lbn, slot)) = self.last_left {
                    self.directory.entry(lbn).or_insert(slot);
                }
            }
            Mistake::Flickers => self.ignored = self.directory.keys().copied().collect(),
            _ => {}
        }
        let used: BTreeSet<u64> = self.directory.values().copied().collect();
        let all = self.directory.clone();
        let mut end = at;
        let empties = self.is(Mistake::EmptiesTheDirectoryFirst);
        for (lbn, slot) in &all {
            let (lbn, slot) = (*lbn, *slot);
            if empties {
                let token = self.child(FRONT).token(slot);
                self.child(BACK).stage_write(&[token]);
                let job = Job::CopyIn { lbn, slot };
                self.send(BACK, at, Op::Write, &[lbn], job, &mut Nobody);
            } else {
                let job = Job::CopyOut { lbn, slot };
                self.send(FRONT, at, Op::Read, &[slot], job, &mut Nobody);
            }
        }
        if empties {
            self.directory.clear();
        }
        while let Some(event) = self.children.step(until, false, &mut Nobody) {
            if let Some((_, row)) = event {
                end = end.max(row.completion);
            }
        }
        if self.children.next_at().is_some() {
            return None;
        }
        self.jobs.clear();
        if empties {
            self.free = (0..self.slots).collect();
        } else {
            self.directory = all;
            self.free = (0..self.slots).filter(|slot| !used.contains(slot)).collect();
        }
        Some(end)
    }

    fn token(&mut self, lbn: u64) -> u64 {
        match self.directory.get(&lbn).copied() {
            Some(slot) => self.child(FRONT).token(slot),
            None => self.child(BACK).token(lbn),
        }
    }
}
