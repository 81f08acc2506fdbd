//! The versions that each block may hold, given the completions that the host
//! saw.
//!
//! Written for clarity, not for speed, and independent of all models.

use super::report::{Happened, PromisedBy, Version};
use sledsim_base::request::{Flags, Op, Request, lbns};
use sledsim_base::units::Nanos;
use sledsim_core::model::contents::Promise;
use std::collections::BTreeMap;

/// Not yet.
const NEVER: u64 = u64::MAX;
/// From this many versions on, a block's superseded versions are dropped.
const MANY_VERSIONS: usize = 64;

/// The versions of every written block, and when each may be read.
///
/// A moment is the index of an event at the host, so that simultaneous events
/// have an order.
pub(super) struct Oracle {
    promise: Promise,
    moment: u64,
    writes: Vec<Write>,
    /// The versions of each block: token and write, in the order of submission.
    blocks: BTreeMap<u64, Vec<(u64, usize)>>,
    /// Outstanding requests by id, with the moment of submission.
    open: BTreeMap<u64, (u64, Request)>,
    /// Writes under way and acknowledged ones that are not promised to survive, by
    /// id or in the order of acknowledgement.
    writing: BTreeMap<u64, usize>,
    unflushed: Vec<usize>,
    next_token: u64,
}

/// A write, or a version found after a crash.
struct Write {
    id: Option<u64>,
    fua: bool,
    /// Its first token, and its extents.
    first_token: u64,
    begun: u64,
    acknowledged: u64,
    /// It was promised to survive.
    promised: u64,
    begun_at: Nanos,
    acknowledged_at: Option<Nanos>,
    promised_at: Option<(Nanos, PromisedBy)>,
}

/// The initial contents: zeros.
const INITIAL: Write = Write {
    id: None,
    fua: false,
    first_token: 0,
    begun: 0,
    acknowledged: 0,
    promised: 0,
    begun_at: Nanos::ZERO,
    acknowledged_at: Some(Nanos::ZERO),
    promised_at: None,
};

impl Oracle {
    pub(super) fn new(promise: Promise) -> Self {
        Self {
            promise,
            moment: 0,
            writes: vec![INITIAL],
            blocks: BTreeMap::new(),
            open: BTreeMap::new(),
            writing: BTreeMap::new(),
            unflushed: Vec::new(),
            next_token: 1,
        }
    }

    /// Records a submitted request; returns the tokens of a write, one unique
    /// token per block.
    pub(super) fn begin(&mut self, request: &Request, at: Nanos) -> Vec<u64> {
        self.moment += 1;
        self.open.insert(request.id, (self.moment, request.clone()));
        let first_token = self.next_token;
        let tokens: Vec<u64> = match request.op {
            Op::Write => (first_token..).take(request.blocks() as usize).collect(),
            // The old version or zeros: as a write of zeros never acknowledged.
            Op::Trim => vec![0; request.blocks() as usize],
            Op::Read | Op::Flush => return Vec::new(),
        };
        let write = self.writes.len();
        if request.op == Op::Write {
            self.next_token += tokens.len() as u64;
            self.writing.insert(request.id, write);
        }
        self.writes.push(Write {
            id: Some(request.id),
            fua: request.flags.contains(Flags::FUA),
            first_token,
            begun: self.moment,
            acknowledged: NEVER,
            promised: NEVER,
            begun_at: at,
            acknowledged_at: None,
            promised_at: None,
        });
        let oldest = self.open.values().map(|(begun, _)| *begun).min();
        for (lbn, token) in lbns(&request.extents).zip(&tokens) {
            let versions = self.blocks.entry(lbn).or_insert_with(|| vec![(0, 0)]);
            versions.push((*token, write));
            if versions.len() > MANY_VERSIONS
                && let Some(oldest) = oldest
            {
                let all = versions.clone();
                let writes = &self.writes;
                versions.retain(|of| !superseded(*of, &all, writes, |w| w.promised, oldest));
            }
        }
        tokens
    }

