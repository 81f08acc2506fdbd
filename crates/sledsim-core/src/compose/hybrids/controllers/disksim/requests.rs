//! Host requests: hits, fetches and writes into lines.
//!
//! A request goes on until it has to wait for a line, for a lock or for the device; what
//! it waited for puts it among those that are ready to go on.

use super::{Cached, DIRTY, Extents, Job, Nanos, Op, Range, Row, SmallVec, VALID, spec};

/// A host request.
#[derive(Default)]
pub(super) struct HostRequest {
    /// Its row so far, and the time up to which its parts are counted.
    pub(super) row: Row,
    pub(super) accounted: Nanos,
    /// Its blocks without those of parts begun; their tokens, or those read so far.
    pub(super) extents: Extents,
    pub(super) tokens: Vec<u64>,
    /// The part under way, the blocks of its bits, and the lines that it reserves.
    part: Range<u64>,
    covered: Range<u64>,
    span: u64,
    /// The block where it goes on.
    at: u64,
    /// The first block of those that a fetch will read.
    missing: Option<u64>,
    /// Writes to the device that it waits for.
    pub(super) left: usize,
    pub(super) has_missed: bool,
    /// Whether it ever waited for a line.
    has_waited: bool,
    /// Whether its blocks are in their lines, of a write that waits for the device.
    pub(super) is_placed: bool,
}

impl HostRequest {
    /// Accounts for a request to the device that it waited for.
    pub(super) fn account(&mut self, child: &Row) {
        if child.arrival >= self.accounted {
            self.row.start = self.row.start.min(child.start);
            self.row.parts = self.row.parts + child.parts;
            self.row.parts.queue += child.arrival - self.accounted;
            self.accounted = child.completion;
        }
        if child.parent == Some(self.row.id) {
            self.row.charge(child);
        }
    }
}

impl Cached {
    /// Begins the next part of a request: as much as half of the cache can hold. A part
    /// of several lines holds some while it waits for others; so all such parts together
    /// get no more lines than there are, and later ones wait.
    pub(super) fn next_part(&mut self, host: usize) {
        let (line, bit) = (self.spec.line_blocks, self.spec.bit_blocks);
        let request = &mut self.hosts[host];
        // All parts are done.
        let Some(extent) = request.extents.first_mut() else {
            return self.complete(host);
        };
        let lbn = extent.lbn;
        let most = (self.spec.lines / 2).max(1);
        let end = extent.end().min((lbn / line + most) * line);
        extent.blocks -= (end - lbn) as u32;
        extent.lbn = end;
        if extent.blocks == 0 {
            request.extents.remove(0);
        }
        request.part = lbn..end;
        request.covered = lbn - lbn % bit..end.next_multiple_of(bit).min(self.spec.blocks);
        request.at = request.covered.start;
        request.is_placed = false;
        request.span = (end - 1) / line - lbn / line + 1;
        if request.span == 1 {
            request.span = 0;
            self.ready.push_back(host);
        } else {
            self.parts.push_back(host);
        }
        self.admit();
    }

    /// Lets parts of several lines begin in turn, while there are lines for them.
    fn admit(&mut self) {
        while let Some(host) = self.parts.front()
            && self.reserved + self.hosts[*host].span <= self.spec.lines
        {
            self.reserved += self.hosts[*host].span;
            self.ready.extend(self.parts.pop_front());
        }
    }

    /// The line of the first of these blocks: its first block, and which of it they are.
    fn piece(&self, of: Range<u64>) -> (u64, Range<usize>) {
        let line = self.spec.line_blocks;
        let base = of.start / line * line;
        (base, (of.start - base) as usize..(of.end - base).min(line) as usize)
    }

    /// The slots of the lines of blocks.
    pub(super) fn slots(&self, of: Range<u64>) -> SmallVec<[usize; 8]> {
        let line = self.spec.line_blocks;
        let numbers = of.start / line..=(of.end - 1) / line;
        (numbers.map(|number| self.lines.find(number).expect("a locked line stays"))).collect()
    }

    /// Lets all requests that are ready go on.
    pub(super) fn run(&mut self) {
        while let Some(host) = self.ready.pop_front() {
            if self.has_lines(host) {
                self.moving.push_back(host);
            }
        }
    }

