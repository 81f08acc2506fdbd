//! The report of a crash test.

use sledsim_base::units::Nanos;
use std::fmt;

/// The report of a crash test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The seed of the crashes.
    pub seed: u64,
    /// Power failures, those during a recovery not counted.
    pub points: u64,
    /// Power failures during a recovery.
    pub in_recovery: u64,
    /// How often the load was started, each time on a new device.
    pub rounds: u64,
    /// Requests submitted, including those of the test: reads, writes, flushes
    /// and trims.
    pub requests: u64,
    /// Reads of these.
    pub reads: u64,
    /// Writes of these.
    pub writes: u64,
    /// Blocks checked after power failures.
    pub blocks_checked: u64,
    /// Blocks that reads returned.
    pub read_blocks_checked: u64,
    /// Writes that were under way when power failed, and what was found of
    /// their blocks.
    pub under_way: UnderWay,
    /// Times of the completed recoveries, ascending.
    pub recoveries: Vec<Nanos>,
    /// The number of violations.
    pub violations: u64,
    /// The first violations.
    pub shown: Vec<Violation>,
}

/// Writes under way at a power failure, by what was found of their blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnderWay {
    /// None was new.
    pub lost: u64,
    /// Some were new, others not.
    pub torn: u64,
    /// All were new.
    pub kept: u64,
}

impl UnderWay {
    /// All of them.
    pub fn writes(&self) -> u64 {
        self.lost + self.torn + self.kept
    }
}

/// A violation of the device's promise.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// The seed of the crashes: the same test with it shows the same.
    pub seed: u64,
    /// The round, from 0; it is added to the seed of the load.
    pub round: u64,
    /// The number of power failures before it.
    pub point: u64,
    /// When power failed last, on the clock of the load, which stands still
    /// from a power failure to the end of the recovery.
    pub failed_at: Option<Nanos>,
    /// When it was noticed, on the same clock.
    pub at: Nanos,
    /// What went wrong.
    pub wrong: ViolationKind,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum ViolationKind {
    /// A block held a forbidden version after a power failure.
    Found(Block),
    /// A read, with its id, returned a forbidden version.
    Returned(u64, Block),
    /// A request, with its id, was never completed.
    Unanswered(u64),
}

/// A block with contents that are not allowed.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Its number.
    pub lbn: u64,
    /// The token found; `None` if a read returned too few blocks.
    pub found: Option<u64>,
    /// The write of this token, and the index of the block in it.
    pub origin: Option<(u64, u64)>,
    /// The tokens that are allowed.
    pub allowed: Vec<u64>,
    /// The version at the last power failure, and all written since. Of more
    /// than 64 versions, superseded ones may be missing.
    pub history: Vec<Version>,
}

/// A version of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Version {
    /// Its token; 0 is a block that was never written.
    pub token: u64,
    /// The write; `None` for the initial version or the one after a power
    /// failure.
    pub request: Option<u64>,
    /// The times of that write.
    pub happened: Option<Happened>,
}

/// The times of a write, on the clock of the load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Happened {
    /// It arrived.
    pub begun: Nanos,
    /// It was complete.
    pub acknowledged: Option<Nanos>,
    /// It was promised to survive, and by what.
    pub promised: Option<(Nanos, PromisedBy)>,
}

/// What promised that a write survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromisedBy {
    /// Its completion.
    Completion,
    /// Its completion, as it was marked `fua`.
    Fua,
    /// The completion of a flush that arrived after it was complete.
    Flush,
}

impl PromisedBy {
    /// The name used in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completion => "completion",
            Self::Fua => "fua",
            Self::Flush => "flush",
        }
    }
}

impl Report {
    /// Whether there was no violation.
    pub fn passed(&self) -> bool {
        self.violations == 0
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, round, .. } = self;
        match self.failed_at {
            Some(at) => write!(f, "power failure {} at {at}", self.point)?,
            None => write!(f, "before any power failure")?,
        }
        write!(f, " (seed {seed}, round {round}), seen at {}: ", self.at)?;
        match &self.wrong {
            ViolationKind::Found(block) => write!(f, "{block}"),
            ViolationKind::Returned(id, block) => write!(f, "read {id}: {block}"),
            ViolationKind::Unanswered(id) => write!(f, "request {id} was never completed"),
        }
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LBN {} held ", self.lbn)?;
        match (self.found, self.origin) {
            (None, _) => write!(f, "no data (short read)")?,
            (Some(0), _) => write!(f, "its initial content")?,
            (Some(token), None) => write!(f, "{token}, which no request wrote")?,
            (Some(token), Some((id, block))) => {
                write!(f, "{token}, block {block} of write {id}")?;
            }
        }
        write!(f, "; allowed: {:?}; history:", self.allowed)?;
        for version in &self.history {
            match (version.request, version.happened) {
                (Some(id), Some(at)) => {
                    write!(f, " {} of {id} begun {}", version.token, at.begun)?;
                    if let Some(at) = at.acknowledged {
                        write!(f, " acknowledged {at}")?;
                    }
                    if let Some((at, by)) = at.promised {
                        write!(f, " promised by {} {at}", by.name())?;
                    }
                    write!(f, ";")?;
                }
                _ => write!(f, " {} at first;", version.token)?,
            }
        }
        Ok(())
    }
}
