//! On/off bursts: requests arrive while the source is on, none while it is off.

use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::random::Stream;

/// `on_ms`, `off_ms` and `burst_lengths`.
///
/// The source is on at time 0, then off and on alternately. Gaps between
/// arrivals elapse only while it is on, so that with Poisson gaps and
/// exponential lengths this is an interrupted Poisson process.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct BurstSpec {
    on_ms: f64,
    off_ms: f64,
    burst_lengths: Lengths,
}

/// The distribution of on and off times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Lengths {
    Exponential,
    Fixed,
}

const LENGTHS: [(&str, Lengths); 2] =
    [("exponential", Lengths::Exponential), ("fixed", Lengths::Fixed)];

/// The fewest arrivals per burst in the mean; with fewer, too many empty bursts
/// would be drawn.
const FEWEST: f64 = 0.01;

impl BurstSpec {
    /// Reads the keys for arrivals at `rate` per s in the long run.
    pub(super) fn read(keys: &mut Keys, rate: f64) -> Result<Option<Self>> {
        let length = Range::above(0.0).at_most(1e9);
        let on_ms = keys.opt_f64("on_ms", length)?;
        let off_ms = keys.opt_f64("off_ms", length)?;
        let lengths = keys.opt_choice("burst_lengths", &LENGTHS)?;
        match (on_ms, off_ms) {
            (Some(on_ms), Some(off_ms)) => {
                let burst = rate * (on_ms + off_ms) * 1e-3;
                if burst < FEWEST {
                    let problem = format!(
                        "must leave {FEWEST} requests or more to a burst in the mean, not {burst}"
                    );
                    return Err(keys.refuse("on_ms", problem));
                }
                Ok(Some(Self {
                    on_ms,
                    off_ms,
                    burst_lengths: lengths.unwrap_or(Lengths::Exponential),
                }))
            }
            (Some(_), None) => Err(keys.refuse("on_ms", "needs off_ms")),
            (None, Some(_)) => Err(keys.refuse("off_ms", "needs on_ms")),
            (None, None) if lengths.is_some() => {
                Err(keys.refuse("burst_lengths", "needs on_ms and off_ms"))
            }
            (None, None) => Ok(None),
        }
    }

    /// The share of time that the source is on.
    pub(super) fn duty(&self) -> f64 {
        self.on_ms / (self.on_ms + self.off_ms)
    }

    pub(super) fn start(&self, time_scale: f64, stream: Stream) -> OnOff {
        let mut bursts = OnOff {
            on_ns: self.on_ms * 1e6 / time_scale,
            off_ns: self.off_ms * 1e6 / time_scale,
            lengths: self.burst_lengths,
            left_ns: 0.0,
            stream,
        };
        bursts.left_ns = bursts.length_ns(bursts.on_ns);
        bursts
    }
}

/// A source that is alternately on and off.
#[derive(Clone, Debug)]
pub(super) struct OnOff {
    on_ns: f64,
    off_ns: f64,
    lengths: Lengths,
    /// The remaining time of the burst.
    left_ns: f64,
    stream: Stream,
}

impl OnOff {
    /// A gap with the off times that it spans.
    #[inline]
    pub(super) fn stretch_ns(&mut self, gap_ns: f64) -> f64 {
        let mut on_ns = gap_ns;
        let mut off_ns = 0.0;
        while on_ns > self.left_ns {
            on_ns -= self.left_ns;
            off_ns += self.length_ns(self.off_ns);
            self.left_ns = self.length_ns(self.on_ns);
        }
        self.left_ns -= on_ns;
        gap_ns + off_ns
    }

    fn length_ns(&mut self, mean_ns: f64) -> f64 {
        match self.lengths {
            Lengths::Exponential => self.stream.exponential(mean_ns),
            Lengths::Fixed => mean_ns,
        }
    }
}