    /// Moves the data of requests that have their lines. In DiskSim that is an event of its
    /// own, after the device has got its next request.
    pub(super) fn move_data(&mut self) {
        self.run();
        while let Some(host) = self.moving.pop_front() {
            let request = &self.hosts[host];
            let moves = request.row.op.moves_data() && !request.is_placed;
            if !moves || self.leave_lines(host) {
                self.reserved -= std::mem::take(&mut self.hosts[host].span);
                self.admit();
                self.next_part(host);
            }
            self.run();
        }
    }

    /// Goes on with a request; returns whether it has its lines with all that it needs.
    fn has_lines(&mut self, host: usize) -> bool {
        let end = self.hosts[host].covered.end;
        let reads = self.hosts[host].row.op == Op::Read;
        while self.hosts[host].at < end {
            let at = self.hosts[host].at;
            // It waits for a line.
            let Some(slot) = self.slot_for(host, at) else {
                return false;
            };
            let (base, blocks) = self.piece(at..end);
            let waits = match reads {
                true => self.read_line(host, slot, base, blocks.clone()),
                false => self.write_line(host, slot, base, blocks.clone()),
            };
            if waits {
                return false;
            }
            self.hosts[host].at = base + blocks.end as u64;
        }
        match self.hosts[host].missing {
            Some(missing) => !self.fetch(host, missing..end, self.spec.prefetch),
            None => true,
        }
    }

    /// Locks a line for a read, and fetches missing blocks; returns whether it waits.
    fn read_line(&mut self, host: usize, slot: usize, base: u64, blocks: Range<usize>) -> bool {
        let gap = self.lines.all[slot].next(VALID, false, blocks.clone());
        let is_valid = gap > blocks.start;
        if !self.lock(host, slot, !is_valid) {
            return true;
        }
        let missing = self.hosts[host].missing;
        if let (Some(missing), true) = (missing, is_valid) {
            return self.fetch(host, missing..base + blocks.start as u64, self.spec.prefetch);
        }
        if gap == blocks.end {
            return false;
        }
        if is_valid && !self.lock(host, slot, true) {
            self.hosts[host].at = base + gap as u64;
            return true;
        }
        let line = &mut self.lines.all[slot];
        let stop = line.next(VALID, true, gap..blocks.end);
        line.mark(VALID, gap..stop);
        let lbn = missing.unwrap_or(base + gap as u64);
        self.hosts[host].missing = Some(lbn);
        let lines = 1 + base / self.spec.line_blocks - lbn / self.spec.line_blocks;
        (stop < blocks.end || lines >= self.spec.exchange_lines)
            && self.fetch(host, lbn..base + stop as u64, self.spec.prefetch)
    }

    /// Locks a line for a write, and fetches bits that it covers in part; returns whether it
    /// waits.
    fn write_line(&mut self, host: usize, slot: usize, base: u64, blocks: Range<usize>) -> bool {
        if !self.lock(host, slot, true) {
            return true;
        }
        let part = self.hosts[host].part.clone();
        let written = self.piece(part.start.max(base)..part.end).1;
        let written = written.start.max(blocks.start)..written.end;
        let line = &mut self.lines.all[slot];
        let has_head = line.next(VALID, false, blocks.start..written.start) < written.start;
        let has_tail = line.next(VALID, false, written.end..blocks.end) < blocks.end;
        if !has_head && !has_tail {
            self.hosts[host].has_missed |= line.next(VALID, false, blocks.clone()) < blocks.end;
            return false;
        }
        let from = if has_head { blocks.start } else { written.end };
        let to = if has_tail { blocks.end } else { written.start };
        line.mark(VALID, from..to);
        self.fetch(host, base + from as u64..base + to as u64, (false, false))
    }

    /// Takes the blocks of a read out of its lines, or puts those of a write into them, and
    /// frees the lines: for all, or for those that share them until the device has the
    /// blocks. Returns whether that is all.
    fn leave_lines(&mut self, host: usize) -> bool {
        let request = &mut self.hosts[host];
        let (part, covered) = (request.part.clone(), request.covered.clone());
        let writes = request.row.op == Op::Write;
        let goes_down = writes && self.spec.scheme != spec::BACK;
        if let Some(content) = &mut self.content {
            if writes {
                let written = request.tokens.drain(..(part.end - part.start) as usize);
                content.cached.extend(part.zip(written));
            } else {
                request.tokens.extend(part.map(|lbn| content.token(lbn)));
            }
        }
        if goes_down {
            request.is_placed = self.spec.scheme == spec::SYNC;
            request.left = usize::from(request.is_placed);
        }
        let waits = request.is_placed;
        for slot in self.slots(covered.clone()) {
            let first = self.lines.all[slot].number * self.spec.line_blocks;
            let blocks = self.piece(covered.start.max(first)..covered.end).1;
            let mark = if goes_down { VALID } else { VALID | DIRTY };
            if writes {
                self.lines.all[slot].mark(mark, blocks);
            }
            if goes_down {
                // It is locked for the device before it is free for others.
                self.lines.all[slot].sharers.push(None);
            }
            self.lines.order.renew(0, slot as u32);
            self.release(slot, Some(host));
        }
        if goes_down {
            let job = if waits { Job::Written(host) } else { Job::Unwaited };
            self.ask(Op::Write, covered, job);
        } else if writes {
            self.note_dirty();
        }
        !waits
    }

