//! The organ pipe with periodic reshuffles, which move the data at a cost.
//!
//! Requests are counted by the units they touch. The first request that arrives
//! `reshuffle_s` or more after the start of the last reshuffle (and after its
//! end) begins a reshuffle: the units counted since then, most popular first
//! (ties by their places), at most `reshuffle_units` of them, get the best
//! places, each in exchange for the unit there. Units without requests move
//! only in such an exchange.
//!
//! An exchange reads both units and writes both, one request after the other,
//! through the device's queue like host requests. Host requests go to the new
//! places once the last write is complete; until then to the old ones. The
//! requests of a reshuffle are background requests with ids from 2^63 on and
//! the request that began it as their parent; their rows are notes with the
//! logical LBN of the unit read or written.

use super::organ_pipe::{OrganPipe, Reshuffle};
use super::popularity::add;
use super::remapped::place;
use crate::model::{Background, CompletionSink, Model, Report};
use sledsim_base::request::{Flags, OWN_WORK, Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use smallvec::SmallVec;
use std::collections::{BTreeMap, VecDeque};

/// Two units that change places.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    /// The popular unit and the other one, with their places.
    units: [u32; 2],
    places: [u32; 2],
    /// How many of the four requests are complete: read both, write both.
    done: usize,
}

impl Exchange {
    /// The next request: operation, place, and the unit that is moved.
    fn next(&self) -> Option<(Op, u32, u32)> {
        let [unit, other] = self.units;
        let [from, to] = self.places;
        let steps = [
            (Op::Read, from, unit),
            (Op::Read, to, other),
            (Op::Write, to, unit),
            (Op::Write, from, other),
        ];
        steps.get(self.done).copied()
    }
}

/// A model behind an organ pipe that is reshuffled.
pub struct Reshuffling {
    model: Box<dyn Model>,
    pipe: OrganPipe,
    rule: Reshuffle,
    /// The rank of each place by its distance from the middle.
    rank: Vec<u32>,
    counts: Vec<u32>,
    /// The earliest time of the next reshuffle.
    next_at: Nanos,
    /// The request that began the current reshuffle.
    cause: u64,
    /// The units to move, with their new places.
    pending_moves: VecDeque<(u32, u32)>,
    exchange: Option<Exchange>,
    /// When the next request of the exchange arrives, once known.
    due: Option<Nanos>,
    next_id: u64,
    /// The logical LBNs of host requests under way: places may change before a
    /// request is complete.
    host_lbns: BTreeMap<u64, u64>,
}

/// Separates rows of host requests from rows of reshuffles.
struct ForwardingSink<'a> {
    above: &'a mut dyn CompletionSink,
    host_lbns: &'a mut BTreeMap<u64, u64>,
    /// The logical LBN of the unit being moved, and when its request is complete.
    unit_lbn: u64,
    due: &'a mut Option<Nanos>,
}

impl CompletionSink for ForwardingSink<'_> {
    fn done(&mut self, row: &Row) {
        if row.id >= OWN_WORK {
            *self.due = Some(row.completion);
            let lbn = self.unit_lbn;
            self.above.note(&Row { lbn, ..*row });
        } else {
            let lbn = self.host_lbns.remove(&row.id).expect("what completes is under way");
            self.above.done(&Row { lbn, ..*row });
        }
    }

    fn note(&mut self, row: &Row) {
        self.above.note(row);
    }
}

impl Reshuffling {
    /// Maps the blocks of `model` by `pipe`, reshuffled by `rule`.
    pub fn new(model: Box<dyn Model>, pipe: OrganPipe, rule: Reshuffle) -> Self {
        let mut rank = vec![0; pipe.best.len()];
        for (near, &place) in pipe.best.iter().enumerate() {
            rank[place as usize] = near as u32;
        }
        Self {
            model,
            rank,
            counts: vec![0; pipe.place.len()],
            pipe,
            rule,
            next_at: Nanos::from_s(rule.reshuffle_s),
            cause: 0,
            pending_moves: VecDeque::new(),
            exchange: None,
            due: None,
            next_id: OWN_WORK,
            host_lbns: BTreeMap::new(),
        }
    }

