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

use super::merging::Merging;
use super::plain::Station;
use crate::model::Answers;
use crate::model::mechanism::{Mechanism, PassKind};
use crate::queueing::schedulers::Waiting;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::request::{Extent, Extents, Flags, Op, Request};
use sledsim_base::row::{Row, Status};
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

/// The batch in service.
#[derive(Debug, Default)]
struct Served {
    members: Vec<Member>,
    /// First block, one past the last, and the member they are of.
    extents: Vec<(u64, u64, u32)>,
    /// Which members have how many blocks in a pass, pass by pass.
    shares: Vec<Share>,
    next_share: usize,
}

#[derive(Debug)]
struct Member {
    row: Row,
    data_in: Nanos,
    last_pass: usize,
    /// End of its last pass since the start of service.
    end: Nanos,
    energy_j: f64,
}

#[derive(Clone, Copy, Debug)]
struct Share {
    pass: usize,
    member: u32,
    blocks: u32,
}

/// Memory of [`Station::gather`].
#[derive(Debug, Default)]
struct Grouping {
    ready: Vec<Waiting>,
    taken: Vec<bool>,
    /// Where each one's first block is: row, cylinder, number.
    index: Vec<(u32, u32, usize)>,
    near: Vec<usize>,
    extents: Vec<Extent>,
    group: Vec<usize>,
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

