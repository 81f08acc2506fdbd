//! Recovery: rebuilds the table from the state that survives.

use super::logs::{Logs, WITHOUT_SUMMARY};
use super::media::{Block, Durable, Volatile, record_check};
use super::model::Mwb;
use super::table::Placed;
use super::timing::Timing;
use crate::compose::hybrids::{BACK, FRONT};
use crate::model::NullSink;
use crate::model::contents::Contents;
use sledsim_base::random::Stream;
use sledsim_base::request::{Op, Request, blocks_in};
use sledsim_base::units::Nanos;
use std::collections::BTreeMap;

/// A log found by recovery.
struct FoundLog {
    placed: Vec<Placed>,
    summarised: bool,
}

impl Mwb {
    /// Waits for the requests `ids` to the front; returns when the last is
    /// complete, if that is before `until`.
    fn finish(&mut self, ids: &[u64], at: Nanos, until: Nanos) -> Option<Nanos> {
        let mut now = at;
        let mut left = ids.len();
        while left > 0 {
            let event = self.children.step(until, false, &mut NullSink)?;
            let Some((child, row)) = event else { continue };
            now = row.completion;
            left -= 1;
            if row.op == Op::Read
                && let Some(state) = &mut self.content_state
                && let Some(contents) = self.children.contents(child)
            {
                state.volatile.end_read(row.id, contents.take_read_data(row.id));
            }
        }
        Some(now)
    }

    /// Reads ranges of the front, given as first LBN and count; returns their
    /// tokens and when the last read completed, if that is before `until`.
    fn read_front(
        &mut self,
        parts: &[(u64, u64)],
        at: Nanos,
        until: Nanos,
    ) -> Option<(Vec<Vec<u64>>, Nanos)> {
        let mut ids = Vec::with_capacity(parts.len());
        for &(lbn, blocks) in parts {
            let read = Request::new(0, at, Op::Read, lbn, blocks as u32);
            ids.push(self.send(FRONT, read, None, &[], &mut NullSink));
        }
        let now = self.finish(&ids, at, until)?;
        let mut tokens = Vec::with_capacity(ids.len());
        if let Some(state) = &mut self.content_state {
            tokens.extend(ids.into_iter().map(|id| state.volatile.take_internal(id)));
        }
        Some((tokens, now))
    }

    /// The extents of the valid records in `log`, given the tokens of all its
    /// blocks.
    fn scan(&self, log: u64, tokens: &[u64]) -> Vec<Placed> {
        let shape = self.spec.shape;
        let mut placed = Vec::new();
        let state = self.content_state.as_ref().expect("its contents are kept");
        let mut at = shape.summary_blocks() as usize;
        while at < tokens.len() {
            let here = shape.start(log) + at as u64;
            at += 1;
            let Some(Block::Header { address, extents, check }) =
                state.durable.find(shape.front(here), tokens[at - 1])
            else {
                continue;
            };
            let blocks = blocks_in(extents);
            let data = tokens.get(at..at + blocks as usize);
            // A record of an earlier log in this place, or a torn record.
            if *address != here || data.is_none_or(|data| record_check(data) != *check) {
                continue;
            }
            let mut address = here + 1;
            for extent in extents {
                placed.push(Placed { lbn: extent.lbn, blocks: extent.blocks, address });
                address += u64::from(extent.blocks);
            }
            at += blocks as usize;
        }
        placed
    }