    /// Asks the device for missing blocks, and those that are read beside them; returns that
    /// the request waits.
    fn fetch(&mut self, host: usize, mut of: Range<u64>, (front, rest): (bool, bool)) -> bool {
        let line_blocks = self.spec.line_blocks;
        let (base, blocks) = self.piece(of.clone());
        if let Some(slot) = self.lines.find(base / line_blocks).filter(|_| front) {
            let line = &mut self.lines.all[slot];
            let low = line.last(VALID, true, 0..blocks.start);
            line.mark(VALID, low..blocks.start);
            of.start = base + low as u64;
        }
        let (base, blocks) = self.piece(of.end - 1..self.spec.blocks);
        if let Some(slot) = self.lines.find(base / line_blocks).filter(|_| rest) {
            let line = &mut self.lines.all[slot];
            let high = line.next(VALID, true, blocks.start + 1..blocks.end);
            line.mark(VALID, blocks.start + 1..high);
            of.end = base + high as u64;
        }
        let request = &mut self.hosts[host];
        request.has_missed = true;
        request.missing = None;
        request.at = request.covered.start;
        self.ask(Op::Read, of, Job::Resume(host));
        true
    }

    /// The slot of the line of a block; none if the request has to wait for it.
    fn slot_for(&mut self, host: usize, lbn: u64) -> Option<usize> {
        let number = lbn / self.spec.line_blocks;
        if let Some(slot) = self.lines.find(number) {
            return Some(slot);
        }
        let mut next = self.lines.next_used(None);
        while let Some(slot) = next {
            next = self.lines.next_used(Some(slot));
            let line = &self.lines.all[slot];
            match (line.is_locked(), line.is_dirty) {
                (true, _) => {}
                (false, false) => {
                    self.forget(slot);
                    self.lines.assign(slot, number);
                    return Some(slot);
                }
                (false, true) if self.spec.clean_first => drop(self.clean(slot, Job::Unwaited)),
                (false, true) => {
                    self.hosts[host].left = self.clean(slot, Job::Written(host));
                    return None;
                }
            }
        }
        // All lines are locked. Who waited before goes first.
        self.line_waiters.push_back(host);
        if std::mem::replace(&mut self.hosts[host].has_waited, true) {
            self.line_waiters.rotate_right(1);
        }
        None
    }

    /// Locks a line for a request, alone or shared, in place of the lock that it has; if
    /// not, it will go on with the lock.
    fn lock(&mut self, host: usize, slot: usize, alone: bool) -> bool {
        let line = &mut self.lines.all[slot];
        let is_own = line.holder == Some(host);
        let is_shared = line.sharers.contains(&Some(host));
        if (is_own && alone) || (is_shared && !alone) {
            return true;
        }
        if is_own {
            line.holder = None;
        } else if is_shared {
            self.release(slot, Some(host));
        }
        let line = &mut self.lines.all[slot];
        let is_locked = line.lock(host, alone);
        if !is_locked {
            line.waiters.push_back((host, alone));
        } else if is_own {
            self.wake(slot);
        }
        is_locked
    }

    /// Ends a lock of a line.
    pub(super) fn release(&mut self, slot: usize, host: Option<usize>) {
        let line = &mut self.lines.all[slot];
        match line.sharers.iter().position(|sharer| *sharer == host) {
            Some(at) => drop(line.sharers.swap_remove(at)),
            None => line.holder = None,
        }
        self.wake(slot);
    }

    /// Lets those go on that a line kept waiting.
    fn wake(&mut self, slot: usize) {
        while let Some(host) = self.lines.all[slot].next_waiter() {
            self.ready.push_back(host);
        }
        if !self.lines.all[slot].is_locked() {
            self.ready.extend(self.line_waiters.pop_front());
        }
    }
}
