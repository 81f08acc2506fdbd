//! The state of a device at time zero.

use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::units::Nanos;

/// When power comes on, and when the device is then ready. Earlier requests
/// wait; without power the device draws nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PowerOn {
    /// When power comes on.
    pub on_at: Nanos,
    /// When the device is ready.
    pub ready: Nanos,
}

impl PowerOn {
    /// Reads `starts`, `on_at_ms` and `initialise_ms` from the table `[power]`;
    /// `startup` is the default of `initialise_ms`. Without the keys the device is
    /// ready at time zero.
    pub fn read(keys: &mut Keys, startup: Nanos) -> Result<Self> {
        let is_off = keys.opt_choice("starts", &[("ready", false), ("off", true)])?;
        let ms = Range::at_least(0.0).at_most(1e9);
        if is_off != Some(true) {
            for key in ["on_at_ms", "initialise_ms"] {
                if keys.has(key) {
                    return Err(keys.refuse(key, "must come with starts = \"off\" only"));
                }
            }
            return Ok(Self::default());
        }
        let on_at = keys.opt_f64("on_at_ms", ms)?.map_or(Nanos::ZERO, Nanos::from_ms);
        let takes = keys.opt_f64("initialise_ms", ms)?.map_or(startup, Nanos::from_ms);
        Ok(Self { on_at, ready: on_at + takes })
    }

    /// When power comes on for device `index` of several that start one after the
    /// other; this is device 0.
    pub fn in_turn(&self, index: u32) -> Nanos {
        let takes = self.ready - self.on_at;
        self.on_at + Nanos(takes.0.saturating_mul(u64::from(index)))
    }

    /// The time before `until` spent starting.
    pub fn starting(&self, until: Nanos) -> Nanos {
        until.min(self.ready).since(self.on_at)
    }
}
