//! The steps of a job: the requests to the children and their completions.

use super::Array;
use super::jobs::{JobOwner, Sent, Step};
use crate::compose::arrays::{LOST, Level, Lost, View, tokens_of};
use crate::model::CompletionSink;
use sledsim_base::request::{Extents, Flags, Op, Request, inner_id, lbns};
use sledsim_base::row::{Row, Status};
use sledsim_base::units::Nanos;

impl<L: Level> Array<L> {
    /// Sends the requests of a job's next step.
    pub(super) fn continue_job(&mut self, number: usize, at: Nanos, sink: &mut dyn CompletionSink) {
        let job = &mut self.jobs[number];
        job.row.parts.queue += at - job.since;
        job.since = at;
        if job.is_over {
            // After a failed child write, checks whether the blocks can be reconstructed.
            let is_lost = job.broken && self.plan_step(number, at).is_err();
            let status = [Status::Ok, Status::Error][usize::from(is_lost)];
            return self.finish(number, at, status, sink);
        }
        loop {
            self.plan.clear();
            match self.plan_step(number, at) {
                Err(Lost) => return self.finish(number, at, Status::Error, sink),
                Ok(reconstructed) if reconstructed > 0 => {
                    let job = &self.jobs[number];
                    if job.locks.is_none() {
                        // The blocks of the other slots must not change meanwhile.
                        let extents = job.request.extents.clone();
                        return self.lock_extents(number, true, &extents);
                    }
                    self.counts.degraded_reads += 1;
                    self.counts.reconstructed += reconstructed;
                }
                Ok(_) => {}
            }
            self.jobs[number].broken = false;
            self.send(number, at, sink);
            let job = &mut self.jobs[number];
            if job.left > 0 {
                return;
            }
            match job.step {
                // Of an unused unit there is nothing to read.
                Step::Before if job.owner != JobOwner::Host => {
                    return self.end_step(number, at, None);
                }
                Step::Before => job.step = Step::Main,
                Step::Main => return self.finish(number, at, Status::Ok, sink),
            }
        }
    }

    /// Plans the next step of a job; returns how many blocks are reconstructed from
    /// other slots.
    pub(super) fn plan_step(&mut self, number: usize, at: Nanos) -> Result<u64, Lost> {
        let (job, members, plan) = (&self.jobs[number], &self.members, &mut self.plan);
        let request = &job.request;
        if let JobOwner::Rebuild { slot, child, to } = job.owner {
            if members.child(slot) != Some(child) {
                return Err(Lost);
            }
            match job.step {
                Step::Before => {
                    self.level.rebuild(slot, request.lbn(), to, members, plan)?;
                }
                Step::Main => plan.add(slot, request.lbn(), to),
            }
            return Ok(0);
        }
        match (request.op, job.step) {
            (Op::Read, _) => {
                let view = View { members, children: &self.children, at, request };
                return self.level.read(&view, plan);
            }
            (Op::Write, Step::Before) => {
                let ways = self.level.before_write(&request.extents, members, plan)?;
                if job.row.retries == 0 {
                    self.counts.rmw += ways.rmw;
                    self.counts.reconstruct += ways.reconstruct;
                    self.counts.full += ways.full;
                }
            }
            (Op::Write | Op::Trim, _) => self.level.write(&request.extents, members, plan)?,
            (Op::Flush, _) => {
                let child = |slot: &usize| members.child(*slot).is_some();
                if !(0..members.len()).any(|slot| child(&slot)) {
                    return Err(Lost);
                }
            }
        }
        Ok(0)
    }

    /// Sends the planned requests.
    pub(super) fn send(&mut self, number: usize, at: Nanos, sink: &mut dyn CompletionSink) {
        if self.jobs[number].request.op == Op::Flush {
            for slot in 0..self.members.len() {
                self.send_part(number, slot, Extents::new(), at, sink);
            }
        }
        while let Some((slot, extents)) = self.plan.take() {
            self.send_part(number, slot, extents, at, sink);
        }
    }

    /// Sends one request of a step to the child in a slot.
    pub(super) fn send_part(
        &mut self,
        number: usize,
        slot: usize,
        extents: Extents,
        at: Nanos,
        sink: &mut dyn CompletionSink,
    ) {
        // A slot without a child gets nothing.
        let Some(child) = self.members.child(slot) else {
            return;
        };
        let job = &mut self.jobs[number];
        let request = &job.request;
        let (op, flags) = match job.step {
            Step::Before => (Op::Read, Flags::default()),
            Step::Main => (request.op, request.flags),
        };
        let mut sent = Sent { job: number, child, slot, extents: Extents::new() };
        if self.content_state.is_some()
            && let Some(contents) = self.children.contents(child)
        {
            match op {
                Op::Read => sent.extents.clone_from(&extents),
                Op::Write => {
                    let level = &self.level;
                    let token = |address| match job.owner {
                        JobOwner::Host => level.written(slot, address, &job.new, &job.old),
                        JobOwner::Rebuild { .. } => {
                            level.recover(slot, address, &mut tokens_of(&job.old))
                        }
                    };
                    let tokens: Vec<u64> =
                        lbns(&extents).map(|address| token(address).unwrap_or(LOST)).collect();
                    contents.stage_write(&tokens);
                }
                Op::Flush | Op::Trim => {}
            }
        }
        let host = (job.owner == JobOwner::Host).then_some(request.id);
        let (id, parent) = inner_id(self.next_id, host);
        self.next_id += 1;
        let part = Request { id, parent, arrival: at, op, flags, stream: request.stream, extents };
        self.sent.insert(id, sent);
        self.members.add_load(child);
        job.left += 1;
        self.children.submit(child, part, sink);
    }

    /// Ends a step whose requests have all completed or failed; `last` is the row
    /// of the last completion.
    pub(super) fn end_step(&mut self, number: usize, at: Nanos, last: Option<&Row>) {
        let job = &mut self.jobs[number];
        // Repeats reads without the failed child.
        let again = job.broken && (job.step == Step::Before || job.request.op == Op::Read);
        match last {
            Some(last) if !again => {
                if !job.has_started {
                    job.has_started = true;
                    job.row.start = last.start;
                }
                job.row.parts = job.row.parts + last.parts;
            }
            _ => job.row.parts.retry += at - job.since,
        }
        job.since = at;
        if again {
            job.row.retries += 1;
            self.counts.retried += 1;
            job.old.clear();
        }
        match job.step {
            _ if again => {}
            Step::Before => {
                job.step = Step::Main;
                if let JobOwner::Rebuild { child, .. } = job.owner
                    && let Some(rebuild) = self.rebuild.as_mut().filter(|of| of.child == child)
                {
                    rebuild.read = Some(number);
                    return self.write_part(at);
                }
            }
            Step::Main => job.is_over = true,
        }
        self.ready.push_back(number);
    }
}
