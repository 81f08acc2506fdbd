//! The spindle of a disk: turning, standing still, or starting; and what the
//! disk draws.
//!
//! *Standby* is the inactive state: the spindle stands still, the heads are off
//! the media. Starting again takes `spin_up`; the spindle then turns with the
//! phase it would have had without the pause, since the angle is a function of
//! the time alone, and the heads are where they were before it. A read that the
//! buffer answers starts nothing; a write that the buffer takes is on its way to
//! the media at once, and starts the spindle.

use crate::model::Energy;
use crate::power::{IdleTracker, PowerOn, PowerPolicySpec, break_even};
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::units::Nanos;

/// What a disk draws, and when it stands still.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiskPower {
    /// When an idle disk stops its spindle.
    pub policy: PowerPolicySpec,
    /// How it is at time zero.
    pub start: PowerOn,
    /// Arm moving, in W.
    pub seek_w: f64,
    /// Reading or writing, in W.
    pub transfer_w: f64,
    /// Turning, nothing else: without work, or waiting for a sector. In W.
    pub idle_w: f64,
    /// Spindle standing still, in W.
    pub standby_w: f64,
    /// Spindle starting, in W.
    pub spin_up_w: f64,
    /// How long it takes to start again.
    pub spin_up: Nanos,
}

impl DiskPower {
    /// Reads the table `[power]`, if it is there.
    ///
    /// # Errors
    /// The key that is unknown, missing or not allowed.
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

/// What the mechanics work for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A request that waits for it.
    Request,
    /// Reading ahead.
    ReadAhead,
    /// Writing what the buffer held back.
    Destage,
}

/// A spindle with its account of energy.
#[derive(Clone, Debug)]
pub struct Spindle {
    power: DiskPower,
    watch: IdleTracker,
    /// Until when all is accounted for: the mechanics have done all they were
    /// told, or are ready for it.
    since: Nanos,
    /// Until when it is to read ahead.
    planned: Nanos,
    /// Until when it has something to do, if not for the mechanics.
    engaged: Nanos,
    energy: Energy,
}

impl Spindle {
    /// As it is at time zero.
    #[must_use]
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

    /// How long work that comes at `at` waits for the spindle.
    #[must_use]
    #[inline]
    pub fn delay(&self, at: Nanos) -> Nanos {
        if self.watch.is_inactive(self.idle(at)) {
            self.power.spin_up
        } else if self.since == self.power.start.ready {
            // Nothing was done yet.
            self.since.since(at)
        } else {
            Nanos::ZERO
        }
    }

    /// How long it has been without anything to do.
    #[inline]
    fn idle(&self, at: Nanos) -> Nanos {
        at.since(self.since.max(self.planned).max(self.engaged))
    }

    /// How much of the time until `at` it was turning without work, and how much
    /// it stood still.
    fn split(&self, at: Nanos) -> (Nanos, Nanos) {
        let (_, inactive) = self.watch.split(self.idle(at));
        (at.since(self.since) - inactive, inactive)
    }

    /// From `at` to `until` it has something to do, if not for the mechanics: a
    /// request to answer, or data to take. Standing still it goes on to.
    pub fn engage(&mut self, at: Nanos, until: Nanos) {
        if !self.watch.is_inactive(self.idle(at)) {
            self.engaged = self.engaged.max(until);
        }
    }

    /// It is to read ahead until `until`, unless something else comes.
    pub fn expect(&mut self, until: Nanos) {
        self.planned = until;
    }

    /// Work comes at `at`, nothing being read ahead: how long it waits for the
    /// spindle, and the energy that this takes if it is not the first start, in J.
    pub fn begin(&mut self, at: Nanos) -> (Nanos, f64) {
        self.planned = Nanos::ZERO;
        let delay = self.delay(at);
        let idle = self.idle(at);
        let (ready, inactive) = self.split(at);
        self.energy.idle_j += self.power.idle_w * ready.s();
        self.energy.inactive_j += self.power.standby_w * inactive.s();
        let startup_j = if self.watch.is_inactive(idle) {
            self.power.spin_up_w * delay.s()
        } else {
            0.0
        };
        self.energy.startup_j += startup_j;
        self.watch.ended(idle);
        self.since = self.since.max(at + delay);
        (delay, startup_j)
    }

    /// The mechanics worked from `begin` to `end`, moved the arm for `seek` of it,
    /// and had sectors to move under a head for `transfer`; in the rest they
    /// waited, which counts with positioning. The energy in J.
    pub fn work(
        &mut self,
        [begin, end]: [Nanos; 2],
        [seek, transfer]: [Nanos; 2],
        cause: Cause,
    ) -> f64 {
        // Overheads before, and what reading ahead waits between its passes.
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
    #[must_use]
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
