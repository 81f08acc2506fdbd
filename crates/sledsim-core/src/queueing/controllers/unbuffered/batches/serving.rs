//! The batch in service, with each command's share of the passes.

use super::Batches;
use crate::model::CompletionSink;
use crate::model::mechanism::{Mechanism, PassKind, Step};
use crate::queueing::controllers::unbuffered::{Station, access};
use crate::queueing::schedulers::Waiting;
use sledsim_base::request::{OWN_WORK, Op};
use sledsim_base::row::{Parts, Row, Status};
use sledsim_base::units::Nanos;

/// The batch in service.
#[derive(Debug, Default)]
pub(super) struct BatchInService {
    members: Vec<Member>,
    /// First block, one past the last, and the member.
    extents: Vec<(u64, u64, u32)>,
    /// The blocks of each member in each pass, in the order of passes.
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

impl<M: Mechanism> Station<M> {
    /// Serves the first of `incoming`, a batch, from `at` on.
    pub(in crate::queueing::controllers::unbuffered) fn serve_batch(
        &mut self,
        at: Nanos,
        sink: &mut dyn CompletionSink,
    ) {
        let Waiting { request, .. } = self.incoming.pop_front().expect("a batch is next");
        let slot = (request.id & !OWN_WORK) as usize;
        let (mechanism, passes, row) = (&mut self.mechanism, &mut self.passes, &mut self.row);
        access(mechanism, at, &request, passes, row, self.media_writes.as_ref());
        let media = row.parts.total();
        self.mechanism_free = at + media;
        self.busy.add(request.id, media);
        row.start = at;

        let Batches { store, served, .. } = &mut self.batches;
        served.clear();
        for waiting in store.slots[slot].drain(..) {
            let mut row = Row::of(&waiting.request, self.device);
            row.parts.overhead = self.interface.overhead;
            served.add(&waiting, row);
        }
        served.extents.sort_unstable();
        store.free_slot(slot, request.extents);
        self.serving = served.members.len() as u32;
        self.in_batches -= served.members.len() - 1;

        if let Some(writes) = &self.media_writes {
            let write_of = |lbn| served.write_of(lbn);
            writes.push_batch(at, &self.passes.steps, &self.mechanism, write_of);
        }
        served.share_passes(at, &self.row, &self.passes.steps, &self.mechanism);
        served.share_energy(self.row.energy_nj);
        for &lbn in self.mechanism.media().lost_blocks() {
            let member = served.member_of(lbn);
            served.members[member as usize].row.status = Status::Error;
        }

        let crosses = |op| op == Op::Read && self.interface.bus_ns_per_block > 0.0;
        self.reading = None;
        for member in &mut served.members {
            if crosses(member.row.op) {
                self.reading = Some(0);
            } else {
                let media = at + member.end;
                member.complete(media, media.max(member.data_in), sink);
            }
        }
    }

    /// Ends a pass of a batch with reads: the blocks read take the bus.
    pub(in crate::queueing::controllers::unbuffered) fn end_batch_pass(
        &mut self,
        pass: usize,
        at: Nanos,
        sink: &mut dyn CompletionSink,
    ) {
        let served = &mut self.batches.served;
        while let Some(share) = served.shares.get(served.next_share)
            && share.pass == pass
        {
            served.next_share += 1;
            let member = &mut served.members[share.member as usize];
            if member.row.op != Op::Read {
                continue;
            }
            if !self.passes.steps[pass].again {
                let bus = self.interface.bus(share.blocks);
                self.bus_free = at.max(self.bus_free) + bus;
                self.bus_busy.add(member.row.id, bus);
            }
            if member.last_pass == pass {
                member.complete(at, self.bus_free.max(at), sink);
            }
        }
        self.reading = Some(pass + 1).filter(|next| *next < self.passes.len());
    }
}

impl Member {
    /// Adds the time of a pass with blocks of this command. The pass before ended
    /// `before` after the start of service at `at`.
    fn pass(&mut self, at: Nanos, before: Nanos, pass: usize, step: &Step, parts: Parts) {
        let row = &mut self.row;
        if row.passes == 0 {
            row.start = at + before;
            row.parts.queue = row.start - row.arrival - row.parts.overhead;
        } else {
            row.parts.other += before - self.end;
        }
        row.parts = row.parts + parts;
        row.passes += 1;
        row.retries += u32::from(step.kind == PassKind::Retry);
        self.end = step.end;
        self.last_pass = pass;
    }

    /// Announces the completion of a command whose last pass ended at `media`.
    fn complete(&mut self, media: Nanos, completion: Nanos, sink: &mut dyn CompletionSink) {
        self.row.completion = completion;
        self.row.parts.bus = completion - media;
        sink.done(&self.row);
    }
}

impl BatchInService {
    fn clear(&mut self) {
        self.members.clear();
        self.extents.clear();
        self.shares.clear();
        self.next_share = 0;
    }

    /// Adds a command, with its row before any pass.
    fn add(&mut self, waiting: &Waiting, mut row: Row) {
        let member = self.members.len() as u32;
        let places = waiting.request.extents.iter();
        (self.extents).extend(places.map(|place| (place.lbn, place.end(), member)));
        row.queue_depth = waiting.queue_depth;
        self.members.push(Member {
            row,
            data_in: waiting.data_in,
            last_pass: 0,
            end: Nanos::ZERO,
            energy_j: 0.0,
        });
    }

    /// The member that a block belongs to; the extents are sorted.
    fn member_of(&self, lbn: u64) -> u32 {
        let place = self.extents.partition_point(|extent| extent.0 <= lbn) - 1;
        self.extents[place].2
    }

    /// The id of the write that a block belongs to, if that is no read.
    fn write_of(&self, lbn: u64) -> Option<u64> {
        let row = &self.members[self.member_of(lbn) as usize].row;
        (row.op == Op::Write).then_some(row.id)
    }

    /// Divides the time and energy of the passes of `service`, which began at `at`,
    /// among the commands.
    fn share_passes<M: Mechanism>(&mut self, at: Nanos, row: &Row, steps: &[Step], mechanism: &M) {
        let mut before = Nanos::ZERO;
        let passes_j: f64 = steps.iter().map(|step| step.energy_j).sum();
        for (pass, step) in steps.iter().enumerate() {
            let (mut wake_time, mut pass_j) = (Nanos::ZERO, step.energy_j);
            if pass == 0 {
                wake_time = row.parts.other;
                pass_j += (row.energy_nj as f64 * 1e-9 - passes_j).max(0.0);
            }
            let mut parts = step.parts(before + wake_time);
            parts.other = wake_time;
            let first = self.shares.len();
            self.share_blocks(pass, mechanism.media().blocks_of(pass));
            for share in &self.shares[first..] {
                let member = &mut self.members[share.member as usize];
                member.pass(at, before, pass, step, parts);
                member.energy_j += pass_j * f64::from(share.blocks) / f64::from(step.blocks);
            }
            before = step.end;
        }
    }

    /// Counts the blocks of a pass per command.
    fn share_blocks(&mut self, pass: usize, lbns: &[u64]) {
        let first = self.shares.len();
        for &lbn in lbns {
            let member = self.member_of(lbn);
            match self.shares[first..].iter_mut().find(|share| share.member == member) {
                Some(share) => share.blocks += 1,
                None => self.shares.push(Share { pass, member, blocks: 1 }),
            }
        }
    }

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