    fn split<'a>(
        &'a mut self,
        above: &'a mut dyn CompletionSink,
    ) -> (&'a mut dyn Model, ForwardingSink<'a>) {
        let moved = self.exchange.and_then(|exchange| exchange.next());
        let forwarding = ForwardingSink {
            above,
            host_lbns: &mut self.host_lbns,
            unit_lbn: moved.map_or(0, |(_, _, unit)| u64::from(unit) * self.pipe.unit),
            due: &mut self.due,
        };
        (&mut *self.model, forwarding)
    }

    /// Chooses the units to move, at the arrival of request `cause`.
    fn plan(&mut self, cause: u64, at: Nanos) {
        let (counts, pipe, rank) = (&self.counts, &self.pipe, &self.rank);
        let mut popular: Vec<u32> =
            (0..counts.len() as u32).filter(|unit| counts[*unit as usize] > 0).collect();
        popular.sort_by_key(|unit| {
            let unit = *unit as usize;
            (u32::MAX - counts[unit], rank[pipe.place[unit] as usize])
        });
        popular.truncate(self.rule.reshuffle_units.unwrap_or(u32::MAX) as usize);
        self.pending_moves = popular.into_iter().zip(pipe.best.iter().copied()).collect();
        self.counts.fill(0);
        self.next_at = at + Nanos::from_s(self.rule.reshuffle_s);
        self.cause = cause;
        self.due = Some(at);
    }

    /// Submits the next request of the reshuffle, after one has completed or at its
    /// start.
    fn submit_next(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        if let Some(exchange) = &mut self.exchange {
            exchange.done += 1;
            if exchange.next().is_none() {
                let ([unit, other], [from, to]) = (exchange.units, exchange.places);
                for (unit, place) in [(unit, to), (other, from)] {
                    self.pipe.place[unit as usize] = place;
                    self.pipe.held[place as usize] = unit;
                }
                self.exchange = None;
            }
        }
        while self.exchange.is_none() {
            // The reshuffle is over.
            let Some((unit, to)) = self.pending_moves.pop_front() else {
                return;
            };
            let (from, other) = (self.pipe.place[unit as usize], self.pipe.held[to as usize]);
            self.exchange = (from != to).then_some(Exchange {
                units: [unit, other],
                places: [from, to],
                done: 0,
            });
        }
        let next = self.exchange.and_then(|exchange| exchange.next());
        let (op, place, _) = next.expect("an exchange under way has a next request");
        let request = Request {
            id: self.next_id,
            parent: Some(self.cause),
            arrival: at,
            op,
            flags: Flags::BACKGROUND,
            extents: SmallVec::from_buf([self.pipe.extent(place)]),
            ..Request::default()
        };
        self.next_id += 1;
        let (model, mut forwarding) = self.split(sink);
        model.submit(request, &mut forwarding);
    }
}

impl Model for Reshuffling {
    fn blocks(&self) -> u64 {
        self.model.blocks()
    }

    fn servers(&self) -> u64 {
        self.model.servers()
    }

    fn submit(&mut self, mut request: Request, sink: &mut dyn CompletionSink) {
        let arrival = request.arrival;
        self.advance(arrival, false, sink);
        let at_rest = self.exchange.is_none() && self.due.is_none();
        if arrival >= self.next_at && at_rest {
            self.plan(request.id, arrival);
        }
        if request.op.moves_data() {
            for extent in &request.extents {
                let units = extent.lbn / self.pipe.unit..=(extent.end() - 1) / self.pipe.unit;
                add(&mut self.counts, units);
            }
        }
        self.host_lbns.insert(request.id, request.lbn());
        place(&self.pipe, &mut request.extents);
        let (model, mut forwarding) = self.split(sink);
        model.submit(request, &mut forwarding);
    }

    fn next_event(&self) -> Option<Nanos> {
        [self.due, self.model.next_event()].into_iter().flatten().min()
    }

    fn happen(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        if self.due == Some(at) {
            self.due = None;
            self.submit_next(at, sink);
        } else {
            let (model, mut forwarding) = self.split(sink);
            model.wake(at, &mut forwarding);
        }
    }

    fn background(&self) -> Option<&dyn Background> {
        self.model.background()
    }

    fn report(&self, until: Nanos, reports: &mut Vec<Report>) {
        self.model.report(until, reports);
    }
}
