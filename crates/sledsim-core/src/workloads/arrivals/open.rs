//! Open arrivals: times that do not depend on the device.

use super::b_model::{Cascade, CascadeSpec};
use super::constant::Constant;
use super::on_off::{BurstSpec, OnOff};
use super::poisson::Poisson;
use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::random::Stream;
use sledsim_base::units::Nanos;

/// `rate`, `arrivals`, `time_scale` and the keys of bursts.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct OpenSpec {
    /// Requests per s in the long run, before scaling.
    rate: f64,
    time_scale: f64,
    arrivals: GapKind,
    #[serde(flatten)]
    bursts: Option<BurstSpec>,
    #[serde(flatten)]
    cascade: Option<CascadeSpec>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum GapKind {
    Poisson,
    Constant,
}

const GAPS: [(&str, GapKind); 2] = [("poisson", GapKind::Poisson), ("constant", GapKind::Constant)];

impl OpenSpec {
    /// `None` if there is no `rate`.
    pub(super) fn read(keys: &mut Keys) -> Result<Option<Self>> {
        let rate = keys.opt_f64("rate", Range::above(0.0).at_most(1e12))?;
        let time_scale = keys.opt_f64("time_scale", Range::above(0.0).at_most(1e12))?;
        let gaps = keys.opt_choice("arrivals", &GAPS)?;
        let bursts = BurstSpec::read(keys, rate.unwrap_or(f64::MAX))?;
        let cascade = CascadeSpec::read(keys)?;
        if bursts.is_some() && cascade.is_some() {
            let problem = "must not be given with on_ms: bursts are of one kind or the other";
            return Err(keys.refuse("bias", problem));
        }
        let Some(rate) = rate else {
            return match ["time_scale", "arrivals", "on_ms", "bias"]
                .iter()
                .find(|key| keys.has(key))
            {
                Some(&"time_scale") => Err(keys
                    .refuse("time_scale", "scales the arrivals of an open load and so needs rate")),
                Some(key) => {
                    Err(keys.refuse(key, "shapes the arrivals of an open load and so needs rate"))
                }
                None => Ok(None),
            };
        };
        Ok(Some(Self {
            rate,
            time_scale: time_scale.unwrap_or(1.0),
            arrivals: gaps.unwrap_or(GapKind::Poisson),
            bursts,
            cascade,
        }))
    }

    pub(super) fn scale(&mut self, time_scale: f64) {
        self.time_scale *= time_scale;
    }

    /// The mean gap in the long run.
    pub(super) fn gap_s(&self) -> f64 {
        1.0 / self.rate / self.time_scale
    }

    pub(super) fn start(&self, stream: &dyn Fn(&str) -> Stream) -> OpenArrivals {
        let duty = self.bursts.map_or(1.0, |bursts| bursts.duty());
        let mean_ns = 1e9 / self.rate / self.time_scale * duty;
        let mut open = OpenArrivals {
            next: Nanos::ZERO,
            fraction_ns: 0.0,
            gaps: match self.arrivals {
                GapKind::Poisson => Gaps::Poisson(Poisson::new(stream("arrival"), mean_ns)),
                GapKind::Constant => Gaps::Constant(Constant { gap_ns: mean_ns }),
            },
            clock: match (self.bursts, self.cascade) {
                (Some(bursts), _) => {
                    Clock::OnOff(Box::new(bursts.start(self.time_scale, stream("burst"))))
                }
                (None, Some(cascade)) => {
                    Clock::Cascade(Box::new(cascade.start(self.time_scale, stream("cascade"))))
                }
                (None, None) => Clock::Steady,
            },
        };
        open.take();
        open
    }
}

/// Open arrivals. Whole nanoseconds and the fraction are kept apart, so no
/// precision is lost over time.
#[derive(Clone, Debug)]
pub(crate) struct OpenArrivals {
    next: Nanos,
    fraction_ns: f64,
    gaps: Gaps,
    clock: Clock,
}

#[derive(Clone, Debug)]
enum Gaps {
    Poisson(Poisson),
    Constant(Constant),
}

/// The clock that measures gaps.
#[derive(Clone, Debug)]
enum Clock {
    Steady,
    OnOff(Box<OnOff>),
    Cascade(Box<Cascade>),
}

impl OpenArrivals {
    #[inline]
    pub(super) fn next(&self) -> Nanos {
        self.next
    }

    #[inline]
    pub(super) fn take(&mut self) -> Nanos {
        let mut gap = match &mut self.gaps {
            Gaps::Poisson(poisson) => poisson.gap_ns(),
            Gaps::Constant(constant) => constant.gap_ns(),
        };
        match &mut self.clock {
            Clock::Steady => {}
            Clock::OnOff(bursts) => gap = bursts.stretch_ns(gap),
            Clock::Cascade(cascade) => gap = cascade.stretch_ns(gap),
        }
        gap += self.fraction_ns;
        let whole = gap as u64;
        self.fraction_ns = gap - whole as f64;
        // Times beyond half the range are practically impossible.
        let next = Nanos(self.next.0.saturating_add(whole).min(u64::MAX / 2));
        std::mem::replace(&mut self.next, next)
    }
}
