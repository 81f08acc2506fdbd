//! Failures of children, and the rebuild of a slot on a spare.

use super::Array;
use super::jobs::JobOwner;
use crate::compose::arrays::{Level, TokenMap};
use sledsim_base::request::{Flags, Op, Request};
use sledsim_base::row::Status;
use sledsim_base::units::Nanos;

/// The rebuild of a slot on a spare.
#[derive(Clone, Copy)]
pub(super) struct Rebuild {
    pub(super) slot: usize,
    pub(super) child: usize,
    pub(super) began: Nanos,
    /// The address up to which it is complete, and up to which it has begun.
    pub(super) point: u64,
    pub(super) next: u64,
    /// Whether a part is being read; if not, when the next read may begin.
    pub(super) reading: bool,
    pub(super) ready: Nanos,
    /// Whether a part is being written; the job of a part read meanwhile.
    pub(super) writing: bool,
    pub(super) read: Option<usize>,
    /// Whether the data that the next part needs are lost.
    pub(super) lost: bool,
}

impl<L: Level> Array<L> {
    pub(super) fn rebuild_at(&self) -> Option<Nanos> {
        let is_begun = |rebuild: &Rebuild| rebuild.next == self.level.child_blocks();
        let rebuild = self.rebuild.filter(|rebuild| !rebuild.reading && !is_begun(rebuild))?;
        let idle = (self.host_requests == 0).then(|| self.idle_since + self.repair.idle_after);
        let at_least = self.repair.pace(rebuild.next);
        let due = at_least.map(|after| rebuild.began + after);
        let begin = [idle, due].into_iter().flatten().min()?;
        Some(begin.max(rebuild.ready))
    }

    /// Fails the next child with a configured failure.
    pub(super) fn next_failure(&mut self, at: Nanos) {
        let (_, child) = self.repair.failures.pop_front().expect("a failure is due");
        self.fail(child, at);
    }

    /// Fails a child and its outstanding requests.
    pub(super) fn fail(&mut self, child: usize, at: Nanos) {
        if self.members.has_failed(child) {
            return;
        }
        self.members.fail(child);
        if let Some(rebuild) = self.rebuild.filter(|rebuild| rebuild.child == child) {
            self.rebuild = None;
            self.ready.extend(rebuild.read);
        }
        self.next_rebuild(at);
        let lost_ids: Vec<u64> =
            (self.sent.iter()).filter(|(_, sent)| sent.child == child).map(|(id, _)| id).collect();
        for id in lost_ids {
            let sent = self.sent.remove(id).expect("it was found in the list");
            self.members.remove_load(child);
            let job = &mut self.jobs[sent.job];
            job.left -= 1;
            job.broken = true;
            if job.left == 0 {
                self.end_step(sent.job, at, None);
            }
        }
    }

    /// Starts the rebuild of the slot that failed first, if there is one and a
    /// spare is left.
    pub(super) fn next_rebuild(&mut self, at: Nanos) {
        if self.rebuild.is_some() {
            return;
        }
        if let Some((slot, child)) = self.members.replace() {
            let ready = at + self.repair.after;
            self.rebuild = Some(Rebuild {
                slot,
                child,
                began: ready,
                point: 0,
                next: 0,
                reading: false,
                ready,
                writing: false,
                read: None,
                lost: false,
            });
        }
    }

    /// Begins the next part of the rebuild: it is read while the previous one is
    /// written.
    pub(super) fn rebuild_part(&mut self, at: Nanos) {
        let rebuild = self.rebuild.as_mut().expect("the next part of a rebuild is due");
        let end = self.level.child_blocks();
        let (slot, child, from) = (rebuild.slot, rebuild.child, rebuild.next);
        let to = end.min(from + self.repair.unit_blocks);
        (rebuild.reading, rebuild.next) = (true, to);
        let mut request = Request::new(0, at, Op::Write, from, (to - from) as u32);
        // Rebuilt blocks must be durable: after a power failure, the rebuild does
        // not repeat parts that were complete.
        request.flags.insert(Flags::FUA);
        let held = self.level.lock_range_at(slot, from, to);
        let owner = JobOwner::Rebuild { slot, child, to };
        let number = self.begin(owner, request, TokenMap::new());
        self.lock(number, false, &[held]);
    }

    /// Writes the part of the rebuild that was read, once the previous write is
    /// complete; the next part may be read meanwhile.
    pub(super) fn write_part(&mut self, at: Nanos) {
        if let Some(rebuild) = self.rebuild.as_mut().filter(|rebuild| !rebuild.writing)
            && let Some(number) = rebuild.read.take()
        {
            (rebuild.writing, rebuild.reading, rebuild.ready) = (true, false, at);
            self.ready.push_back(number);
        }
    }

    /// Ends a part of the rebuild of a slot on a child.
    pub(super) fn end_part(
        &mut self,
        slot: usize,
        child: usize,
        to: u64,
        at: Nanos,
        status: Status,
    ) {
        // The rebuild of a part may have ended with its child.
        let Some(rebuild) = self.rebuild.as_mut().filter(|rebuild| rebuild.child == child) else {
            return;
        };
        if status == Status::Error {
            // The write under way still completes; the rebuild ends after it.
            rebuild.lost = true;
            if !rebuild.writing {
                self.rebuild = None;
                self.next_rebuild(at);
            }
            return;
        }
        self.counts.rebuilt += to - rebuild.point;
        (rebuild.point, rebuild.writing) = (to, false);
        if to < self.level.child_blocks() {
            let is_lost = rebuild.lost;
            self.members.rebuilt(slot, to);
            if !is_lost {
                return self.write_part(at);
            }
            self.rebuild = None;
            return self.next_rebuild(at);
        }
        self.counts.rebuild += at - rebuild.began;
        self.members.rebuilt(slot, u64::MAX);
        self.rebuild = None;
        self.next_rebuild(at);
    }
}