    /// If the first command has waited long enough by `at`, hands all that is
    /// ready to the scheduler, in groups.
    pub(super) fn gather(&mut self, at: Nanos) {
        let due = |first: &Waiting| first.ready + self.window <= at;
        let Some(planner) = self.mechanism.batches() else {
            return;
        };
        if !self.incoming.front().is_some_and(due) {
            return;
        }
        let Grouping {
            ready,
            taken,
            index,
            near,
            extents,
            group,
        } = &mut self.batches.grouping;
        let store = &mut self.batches.store;
        ready.clear();
        index.clear();
        while self.incoming.front().is_some_and(|w| w.ready <= at) {
            if let Some(waiting) = self.incoming.pop_front() {
                let (row, cylinder) = planner.row_of(waiting.request.lbn());
                index.push((row, cylinder, ready.len()));
                ready.push(waiting);
            }
        }
        index.sort_unstable();
        taken.clear();
        taken.resize(ready.len(), false);
        for leader in 0..ready.len() {
            if std::mem::replace(&mut taken[leader], true) {
                continue;
            }
            extents.clear();
            extents.extend_from_slice(&ready[leader].request.extents);
            let passes = planner.passes(at, extents);
            let most = passes as u64 * u64::from(planner.parallelism());
            let mut blocks = u64::from(ready[leader].request.blocks());
            near.clear();
            if blocks < most {
                planner.reaches(at, &mut |row, low, high| {
                    let (from, until) = ((row, low, 0), (row, high, usize::MAX));
                    let places = index.partition_point(|place| *place < from)
                        ..index.partition_point(|place| *place <= until);
                    near.extend(index[places].iter().map(|place| place.2));
                });
            }
            near.sort_unstable();
            near.dedup();
            group.clear();
            group.push(leader);
            for &other in &*near {
                let request = &ready[other].request;
                let more = blocks + u64::from(request.blocks());
                if taken[other] || more > most {
                    continue;
                }
                let before = extents.len();
                extents.extend_from_slice(&request.extents);
                if planner.passes(at, extents) == passes {
                    taken[other] = true;
                    group.push(other);
                    blocks = more;
                } else {
                    extents.truncate(before);
                }
            }
            let next = match group[..] {
                [only] => std::mem::take(&mut ready[only]),
                _ => {
                    let slot = store.slot();
                    for &member in &*group {
                        store.slots[slot].push(std::mem::take(&mut ready[member]));
                    }
                    self.in_batches += group.len() - 1;
                    store.whole(slot)
                }
            };
            self.scheduler.push(next, &self.mechanism);
            self.waiting += 1;
        }
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

    /// Serves a batch from `at` on.
    pub(super) fn serve_batch(&mut self, at: Nanos, whole: Waiting, answers: &mut dyn Answers) {
        let slot = whole.request.id as usize;
        self.steps.clear();
        let service = self.mechanism.serve(at, &whole.request, &mut self.steps);
        let media = service.parts.total();
        self.mechanism_free = at + media;
        self.busy += media;
        self.row.start = at;

        let batches = &mut self.batches;
        let mut extents = whole.request.extents;
        extents.clear();
        batches.store.spare.push(extents);
        let served = &mut batches.served;
        served.members.clear();
        served.extents.clear();
        for waiting in batches.store.slots[slot].drain(..) {
            let member = served.members.len() as u32;
            let places = waiting.request.extents.iter();
            (served.extents).extend(places.map(|place| (place.lbn, place.end(), member)));
            let mut row = Row::of(&waiting.request, self.device);
            row.queue_depth = waiting.queue_depth;
            row.parts.overhead = self.interface.overhead;
            served.members.push(Member {
                row,
                data_in: waiting.data_in,
                last_pass: 0,
                end: Nanos::ZERO,
                energy_j: 0.0,
            });
        }
        batches.store.free.push(slot);
        served.extents.sort_unstable();
        self.serving = served.members.len() as u32;
        self.in_batches -= served.members.len() - 1;

        served.shares.clear();
        served.next_share = 0;
        let mut before = Nanos::ZERO;
        let passes_j: f64 = self.steps.iter().map(|step| step.energy_j).sum();
        for (pass, step) in self.steps.iter().enumerate() {
            let woken = match pass {
                0 => service.parts.other,
                _ => Nanos::ZERO,
            };
            let mut parts = step.parts(before + woken);
            parts.other = woken;
            let mut pass_j = step.energy_j;
            if pass == 0 {
                pass_j += (service.energy_nj as f64 * 1e-9 - passes_j).max(0.0);
            }
            let first = served.shares.len();
            for &lbn in self.mechanism.blocks_of(pass) {
                let place = served.extents.partition_point(|extent| extent.0 <= lbn) - 1;
                let member = served.extents[place].2;
                match served.shares[first..]
                    .iter_mut()
                    .find(|share| share.member == member)
                {
                    Some(share) => share.blocks += 1,
                    None => served.shares.push(Share {
                        pass,
                        member,
                        blocks: 1,
                    }),
                }
            }
            for share in &served.shares[first..] {
                let member = &mut served.members[share.member as usize];
                let row = &mut member.row;
                if row.passes == 0 {
                    row.start = at + before;
                    row.parts.queue = row.start - row.arrival - self.interface.overhead;
                } else {
                    row.parts.other += before - member.end;
                }
                row.parts = row.parts + parts;
                row.passes += 1;
                row.retries += u32::from(step.kind == PassKind::Retry);
                member.end = step.end;
                member.last_pass = pass;
                member.energy_j += pass_j * f64::from(share.blocks) / f64::from(step.blocks);
            }
            before = step.end;
        }
        served.share_energy(service.energy_nj);
        for &lbn in self.mechanism.lost_blocks() {
            let place = served.extents.partition_point(|extent| extent.0 <= lbn) - 1;
            let member = served.extents[place].2;
            served.members[member as usize].row.status = Status::Error;
        }

        let crosses = |op| op == Op::Read && self.interface.bus_ns_per_block > 0.0;
        self.reading = None;
        for member in &mut served.members {
            if crosses(member.row.op) {
                self.reading = Some(0);
            } else {
                let media = at + member.end;
                member.complete(media, media.max(member.data_in), answers);
            }
        }
    }

    /// A pass of a batch with reads ended: the blocks of these take the bus.
    pub(super) fn end_batch_pass(&mut self, pass: usize, at: Nanos, answers: &mut dyn Answers) {
        let served = &mut self.batches.served;
        while let Some(share) = served.shares.get(served.next_share)
            && share.pass == pass
        {
            served.next_share += 1;
            let member = &mut served.members[share.member as usize];
            if member.row.op != Op::Read {
                continue;
            }
            if !self.steps[pass].again {
                self.bus_free = at.max(self.bus_free) + self.interface.bus(share.blocks);
            }
            if member.last_pass == pass {
                member.complete(at, self.bus_free.max(at), answers);
            }
        }
        self.reading = Some(pass + 1).filter(|next| *next < self.steps.len());
    }
}

impl Member {
    /// Announces the completion of a command whose last pass ended at `media`.
    fn complete(&mut self, media: Nanos, completion: Nanos, answers: &mut dyn Answers) {
        self.row.completion = completion;
        self.row.parts.bus = completion - media;
        answers.done(&self.row);
    }
}

impl Served {
    /// Rounds the energies of the commands to nanojoules that add up to
    /// `total_nj`.
    fn share_energy(&mut self, total_nj: u64) {
        let all_j: f64 = self.members.iter().map(|member| member.energy_j).sum();
        let (mut so_far_j, mut given_nj) = (0.0, 0);
        let last = self.members.len() - 1;
        for (index, member) in self.members.iter_mut().enumerate() {
            so_far_j += member.energy_j;
            let until_nj = match index == last || all_j == 0.0 {
                true => total_nj,
                false => (total_nj as f64 * (so_far_j / all_j)).round() as u64,
            };
            let until_nj = until_nj.clamp(given_nj, total_nj);
            member.row.energy_nj = until_nj - given_nj;
            given_nj = until_nj;
        }
    }
}