    /// Records a completion; returns the request and the moment of submission.
    pub(super) fn end(&mut self, id: u64, at: Nanos) -> Option<(u64, Request)> {
        self.moment += 1;
        let (begun, request) = self.open.remove(&id)?;
        if let Some(index) = self.writing.remove(&id) {
            let write = &mut self.writes[index];
            write.acknowledged = self.moment;
            write.acknowledged_at = Some(at);
            let by = match self.promise {
                Promise::Completion => Some(PromisedBy::Completion),
                Promise::Flush => write.fua.then_some(PromisedBy::Fua),
            };
            write.promised_at = by.map(|by| (at, by));
            match by {
                Some(_) => write.promised = self.moment,
                None => self.unflushed.push(index),
            }
        }
        if request.op == Op::Flush {
            let (writes, moment) = (&mut self.writes, self.moment);
            self.unflushed.retain(|index| {
                let write = &mut writes[*index];
                if write.acknowledged < begun {
                    write.promised = moment;
                    write.promised_at = Some((at, PromisedBy::Flush));
                }
                write.promised == NEVER
            });
        }
        Some((begun, request))
    }

    /// Records a failure: a failed write may take effect or not.
    pub(super) fn fail(&mut self, id: u64) {
        self.open.remove(&id);
        self.writing.remove(&id);
    }

    /// Requests that are not complete, in the order of their ids.
    pub(super) fn open(&self) -> impl Iterator<Item = &Request> {
        self.open.values().map(|(_, request)| request)
    }

    pub(super) fn open_count(&self) -> u64 {
        self.open.len() as u64
    }

    /// The tokens that a read of `lbn` submitted at `begun` may return now.
    pub(super) fn readable(&self, lbn: u64, begun: u64) -> Vec<u64> {
        self.allowed(lbn, |write| write.acknowledged, begun)
    }

    /// The tokens that `lbn` may hold after a power failure now.
    pub(super) fn may_survive(&self, lbn: u64) -> Vec<u64> {
        self.allowed(lbn, |write| write.promised, self.moment)
    }

    /// The versions that no other has superseded at `moment`.
    fn allowed(&self, lbn: u64, counts: fn(&Write) -> u64, moment: u64) -> Vec<u64> {
        let Some(versions) = self.blocks.get(&lbn) else {
            return vec![0];
        };
        let stand = |of: &&(u64, usize)| !superseded(**of, versions, &self.writes, counts, moment);
        let mut tokens: Vec<u64> = versions.iter().filter(stand).map(|of| of.0).collect();
        tokens.dedup();
        tokens
    }

    /// All blocks ever written.
    pub(super) fn written(&self) -> Vec<u64> {
        self.blocks.keys().copied().collect()
    }

    /// After a power failure: `token` is the only allowed version of `lbn`.
    pub(super) fn found(&mut self, lbn: u64, token: u64) {
        self.blocks.insert(lbn, vec![(token, 0)]);
    }

    /// After a power failure: no request is outstanding.
    pub(super) fn forget(&mut self) {
        self.moment += 1;
        self.open.clear();
        self.writing.clear();
        self.unflushed.clear();
    }

    /// The first token of the write under way with this id.
    pub(super) fn first_token(&self, id: u64) -> Option<u64> {
        (self.writing.get(&id)).map(|index| self.writes[*index].first_token)
    }

    /// The versions of a block since the last crash.
    pub(super) fn history(&self, lbn: u64) -> Vec<Version> {
        let versions = self.blocks.get(&lbn).map_or(&[(0, 0)][..], Vec::as_slice);
        let of = |(token, index): &(u64, usize)| {
            let write = &self.writes[*index];
            Version {
                token: *token,
                request: write.id,
                happened: write.id.map(|_| Happened {
                    begun: write.begun_at,
                    acknowledged: write.acknowledged_at,
                    promised: write.promised_at,
                }),
            }
        };
        versions.iter().map(of).collect()
    }

    /// The write of a token, and the index of the block in it.
    pub(super) fn origin(&self, token: u64) -> Option<(u64, u64)> {
        if token == 0 || token >= self.next_token {
            return None;
        }
        let index = self.writes.partition_point(|w| w.first_token <= token) - 1;
        let write = &self.writes[index];
        Some((write.id?, token - write.first_token))
    }
}

/// Whether a write that began after version `of` was acknowledged counts at
/// `moment` already.
fn superseded(
    of: (u64, usize),
    versions: &[(u64, usize)],
    writes: &[Write],
    counts: fn(&Write) -> u64,
    moment: u64,
) -> bool {
    let end = writes[of.1].acknowledged;
    let later = |(_, other): &(u64, usize)| {
        let write = &writes[*other];
        write.begun > end && counts(write) <= moment
    };
    versions.iter().any(later)
}
