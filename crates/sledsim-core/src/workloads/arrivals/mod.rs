//! Arrivals: when requests arrive.
//!
//! Open arrivals (`open`) do not depend on the device; closed ones (`closed`,
//! `thinking`) follow completions. Each file guarantees that arrivals never
//! decrease, and that numbers are drawn from separate streams.
//!
//! Modules in reading order:
//! - `open`: open arrivals, with gaps from the modules below;
//! - `constant`: the same gap each time;
//! - `poisson`: exponential gaps;
//! - `on_off`: bursts of a source that is alternately on and off;
//! - `b_model`: bursts at many scales;
//! - `closed`: a fixed number of requests outstanding;
//! - `thinking`: customers with random think times.

mod open;

mod constant;

mod poisson;

mod on_off;

mod b_model;

mod closed;

mod thinking;

pub use closed::{Closed, ClosedSpec};

use open::{OpenArrivals, OpenSpec};
use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::random::Stream;
use sledsim_base::units::Nanos;
use thinking::{Think, Thinking};

/// The arrivals of a generated load: open if there is a `rate`, else closed.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum ArrivalSpec {
    OpenArrivals(OpenSpec),
    Closed {
        #[serde(flatten)]
        spec: ClosedSpec,
        #[serde(skip_serializing_if = "Option::is_none")]
        think: Option<Think>,
    },
}

impl ArrivalSpec {
    pub(super) fn read(keys: &mut Keys) -> Result<Self> {
        let open = OpenSpec::read(keys)?;
        let closed = ClosedSpec::read(keys)?;
        let think = Think::read(keys, closed)?;
        match (open, closed) {
            (Some(_), Some(_)) => {
                let other = ["queue_depth", "think_ms"];
                let other = other[usize::from(!keys.has(other[0]))];
                let problem =
                    format!("must not be given with {other}: a load is either open or closed");
                Err(keys.refuse("rate", problem))
            }
            (Some(open), None) => Ok(Self::OpenArrivals(open)),
            (None, closed) => Ok(Self::Closed { spec: closed.unwrap_or_default(), think }),
        }
    }

    /// The key of the arrival rate, and the least mean gap in s.
    pub(super) fn gap_s(&self) -> (&'static str, f64) {
        match self {
            Self::OpenArrivals(open) => ("rate", open.gap_s()),
            Self::Closed { spec, .. } => {
                ("think_ms", spec.think_ms * 1e-3 / f64::from(spec.queue_depth))
            }
        }
    }

    /// Divides the times of an open load by a further `time_scale`; returns whether
    /// the load is open.
    pub(super) fn scale(&mut self, time_scale: f64) -> bool {
        match self {
            Self::OpenArrivals(open) => {
                open.scale(time_scale);
                true
            }
            Self::Closed { .. } => false,
        }
    }

    /// The arrivals from time 0 on.
    pub(super) fn start(&self, stream: &dyn Fn(&str) -> Stream) -> Arrivals {
        match self {
            Self::OpenArrivals(open) => Arrivals::OpenArrivals(open.start(stream)),
            Self::Closed { spec, think: Some(Think::Exponential) } => {
                Arrivals::Thinking(Thinking::new(*spec, stream("think")))
            }
            Self::Closed { spec, .. } => Arrivals::Closed(spec.start()),
        }
    }
}

/// When the requests of a load arrive.
#[derive(Clone, Debug)]
pub(super) enum Arrivals {
    OpenArrivals(OpenArrivals),
    Closed(Closed),
    Thinking(Thinking),
}

impl Arrivals {
    /// When the next request arrives, if that is known.
    #[inline]
    pub(super) fn next(&self) -> Option<Nanos> {
        match self {
            Self::OpenArrivals(open) => Some(open.next()),
            Self::Closed(closed) => closed.next(),
            Self::Thinking(thinking) => thinking.next(),
        }
    }

    /// Removes the arrival that [`Arrivals::next`] returned.
    #[inline]
    pub(super) fn take(&mut self) -> Option<Nanos> {
        match self {
            Self::OpenArrivals(open) => Some(open.take()),
            Self::Closed(closed) => closed.take(),
            Self::Thinking(thinking) => thinking.take(),
        }
    }

    /// Handles a completion at `at`.
    #[inline]
    pub(super) fn completed(&mut self, at: Nanos) {
        match self {
            Self::OpenArrivals(_) => {}
            Self::Closed(closed) => closed.completed(at),
            Self::Thinking(thinking) => thinking.completed(at),
        }
    }
}
