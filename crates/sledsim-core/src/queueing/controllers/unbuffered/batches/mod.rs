//! Batches: commands that a station serves together.
//! Batches form in two ways (CMU-CS-03-125, section 3.3), and in a third
//! described in `merging`. The host links the commands: they wait until the
//! last one has arrived. Or the device delays the first command for a window of
//! time: when it is over and the mechanism is free, all ready commands are
//! grouped, in the order of arrival; each command takes along those that need
//! no further pass.
//!
//! A batch enters the scheduler as one request with all extents, marked as
//! gathered and linked; its id is the slot of its commands here, with the mark of own work
//! if all of them have it. The mechanism
//! serves it in passes, and each command has a row: it starts with the
//! positioning for the first pass with blocks of the command; the time of
//! passes without any is `other`. A read is complete when the last of its
//! blocks has crossed the bus, a write with its last pass. The energy of a pass
//! is divided by blocks. `grouping` forms the batches of a window; `serving`
//! divides the passes among the commands.

mod grouping;
mod serving;

use super::Station;
use super::merging::Merging;
use crate::model::mechanism::Mechanism;
use crate::queueing::schedulers::Waiting;
use grouping::Grouping;
use serving::BatchInService;
use slab::Slab;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::request::{Extents, Flags, OWN_WORK, Request};
use sledsim_base::units::Nanos;

/// Which commands become a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Batching {
    /// No command; links are ignored.
    None,
    /// Commands linked by the host.
    #[default]
    Explicit,
    /// Commands that are ready when this time after the first has passed,
    /// regardless of links.
    Window(Nanos),
    /// Waiting commands whose extents adjoin that of the command picked.
    Adjacent,
}

impl Batching {
    /// Reads the table `[batching]`, if it is there.
    pub fn read(keys: &mut Keys) -> Result<Self> {
        let Some(mut keys) = keys.take_table("batching") else {
            return Ok(Self::default());
        };
        let window = Self::Window(Nanos::ZERO);
        let named = [
            ("explicit", Self::Explicit),
            ("window", window),
            ("adjacent", Self::Adjacent),
            ("none", Self::None),
        ];
        let mut kind = keys.choice("kind", &named)?;
        if kind == window {
            let ms = keys.f64("window_ms", Range::at_least(0.0).at_most(1e6))?;
            kind = Self::Window(Nanos::from_ms(ms));
        } else if keys.has("window_ms") {
            return Err(keys.refuse("window_ms", "must come with kind = \"window\" only"));
        }
        keys.finish()?;
        Ok(kind)
    }
}

/// The commands of batches and the state of the one in service; memory is
/// reused.
#[derive(Debug, Default)]
pub(super) struct Batches {
    /// Batches that lack their last command: stream and slot.
    incomplete: Vec<(u32, usize)>,
    store: CommandStore,
    served: BatchInService,
    pub(super) merging: Merging,
    grouping: Grouping,
}

/// Commands by slot.
#[derive(Debug, Default)]
struct CommandStore {
    slots: Slab<Vec<Waiting>>,
    /// Emptied lists and extents, for reuse.
    spare_lists: Vec<Vec<Waiting>>,
    spare: Vec<Extents>,
}

impl Batches {
    /// Whether any batch still lacks its last command.
    #[inline]
    pub fn has_incomplete(&self) -> bool {
        !self.incomplete.is_empty()
    }
}

impl CommandStore {
    /// Takes a slot without commands.
    fn take_slot(&mut self) -> usize {
        self.slots.insert(self.spare_lists.pop().unwrap_or_default())
    }

    /// Frees an emptied slot and the extents of its request.
    fn free_slot(&mut self, slot: usize, mut extents: Extents) {
        extents.clear();
        self.spare.push(extents);
        self.spare_lists.push(self.slots.remove(slot));
    }

    /// Makes one request of the commands of a slot.
    fn combine(&mut self, slot: usize) -> Waiting {
        let mut extents = self.spare.pop().unwrap_or_default();
        let members = &self.slots[slot];
        for member in members {
            extents.extend_from_slice(&member.request.extents);
        }
        let mark = (members.iter()).fold(OWN_WORK, |mark, member| mark & member.request.id);
        let latest = |time: fn(&Waiting) -> Nanos| members.iter().map(time).max();
        let first = &members[0];
        Waiting {
            request: Request {
                id: slot as u64 | mark,
                flags: Flags::LINKED | Flags::GATHERED,
                extents,
                ..first.request
            },
            queue_depth: first.queue_depth,
            ready: latest(|member| member.ready).unwrap_or_default(),
            data_in: latest(|member| member.data_in).unwrap_or_default(),
        }
    }
}

impl<M: Mechanism> Station<M> {
    /// Adds a command that may be part of a batch; returns a complete batch, or the
    /// command itself if it is part of none.
    #[cold]
    pub(super) fn add_to_batch(&mut self, mut waiting: Waiting) -> Option<Waiting> {
        let batches = &mut self.batches;
        let (linked, stream) =
            (waiting.request.flags.contains(Flags::LINKED), waiting.request.stream);
        let index = batches.incomplete.iter().position(|(of, _)| *of == stream);
        if !linked && (index.is_none() || waiting.request.flags.contains(Flags::BACKGROUND)) {
            return Some(waiting);
        }
        waiting.request.flags.remove(Flags::LINKED);
        let place = index.unwrap_or_else(|| {
            let slot = batches.store.take_slot();
            batches.incomplete.push((stream, slot));
            batches.incomplete.len() - 1
        });
        let slot = batches.incomplete[place].1;
        batches.store.slots[slot].push(waiting);
        if linked {
            self.in_batches += 1;
            return None;
        }
        batches.incomplete.swap_remove(place);
        Some(batches.store.combine(slot))
    }

    /// Merges the request picked with the waiting requests that adjoin it.
    pub(super) fn merge(&mut self, picked: Waiting) -> Waiting {
        let Batches { merging, store, .. } = &mut self.batches;
        merging.collect(&picked);
        if merging.group.len() < 2 {
            return picked;
        }
        let others = merging.group.len() - 1;
        self.waiting -= others;
        self.in_batches += others;
        let slot = store.take_slot();
        store.slots[slot].append(&mut merging.group);
        store.combine(slot)
    }
}
