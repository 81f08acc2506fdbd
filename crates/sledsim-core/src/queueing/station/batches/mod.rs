//! Batches: commands that a station serves together.
//!
//! Two ways lead to one (CMU-CS-03-125, section 3.3), and a third has a page of
//! its own: `merging`. The host links the
//! commands: they wait until the last one is there. Or the device holds back
//! the first command for a window of time: when it is over and the mechanism is
//! free, all that is ready is grouped, in the order of arrival; with a command
//! go those that need no pass beside its own.
//!
//! A batch enters the scheduler as one request with all extents, gathered and
//! marked as linked; its id is the place of its commands here. The mechanism serves it in
//! passes, and each command has a row: it starts with the positioning for the
//! first pass that has blocks of it, and passes without any are `other`. A read
//! is complete when the last of its blocks has crossed the bus, a write with its
//! last pass. A pass's energy is shared by blocks.

mod grouping;
mod serving;

use super::merging::Merging;
use super::plain::Station;
use crate::model::mechanism::Mechanism;
use crate::queueing::schedulers::Waiting;
use grouping::Grouping;
use serving::Served;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::request::{Extents, Flags, Request};
use sledsim_base::units::Nanos;

/// Which commands become a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Batching {
    /// None: links are ignored.
    None,
    /// Those that the host links.
    #[default]
    Explicit,
    /// Those that are ready so long after the first, whatever their links.
    Window(Nanos),
    /// Those that wait and lie side by side with the one that is picked.
    Adjacent,
}

impl Batching {
    /// Reads the table `[batching]`, if it is there.
    ///
    /// # Errors
    /// The key that is unknown, missing or not allowed.
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

/// The commands of batches, and what serving one takes; memory is used again.
#[derive(Debug, Default)]
pub(super) struct Batches {
    /// Batches that are not complete: stream and slot.
    open: Vec<(u32, usize)>,
    store: Store,
    served: Served,
    pub(super) merging: Merging,
    grouping: Grouping,
}

/// Commands by slot.
#[derive(Debug, Default)]
struct Store {
    slots: Vec<Vec<Waiting>>,
    free: Vec<usize>,
    /// Extents that were served.
    spare: Vec<Extents>,
}

impl Batches {
    /// Whether any batch lacks its last command.
    #[inline]
    pub fn are_open(&self) -> bool {
        !self.open.is_empty()
    }
}

impl Store {
    /// A slot without commands.
    fn slot(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.slots.push(Vec::new());
            self.slots.len() - 1
        })
    }

    /// Takes back a slot that was emptied, and the extents of its request.
    fn give_back(&mut self, slot: usize, mut extents: Extents) {
        extents.clear();
        self.spare.push(extents);
        self.free.push(slot);
    }

    /// The request that stands for the commands of a slot.
    fn whole(&mut self, slot: usize) -> Waiting {
        let mut extents = self.spare.pop().unwrap_or_default();
        let members = &self.slots[slot];
        for member in members {
            extents.extend_from_slice(&member.request.extents);
        }
        let latest = |time: fn(&Waiting) -> Nanos| members.iter().map(time).max();
        let first = &members[0];
        Waiting {
            request: Request {
                id: slot as u64,
                flags: Flags {
                    linked: true,
                    gathered: true,
                    ..Flags::default()
                },
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
    /// Takes a command that may be part of a batch: what is then ready, a whole
    /// batch or a command that is part of none.
    #[cold]
    pub(super) fn join(&mut self, mut waiting: Waiting) -> Option<Waiting> {
        let batches = &mut self.batches;
        let (linked, stream) = (waiting.request.flags.linked, waiting.request.stream);
        let known = batches.open.iter().position(|(of, _)| *of == stream);
        if !linked && (known.is_none() || waiting.request.flags.background) {
            return Some(waiting);
        }
        waiting.request.flags.linked = false;
        let place = known.unwrap_or_else(|| {
            let slot = batches.store.slot();
            batches.open.push((stream, slot));
            batches.open.len() - 1
        });
        let slot = batches.open[place].1;
        batches.store.slots[slot].push(waiting);
        if linked {
            self.in_batches += 1;
            return None;
        }
        batches.open.swap_remove(place);
        Some(batches.store.whole(slot))
    }

    /// What the scheduler picked, with those that lie side by side with it.
    pub(super) fn merge(&mut self, picked: Waiting) -> Waiting {
        let Batches { merging, store, .. } = &mut self.batches;
        merging.gather(&picked);
        if merging.group.len() < 2 {
            return picked;
        }
        let others = merging.group.len() - 1;
        self.waiting -= others;
        self.in_batches += others;
        let slot = store.slot();
        store.slots[slot].append(&mut merging.group);
        store.whole(slot)
    }
}
