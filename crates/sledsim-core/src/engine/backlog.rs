//! The backlog of a run: arrivals and completions, in constant memory.

use sledsim_base::units::Nanos;

/// When there are this many pieces, pairs are merged and the piece length doubles.
const MOST_PIECES: usize = 32;

/// Counts arrivals and completions, in constant memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Backlog {
    /// How many requests the device serves at once.
    pub servers: u64,
    under_way: u64,
    /// The first arrival.
    pub first: Nanos,
    /// The last arrival.
    pub last: Nanos,
    /// With fewer than `servers` under way, the time up to which `below` is
    /// counted.
    pub since: Nanos,
    /// How long fewer than `servers` were under way, up to `since`.
    pub below: Nanos,
    /// Completions while at least `servers` were under way.
    done: u64,
    /// Requests found under way by arrivals, summed.
    found: u64,
    /// Requests that arrived.
    pub arrivals: u64,
    /// Arrivals in each piece.
    pub length: u64,
    /// Arrivals missing from the current piece.
    missing: u64,
    /// The pieces that are full.
    pub pieces: Vec<Piece>,
}

/// The totals at the last arrival of a piece.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Piece {
    /// The time of that arrival.
    pub at: Nanos,
    /// Time at the full rate.
    pub full: Nanos,
    /// Completions at the full rate.
    pub done: u64,
    /// Requests found under way by arrivals, summed.
    pub found: u64,
}

impl Backlog {
    /// An empty backlog of a device that serves `servers` requests at once.
    pub fn new(servers: u64) -> Self {
        Self {
            servers: servers.max(1),
            under_way: 0,
            first: Nanos::ZERO,
            last: Nanos::ZERO,
            since: Nanos::ZERO,
            below: Nanos::ZERO,
            done: 0,
            found: 0,
            arrivals: 0,
            length: 1,
            missing: 1,
            pieces: Vec::with_capacity(MOST_PIECES),
        }
    }

    /// Counts an arrival; returns how many others are under way. Allocates nothing.
    #[inline]
    pub fn arrive(&mut self, now: Nanos) -> u64 {
        if self.arrivals == 0 {
            (self.first, self.since) = (now, now);
        }
        if self.under_way < self.servers {
            self.below += now.since(self.since);
            self.since = now;
        }
        self.arrivals += 1;
        self.found += self.under_way;
        self.under_way += 1;
        self.last = now;
        self.missing -= 1;
        if self.missing == 0 {
            self.end_piece();
        }
        self.under_way - 1
    }

    /// Counts a completion.
    #[inline]
    pub fn complete(&mut self, now: Nanos) {
        if self.under_way >= self.servers {
            self.done += 1;
            if self.under_way == self.servers {
                self.since = now;
            }
        }
        self.under_way -= 1;
    }

    fn end_piece(&mut self) {
        self.pieces.push(Piece {
            at: self.last,
            full: self.last.since(self.first).since(self.below),
            done: self.done,
            found: self.found,
        });
        if self.pieces.len() == MOST_PIECES {
            let mut ends_a_pair = true;
            self.pieces.retain(|_| {
                ends_a_pair = !ends_a_pair;
                ends_a_pair
            });
            self.length *= 2;
        }
        self.missing = self.length;
    }
}
