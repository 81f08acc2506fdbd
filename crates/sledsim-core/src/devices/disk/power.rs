//! The spindle of a disk: rotating, stopped, or starting; and the energy of the disk.
//!
//! *Standby* is the inactive state: the spindle is stopped and the heads are off the
//! media. Starting again takes `spin_up`; the spindle then has the phase it would have
//! had without the pause, since the angle is a function of time alone, and the heads
//! are where they were. A read hit does not start the spindle; a write into the buffer
//! starts it, as it is written back at once.

use crate::idle_policy::{IdleTracker, PowerOn, PowerPolicySpec, break_even};
use crate::model::Energy;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::units::Nanos;

/// Power of a disk by state, and its power policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiskPower {
    /// When an idle disk stops its spindle.
    pub policy: PowerPolicySpec,
    /// State at time zero.
    pub start: PowerOn,
    /// Arm moving, in W.
    pub seek_w: f64,
    /// Reading or writing, in W.
    pub transfer_w: f64,
    /// Rotating without work, or waiting for a sector, in W.
    pub idle_w: f64,
    /// Spindle stopped, in W.
    pub standby_w: f64,
    /// Spindle starting, in W.
    pub spin_up_w: f64,
    /// Time to start again.
    pub spin_up: Nanos,
}

impl DiskPower {
    /// Reads the table `[power]`, if it is there.
    pub fn read(keys: &mut Keys) -> Result<Option<Self>> {
        let Some(mut keys) = keys.take_table("power") else {
            return Ok(None);
        };
        let watts = Range::at_least(0.0).at_most(1e6);
        let ms = Range::at_least(0.0).at_most(1e9);
        let mut spec = Self {
            policy: PowerPolicySpec::Never,
            start: PowerOn::default(),
            seek_w: keys.f64("seek_w", watts)?,
            transfer_w: keys.f64("transfer_w", watts)?,
            idle_w: keys.f64("idle_w", watts)?,
            standby_w: keys.f64("standby_w", watts)?,
            spin_up_w: keys.f64("spin_up_w", watts)?,
            spin_up: Nanos::from_ms(keys.f64("spin_up_ms", ms)?),
        };
        let startup_mj = 1e3 * spec.spin_up_w * spec.spin_up.s();
        let worth = break_even(startup_mj, 1e3 * spec.idle_w, 1e3 * spec.standby_w);
        spec.policy = PowerPolicySpec::read(&mut keys, PowerPolicySpec::Never, worth)?;
        spec.start = PowerOn::read(&mut keys, spec.spin_up)?;
        keys.finish()?;
        Ok(Some(spec))
    }
}

/// The reason for work of the mechanics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A request in service.
    Request,
    /// Read-ahead.
    ReadAhead,
    /// Write-back of buffered data.
    Destage,
}

/// A spindle with its energy account.
#[derive(Clone, Debug)]
pub struct Spindle {
    power: DiskPower,
    watch: IdleTracker,
    /// The end of the time accounted for: end of the last work, or the time at which
    /// the spindle was ready.
    since: Nanos,
    /// End of planned read-ahead.
    planned: Nanos,
    /// End of other activity that keeps the disk from idling.
    engaged: Nanos,
    energy: Energy,
}

impl Spindle {
    /// Creates a spindle in its state at time zero.
    pub fn new(power: DiskPower) -> Self {
        Self {
            watch: IdleTracker::new(&power.policy),
            since: power.start.ready,
            planned: Nanos::ZERO,
            engaged: Nanos::ZERO,
            power,
            energy: Energy::default(),
        }
    }

    /// How long work arriving at `at` waits for the spindle.
    #[inline]
    pub fn delay(&self, at: Nanos) -> Nanos {
        if self.watch.is_inactive(self.idle(at)) {
            self.power.spin_up
        } else if self.since == self.power.start.ready {
            // No work yet: still in the initial start-up.
            self.since.since(at)
        } else {
            Nanos::ZERO
        }
    }

    /// Idle time up to `at`.
    #[inline]
    fn idle(&self, at: Nanos) -> Nanos {
        at.since(self.since.max(self.planned).max(self.engaged))
    }

    /// Divides the time until `at` into rotating without work and standing still.
    fn split(&self, at: Nanos) -> (Nanos, Nanos) {
        let (_, inactive) = self.watch.split(self.idle(at));
        (at.since(self.since) - inactive, inactive)
    }

    /// Keeps the disk from idling from `at` to `until` for activity without the
    /// mechanics: a request to answer or data to take. A stopped spindle stays stopped.
    pub fn engage(&mut self, at: Nanos, until: Nanos) {
        if !self.watch.is_inactive(self.idle(at)) {
            self.engaged = self.engaged.max(until);
        }
    }

    /// Announces read-ahead until `until`; other work may cut it short.
    pub fn expect(&mut self, until: Nanos) {
        self.planned = until;
    }

    /// Begins work at `at`, after stopping read-ahead. Returns how long it waits for
    /// the spindle, and the spin-up energy in J, not counting the initial start.
    pub fn begin(&mut self, at: Nanos) -> (Nanos, f64) {
        self.planned = Nanos::ZERO;
        let delay = self.delay(at);
        let idle = self.idle(at);
        let (ready, inactive) = self.split(at);
        self.energy.idle_j += self.power.idle_w * ready.s();
        self.energy.inactive_j += self.power.standby_w * inactive.s();
        let startup_j =
            if self.watch.is_inactive(idle) { self.power.spin_up_w * delay.s() } else { 0.0 };
        self.energy.startup_j += startup_j;
        self.watch.ended(idle);
        self.since = self.since.max(at + delay);
        (delay, startup_j)
    }

    /// Accounts for work of the mechanics from `begin` to `end`: arm moves for `seek`,
    /// sectors of the request under a head for `transfer`, and waiting in the rest,
    /// which counts as positioning. Returns the energy in J.
    pub fn work(
        &mut self,
        [begin, end]: [Nanos; 2],
        [seek, transfer]: [Nanos; 2],
        cause: Cause,
    ) -> f64 {
        // Overheads before the work, and pauses between passes of read-ahead.
        self.energy.idle_j += self.power.idle_w * begin.since(self.since).s();
        let wait = end.since(begin.max(self.since)).since(seek + transfer);
        let seek_j = self.power.seek_w * seek.s() + self.power.idle_w * wait.s();
        let transfer_j = self.power.transfer_w * transfer.s();
        match cause {
            Cause::Request => {
                self.energy.seek_j += seek_j;
                self.energy.transfer_j += transfer_j;
            }
            Cause::ReadAhead => self.energy.read_ahead_j += seek_j + transfer_j,
            Cause::Destage => self.energy.destage_j += seek_j + transfer_j,
        }
        self.since = self.since.max(end);
        seek_j + transfer_j
    }

    /// Energy by cause until `until`.
    pub fn energy(&self, until: Nanos) -> Energy {
        let (ready, inactive) = self.split(until);
        let start = self.power.start.starting(until);
        let mut energy = self.energy;
        energy.idle_j += self.power.idle_w * ready.s();
        energy.inactive_j += self.power.standby_w * inactive.s();
        energy.startup_j += self.power.spin_up_w * start.s();
        energy
    }
}
