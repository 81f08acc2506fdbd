//! Failures of children, and the rebuild of a slot onto a spare.

use super::Array;
use super::jobs::JobOwner;
use crate::compose::arrays::Level;
use crate::compose::arrays::contents::TokenMap;
use sledsim_base::request::{Op, Request};
use sledsim_base::row::Status;
use sledsim_base::units::Nanos;

/// A slot that is written anew onto a spare.
#[derive(Clone, Copy)]
pub(super) struct Rebuild {
    pub(super) slot: usize,
    pub(super) child: usize,
    pub(super) began: Nanos,
    /// Up to which address it is done, and up to which it was begun.
    pub(super) point: u64,
    pub(super) next: u64,
    /// Whether a part is being read; if not, when the next may be.
    pub(super) reading: bool,
    pub(super) ready: Nanos,
    /// Whether a part is being written, and one that was read meanwhile.
    pub(super) writing: bool,
    pub(super) read: Option<usize>,
    /// Whether what the next part needs is gone.
    pub(super) lost: bool,
}

impl<L: Level> Array<L> {
    pub(super) fn rebuild_at(&self) -> Option<Nanos> {
        let is_begun = |rebuild: &Rebuild| rebuild.next == self.level.child_blocks();
        let rebuild = self
            .rebuild
            .filter(|rebuild| !rebuild.reading && !is_begun(rebuild))?;
        let idle = (self.hosts == 0).then(|| self.idle_since + self.repair.idle_after);
        let at_least = self.repair.pace(rebuild.next);
        let due = at_least.map(|after| rebuild.began + after);
        let begin = [idle, due].into_iter().flatten().min()?;
        Some(begin.max(rebuild.ready))
    }

    /// The next child fails that is to fail.
    pub(super) fn next_failure(&mut self, at: Nanos) {
        if let Some((_, child)) = self.repair.failures.pop_front() {
            self.fail(child, at);
        }
    }

    /// A child fails, and all that it has.
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
        let had: Vec<u64> = (self.sent.iter())
            .filter(|(_, sent)| sent.child == child)
            .map(|(id, _)| *id)
            .collect();
        for id in had {
            let Some(sent) = self.sent.remove(&id) else {
                continue;
            };
            self.members.got(child);
            if let Some(job) = &mut self.jobs[sent.job] {
                job.left -= 1;
                job.broken = true;
                if job.left == 0 {
                    self.step_over(sent.job, at, None);
                }
            }
        }
    }

    /// A spare takes the place of what was lost first, if there are both.
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

    /// Begins the next part of the rebuild: it is read while the one before it is
    /// written.
    pub(super) fn rebuild_part(&mut self, at: Nanos) {
        let Some(rebuild) = &mut self.rebuild else {
            return;
        };
        let end = self.level.child_blocks();
        let (slot, child, from) = (rebuild.slot, rebuild.child, rebuild.next);
        let to = end.min(from + self.repair.unit_blocks);
        (rebuild.reading, rebuild.next) = (true, to);
        let mut request = Request::new(0, at, Op::Write, from, (to - from) as u32);
        // What a later power failure takes from a volatile buffer, nobody would
        // miss.
        request.flags.fua = true;
        let held = self.level.held_at(from, to);
        let owner = JobOwner::Rebuild { slot, child, to };
        let number = self.begin(owner, request, TokenMap::new());
        self.hold(number, false, &[held]);
    }

    /// Writes the part of the rebuild that was read, after the one before it; the
    /// next may be read meanwhile.
    pub(super) fn write_part(&mut self, at: Nanos) {
        if let Some(rebuild) = self.rebuild.as_mut().filter(|rebuild| !rebuild.writing)
            && let Some(number) = rebuild.read.take()
        {
            (rebuild.writing, rebuild.reading, rebuild.ready) = (true, false, at);
            self.ready.push_back(number);
        }
    }

    /// A part of the rebuild of a slot onto a child is over.
    pub(super) fn part_over(
        &mut self,
        slot: usize,
        child: usize,
        to: u64,
        at: Nanos,
        status: Status,
    ) {
        let Some(rebuild) = &mut self.rebuild else {
            return;
        };
        if rebuild.child != child {
            return;
        }
        if status == Status::Error {
            // What is being written will be there; nothing comes after it.
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
