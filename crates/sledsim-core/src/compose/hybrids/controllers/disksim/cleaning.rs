//! Writes of dirty lines to the device: when one is given up, when the device is idle,
//! and in a rhythm.

use super::{Cached, DIRTY, Job, Nanos, Op, Range, VALID};

impl Cached {
    /// Asks the device to write the dirty blocks of a line; returns the number of writes.
    ///
    /// There is one for each run of valid blocks, from its first to its last dirty one.
    /// Where a run begins or ends at an edge of the line, it goes on in the neighbours, as
    /// far as they are valid. As in DiskSim, it goes on behind the line only if the first
    /// block of the line is dirty, too, and whole lines count. The blocks are clean, and
    /// the lines locked, from now on.
    pub(super) fn clean(&mut self, slot: usize, job: Job) -> usize {
        let (line_blocks, most) = (self.spec.line_blocks, self.spec.exchange_lines);
        let blocks = line_blocks as usize;
        let number = self.lines.all[slot].number;
        let base = number * line_blocks;
        let begins_dirty = self.lines.all[slot].marks[0] & DIRTY != 0;
        let mut writes = 0;
        while self.lines.all[slot].is_dirty {
            let line = &mut self.lines.all[slot];
            let first = line.next(DIRTY, true, 0..blocks);
            let stop = line.next(VALID, false, first..blocks);
            let last = line.last(DIRTY, true, first..stop);
            line.clean(first..stop);
            let mut run = base + first as u64..base + last as u64;
            if first == 0 {
                self.extend((number.saturating_sub(most - 1)..number).rev(), &mut run);
            }
            if last == blocks && begins_dirty {
                let used = 1 + base.saturating_sub(run.start) / line_blocks;
                self.extend(number + 1..=(number + most).saturating_sub(used), &mut run);
            }
            self.write_down(run, job);
            writes += 1;
        }
        writes
    }

    /// Extends a run into the lines before or behind it, in turn, as long as all of them
    /// are valid and dirty at the edges between them.
    fn extend(&mut self, numbers: impl Iterator<Item = u64>, run: &mut Range<u64>) {
        let blocks = self.spec.line_blocks as usize;
        for number in numbers {
            let Some(slot) = self.lines.find(number) else {
                return;
            };
            let line = &mut self.lines.all[slot];
            let base = number * blocks as u64;
            let is_before = base < run.start;
            let valid = match is_before {
                true => line.last(VALID, false, 0..blocks)..blocks,
                false => 0..line.next(VALID, false, 0..blocks),
            };
            let first = line.next(DIRTY, true, valid.clone());
            if line.holder.is_some() || first == valid.end {
                return;
            }
            let last = line.last(DIRTY, true, valid.clone());
            line.clean(valid);
            if is_before {
                run.start = base + first as u64;
            } else {
                run.end = base + last as u64;
            }
            if if is_before { first > 0 } else { last < blocks } {
                return;
            }
        }
    }

    /// Asks the device to write blocks, and locks their lines until it has.
    pub(super) fn write_down(&mut self, blocks: Range<u64>, job: Job) {
        for slot in self.slots(blocks.clone()) {
            self.lines.all[slot].sharers.push(None);
        }
        self.ask(Op::Write, blocks, job);
    }

    /// Sets the timers after blocks have become dirty.
    pub(super) fn note_dirty(&mut self) {
        if self.is_idle() && self.idle_at.is_none() {
            self.idle_at = self.spec.clean_after_idle.map(|idle| self.now + idle);
        }
        let next = |every: Nanos| Nanos((self.now.0 / every.0 + 1) * every.0);
        self.clean_at = self.clean_at.or(self.spec.clean_every.map(next));
    }

    /// Writes dirty lines, the oldest first: all, or one if that is because the device is
    /// idle.
    pub(super) fn clean_lines(&mut self, job: Job) {
        let mut next = self.lines.next_used(None);
        while let Some(slot) = next
            && (job != Job::Cleaned || self.is_idle())
        {
            next = self.lines.next_used(Some(slot));
            let line = &self.lines.all[slot];
            if line.is_dirty && line.holder.is_none() {
                let writes = self.clean(slot, job);
                self.cleaning += if job == Job::Cleaned { writes } else { 0 };
            } else if line.is_dirty && job == Job::Unwaited {
                self.note_dirty();
            }
        }
    }
}