    /// Reads the first blocks of every place, and logs without a summary; returns
    /// the number of the oldest log in use, the logs found by number, and the time.
    fn find_logs(
        &mut self,
        at: Nanos,
        until: Nanos,
    ) -> Option<(u64, BTreeMap<u64, FoundLog>, Nanos)> {
        let shape = self.spec.shape;
        let places: Vec<_> = (0..shape.logs())
            .map(|place| (shape.front(shape.start(place)), shape.summary_blocks()))
            .collect();
        let (tokens, now) = self.read_front(&places, at, until)?;
        // The oldest log in use, and one past the last log with a summary.
        let (mut first, mut next) = (0, 0);
        let mut found = BTreeMap::new();
        for ((lbn, _), tokens) in places.iter().zip(&tokens) {
            let state = self.content_state.as_ref();
            match state.and_then(|state| state.durable.find(*lbn, *tokens.first()?)) {
                Some(Block::Mark { first: oldest }) => first = first.max(*oldest),
                Some(Block::Summary { log, first: oldest, placed }) => {
                    first = first.max(*oldest);
                    if Durable::is_complete(tokens) {
                        next = next.max(log + 1);
                        let placed = placed.clone();
                        let summarised = true;
                        found.insert(*log, FoundLog { placed, summarised });
                    }
                }
                Some(Block::Header { .. }) | None => {}
            }
        }
        found.retain(|log, _| *log >= first);
        let end = (next.max(first) + WITHOUT_SUMMARY).min(first + shape.logs());
        let to_scan: Vec<u64> = (first..end).filter(|log| !found.contains_key(log)).collect();
        let whole: Vec<_> = (to_scan.iter())
            .map(|&log| (shape.front(shape.start(log)), shape.log_blocks()))
            .collect();
        let (tokens, now) = self.read_front(&whole, now, until)?;
        for (log, tokens) in to_scan.into_iter().zip(&tokens) {
            let placed = self.scan(log, tokens);
            let summarised = false;
            found.insert(log, FoundLog { placed, summarised });
        }
        // Logs after the last record were never begun, or all their records are torn.
        while let Some(last) = found.last_entry()
            && last.get().placed.is_empty()
            && !last.get().summarised
        {
            last.remove();
        }
        Some((first, found, now))
    }
}

impl Contents for Mwb {
    fn stage_write(&mut self, tokens: &[u64]) {
        if let Some(state) = &mut self.content_state {
            state.volatile.staged = tokens.to_vec();
        }
    }

    fn take_read_data(&mut self, id: u64) -> Vec<u64> {
        let state = self.content_state.as_mut();
        state.map_or_else(Vec::new, |state| state.volatile.take(id))
    }

    fn lose_power(&mut self, at: Nanos, chance: &mut Stream) {
        self.children.lose_power(at, chance);
        if let Some(state) = &mut self.content_state {
            state.volatile = Volatile::default();
        }
        self.timing = Timing::new(&self.spec, Logs::new(self.spec.shape, 0), Nanos::ZERO);
    }

    fn recover_until(&mut self, at: Nanos, until: Nanos) -> Option<Nanos> {
        let now = self.children.recover_until(at, until)?;
        let (first, found, now) = self.find_logs(now, until)?;
        let mut timing = Timing::new(&self.spec, Logs::new(self.spec.shape, first), now);
        let mut without_summary = Vec::new();
        for (number, FoundLog { placed, summarised }) in found {
            timing.logs.begin();
            for &piece in &placed {
                timing.table.put(piece);
            }
            let log = timing.logs.at(number);
            (log.placed, log.closed, log.summarised) = (placed, true, summarised);
            if !summarised {
                without_summary.push(number);
            }
        }
        self.timing = timing;
        // No log is open now, so torn records stay outside the scanned logs.
        let mut ids = Vec::new();
        for &number in &without_summary {
            ids.push(self.summarise(number, now, &mut NullSink));
        }
        let now = self.finish(&ids, now, until)?;
        for number in without_summary {
            self.summarised(number);
        }
        self.timing.forget_sent();
        self.timing.back_idle = now;
        Some(now)
    }

    fn token(&mut self, lbn: u64) -> u64 {
        let mut place = (BACK, lbn);
        self.timing.table.visit(lbn, 1, |_, _, address| {
            if let Some(address) = address {
                place = (FRONT, self.spec.shape.front(address));
            }
        });
        let contents = self.children.contents(place.0);
        contents.map_or(0, |contents| contents.token(place.1))
    }
}
