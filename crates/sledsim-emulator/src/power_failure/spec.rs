//! When power fails, and when it returns.

use sledsim_base::error::{Error, Result};
use sledsim_base::random::Stream;
use sledsim_base::units::Nanos;

/// What makes power fail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CutWhen {
    /// A command only.
    Commanded,
    /// This instant of model time.
    At(Nanos),
    /// The arrival of this request, counted from 1: it is not executed.
    Request(u64),
    /// The arrival of this flush, counted from 1: it is not executed.
    Flush(u64),
    /// Chance: exponential times from power-on to power failure.
    Rate {
        /// Power failures per second of model time.
        per_s: f64,
        /// The seed of the times.
        seed: u64,
    },
}

/// Power cuts of an export.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CutSpec {
    /// What makes power fail.
    pub when: CutWhen,
    /// How much later power returns by itself; otherwise by a command only.
    pub back_after: Option<Nanos>,
}

/// The least and greatest times in seconds, and rates per second.
const SECONDS: std::ops::RangeInclusive<f64> = 0.0..=1e9;
const RATES: std::ops::RangeInclusive<f64> = 1e-9..=1e6;

impl CutSpec {
    /// Reads `manual`, or `at=SECONDS`, `after=N`, `flush=K` or `rate=R`, with `seed=S`
    /// beside a rate, and `back=SECONDS`, separated by commas.
    pub fn parse(text: &str) -> Result<Self> {
        let refuse = |problem: String| {
            Err(Error::argument("power_cut", format!("power cut '{text}': {problem}")))
        };
        let (mut when, mut back_after, mut seed) = (None, None, None);
        for part in text.split(',') {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let number = value.parse::<f64>().ok().filter(|number| number.is_finite());
            let count = value.parse::<u64>().ok().filter(|count| *count > 0);
            let next = match key {
                "manual" if value.is_empty() => CutWhen::Commanded,
                "at" | "back" => {
                    let Some(seconds) = number.filter(|number| SECONDS.contains(number)) else {
                        return refuse(format!("{key} = '{value}': must be from 0 to 1e9 seconds"));
                    };
                    if key == "back" {
                        back_after = Some(Nanos::from_s(seconds));
                        continue;
                    }
                    CutWhen::At(Nanos::from_s(seconds))
                }
                "after" | "flush" => {
                    let Some(count) = count else {
                        return refuse(format!("{key} = '{value}': must be an integer from 1 on"));
                    };
                    match key {
                        "after" => CutWhen::Request(count),
                        _ => CutWhen::Flush(count),
                    }
                }
                "rate" => {
                    let Some(per_s) = number.filter(|number| RATES.contains(number)) else {
                        return refuse(format!("rate = '{value}': must be from 1e-9 to 1e6 per s"));
                    };
                    CutWhen::Rate { per_s, seed: 1 }
                }
                "seed" => {
                    let Ok(number) = value.parse() else {
                        return refuse(format!("seed = '{value}': must be an integer"));
                    };
                    seed = Some(number);
                    continue;
                }
                _ => {
                    return refuse(format!(
                        "'{part}': must be manual, at=SECONDS, after=REQUESTS, flush=COUNT, \
                         rate=PER_SECOND, seed=NUMBER or back=SECONDS"
                    ));
                }
            };
            if when.replace(next).is_some() {
                return refuse("only one of manual, at, after, flush and rate is allowed".into());
            }
        }
        let Some(mut when) = when else {
            return refuse("must have manual, at, after, flush or rate".into());
        };
        match (&mut when, seed) {
            (CutWhen::Rate { seed: of, .. }, Some(seed)) => *of = seed,
            (_, Some(_)) => return refuse("seed: must come with rate only".into()),
            _ => {}
        }
        Ok(Self { when, back_after })
    }
}

/// The power failures to come.
#[derive(Debug)]
pub(super) struct Schedule {
    when: CutWhen,
    chance: Stream,
    /// The next instant, if it is known.
    pub(super) at: Option<Nanos>,
    requests: u64,
    flushes: u64,
}

impl Schedule {
    pub(super) fn new(when: CutWhen) -> Self {
        let seed = match when {
            CutWhen::Rate { seed, .. } => seed,
            _ => 0,
        };
        let mut schedule = Self {
            when,
            chance: Stream::new(seed, "power failures"),
            at: None,
            requests: 0,
            flushes: 0,
        };
        if let CutWhen::At(at) = when {
            schedule.at = Some(at);
        }
        schedule.power_on(Nanos::ZERO);
        schedule
    }

    /// Power comes on at `at`.
    pub(super) fn power_on(&mut self, at: Nanos) {
        if let CutWhen::Rate { per_s, .. } = self.when {
            let wait_ns = self.chance.exponential(1e9 / per_s).ceil();
            self.at = Some(Nanos(at.0.saturating_add(wait_ns as u64)));
        }
    }

    /// Counts an arrival; returns whether power fails at it.
    pub(super) fn arrives(&mut self, is_flush: bool) -> bool {
        self.requests += 1;
        self.flushes += u64::from(is_flush);
        match self.when {
            CutWhen::Request(count) => self.requests == count,
            CutWhen::Flush(count) => is_flush && self.flushes == count,
            _ => false,
        }
    }
}
