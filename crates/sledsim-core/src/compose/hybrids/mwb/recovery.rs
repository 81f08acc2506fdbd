//! What survives, and how the table is rebuilt from it.

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

/// A log as it was found.
struct Found {
    placed: Vec<Placed>,
    summarised: bool,
}

impl Mwb {
    /// Does the requests to the front that `ids` name, all of which were sent:
    /// when the last is complete, if that is before `until`.
    fn finish(&mut self, ids: &[u64], at: Nanos, until: Nanos) -> Option<Nanos> {
        let mut now = at;
        let mut left = ids.len();
        while left > 0 {
            let event = self.children.step(until, false, &mut NullSink)?;
            let Some((child, row)) = event else { continue };
            now = row.completion;
            left -= 1;
            if row.op == Op::Read
                && let Some(keeping) = &mut self.keeping
                && let Some(contents) = self.children.contents(child)
            {
                keeping
                    .volatile
                    .arrived(row.id, contents.take_read_data(row.id));
            }
        }
        Some(now)
    }

    /// Reads these blocks of the front, first LBN and count: their tokens, and
    /// when the last were read, if that is before `until`.
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
        if let Some(keeping) = &mut self.keeping {
            tokens.extend(ids.into_iter().map(|id| keeping.volatile.take_own(id)));
        }
        Some((tokens, now))
    }

    /// The records in `log`, all of whose blocks were read.
    fn scan(&self, log: u64, tokens: &[u64]) -> Vec<Placed> {
        let shape = self.spec.shape;
        let mut placed = Vec::new();
        let Some(keeping) = &self.keeping else {
            return placed;
        };
        let mut at = shape.summary_blocks() as usize;
        while at < tokens.len() {
            let here = shape.start(log) + at as u64;
            at += 1;
            let Some(Block::Header {
                address,
                extents,
                check,
            }) = keeping.durable.find(shape.front(here), tokens[at - 1])
            else {
                continue;
            };
            let blocks = blocks_in(extents);
            let data = tokens.get(at..at + blocks as usize);
            // What another log left here, or a record that is torn.
            if *address != here || data.is_none_or(|data| record_check(data) != *check) {
                continue;
            }
            let mut address = here + 1;
            for extent in extents {
                placed.push(Placed {
                    lbn: extent.lbn,
                    blocks: extent.blocks,
                    address,
                });
                address += u64::from(extent.blocks);
            }
            at += blocks as usize;
        }
        placed
    }

    /// Reads the first block of every place and what has no summary: the number
    /// of the oldest log in use, what was found by number, and when.
    fn find_logs(&mut self, at: Nanos, until: Nanos) -> Option<(u64, BTreeMap<u64, Found>, Nanos)> {
        let shape = self.spec.shape;
        let places: Vec<_> = (0..shape.logs())
            .map(|place| (shape.front(shape.start(place)), shape.summary_blocks()))
            .collect();
        let (tokens, now) = self.read_front(&places, at, until)?;
        // The oldest log in use, and the first that never had a summary.
        let (mut first, mut next) = (0, 0);
        let mut found = BTreeMap::new();
        for ((lbn, _), tokens) in places.iter().zip(&tokens) {
            let keeping = self.keeping.as_ref();
            match keeping.and_then(|keeping| keeping.durable.find(*lbn, *tokens.first()?)) {
                Some(Block::Mark { first: oldest }) => first = first.max(*oldest),
                Some(Block::Summary {
                    log,
                    first: oldest,
                    placed,
                }) => {
                    first = first.max(*oldest);
                    if Durable::is_whole(tokens) {
                        next = next.max(log + 1);
                        let placed = placed.clone();
                        let summarised = true;
                        found.insert(*log, Found { placed, summarised });
                    }
                }
                Some(Block::Header { .. }) | None => {}
            }
        }
        found.retain(|log, _| *log >= first);
        let end = (next.max(first) + WITHOUT_SUMMARY).min(first + shape.logs());
        let to_scan: Vec<u64> = (first..end)
            .filter(|log| !found.contains_key(log))
            .collect();
        let whole: Vec<_> = (to_scan.iter())
            .map(|&log| (shape.front(shape.start(log)), shape.log_blocks()))
            .collect();
        let (tokens, now) = self.read_front(&whole, now, until)?;
        for (log, tokens) in to_scan.into_iter().zip(&tokens) {
            let placed = self.scan(log, tokens);
            let summarised = false;
            found.insert(log, Found { placed, summarised });
        }
        // What follows the last record was never begun, or all of it was torn.
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
        if let Some(keeping) = &mut self.keeping {
            keeping.volatile.held = tokens.to_vec();
        }
    }

    fn take_read_data(&mut self, id: u64) -> Vec<u64> {
        let keeping = self.keeping.as_mut();
        keeping.map_or_else(Vec::new, |keeping| keeping.volatile.take(id))
    }

    fn lose_power(&mut self, at: Nanos, chance: &mut Stream) {
        self.children.lose_power(at, chance);
        if let Some(keeping) = &mut self.keeping {
            keeping.volatile = Volatile::default();
        }
        self.timing = Timing::new(&self.spec, Logs::new(self.spec.shape, 0), Nanos::ZERO);
    }

    fn recover_until(&mut self, at: Nanos, until: Nanos) -> Option<Nanos> {
        let now = self.children.recover_until(at, until)?;
        let (first, found, now) = self.find_logs(now, until)?;
        let mut timing = Timing::new(&self.spec, Logs::new(self.spec.shape, first), now);
        let mut without = Vec::new();
        for (number, Found { placed, summarised }) in found {
            timing.logs.begin();
            for &piece in &placed {
                timing.table.put(piece);
            }
            if let Some(log) = timing.logs.get(number) {
                log.placed = placed;
                log.closed = true;
                log.summarised = summarised;
            }
            if !summarised {
                without.push(number);
            }
        }
        self.timing = timing;
        // No log is open now, so that what is torn stays where nobody looks.
        let mut ids = Vec::new();
        for &number in &without {
            ids.push(self.summarise(number, now, &mut NullSink));
        }
        let now = self.finish(&ids, now, until)?;
        for number in without {
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
