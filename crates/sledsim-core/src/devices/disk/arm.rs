//! The disk as a mechanism: an arm that stays where its last request left it, over
//! media that keep rotating.

use super::drive::{Arm, Drive, Pass, PassMode};
use super::faults::{DiskFaults, FaultsMet, FaultyPasses};
use crate::devices::disk::power::{Cause, DiskPower, Spindle};
use crate::model::mechanism::{
    Bounds, Mechanism, Media, Passes, Positions, Service, Span, Start, Step, Tips,
};
use crate::model::{Background, BatchPlanner, Energy, Episode};
use sledsim_base::request::{Extent, Request};
use sledsim_base::row::{Parts, Path, Row, Status, UNKNOWN_ENERGY};
use sledsim_base::units::Nanos;
use std::sync::Arc;

/// A disk as a [`Mechanism`]. Without [`DiskPower`] it always rotates and draws no
/// power.
#[derive(Clone, Debug)]
pub struct Disk {
    drive: Arc<Drive>,
    arm: Arm,
    /// Its cylinder before it passed by others.
    cylinder_before: u32,
    spindle: Option<Box<Spindle>>,
    faults: Option<Box<FaultyPasses>>,
}

impl Disk {
    /// Creates a disk with its arm at cylinder 0 and head 0.
    pub fn new(drive: Arc<Drive>) -> Self {
        Self { drive, arm: Arm::default(), cylinder_before: 0, spindle: None, faults: None }
    }

    /// Returns the disk with power states, if any.
    pub fn with_power(mut self, power: Option<DiskPower>) -> Self {
        self.spindle = power.map(|power| Box::new(Spindle::new(power)));
        self
    }

    /// Returns the disk with errors, if any.
    pub fn with_faults(mut self, faults: Option<&DiskFaults>) -> Self {
        self.faults = faults.map(|faults| Box::new(FaultyPasses::new(faults, &self.drive)));
        self
    }

    /// Its errors at work.
    pub(super) fn faults(&mut self) -> Option<&mut FaultyPasses> {
        self.faults.as_deref_mut()
    }

    /// The slow episodes that began by `until`, and what they delayed.
    pub fn episodes(&self, until: Nanos) -> Vec<Episode> {
        self.faults.as_ref().map_or_else(Vec::new, |faults| faults.episodes(until))
    }

    /// How long work arriving at `at` waits for the spindle.
    pub fn delay(&self, at: Nanos) -> Nanos {
        (self.spindle.as_ref()).map_or(Nanos::ZERO, |spindle| spindle.delay(at))
    }

    /// Keeps the spindle busy with read-ahead until `until`.
    pub(super) fn expect(&mut self, until: Nanos) {
        if let Some(spindle) = &mut self.spindle {
            spindle.expect(until);
        }
    }

    /// As [`Spindle::engage`].
    pub(super) fn engage(&mut self, at: Nanos, until: Nanos) {
        if let Some(spindle) = &mut self.spindle {
            spindle.engage(at, until);
        }
    }

    /// As [`Spindle::begin`].
    pub(super) fn begin(&mut self, at: Nanos) -> (Nanos, f64) {
        (self.spindle.as_mut()).map_or((Nanos::ZERO, 0.0), |spindle| spindle.begin(at))
    }

    /// As [`Spindle::work`].
    pub(super) fn work(
        &mut self,
        from_to: [Nanos; 2],
        seek_transfer: [Nanos; 2],
        cause: Cause,
    ) -> f64 {
        let spindle = self.spindle.as_mut();
        spindle.map_or(0.0, |spindle| spindle.work(from_to, seek_transfer, cause))
    }

    /// An energy in J as rows have it.
    pub(super) fn energy_nj(&self, energy_j: f64) -> u64 {
        match self.spindle {
            Some(_) => (energy_j * 1e9 + 0.5) as u64,
            None => UNKNOWN_ENERGY,
        }
    }

    /// The mechanical part, which plans passes without moving anything.
    pub fn drive(&self) -> &Arc<Drive> {
        &self.drive
    }

    /// Position of the arm.
    pub fn arm(&self) -> Arm {
        self.arm
    }

    /// Moves over `extents` from `at` on. `each` gets the spindle, when a pass begins, and
    /// the pass. Returns the parts, the number of passes, the end, where the arm went, and the
    /// errors met.
    #[inline(always)] // hot
    pub(super) fn sweep(
        &mut self,
        at: Nanos,
        extents: &[Extent],
        how: PassMode,
        mut each: impl FnMut(&mut Option<Box<Spindle>>, Nanos, &Pass),
    ) -> (Parts, u32, Nanos, Path, FaultsMet) {
        let (mut parts, mut passes, mut now) = (Parts::default(), 0, at);
        let mut met = FaultsMet::default();
        let Self { drive, arm, spindle, faults, .. } = self;
        let mut path = Path { from: arm.place(), ..Path::default() };
        if arm.passed_by > 0 {
            path.from.cylinder = self.cylinder_before;
            path.cylinders = u64::from(arm.passed_by);
        }
        for &extent in extents {
            let mut planned = drive.passes(now, *arm, how, extent);
            while let Some(begin) = planned.at() {
                if let Some(faults) = faults {
                    let wait = faults.wait(begin);
                    parts.other += wait;
                    now = begin + wait;
                    planned.resume(now);
                }
                let Some(mut pass) = planned.next() else { break };
                if let Some(faults) = faults {
                    let into = (&mut parts, &mut path);
                    met.add(faults.meet(drive, now, how, &mut pass, into));
                    planned.resume(pass.end);
                }
                passes += 1;
                parts.seek += pass.seek;
                parts.head_switch += pass.head_switch;
                parts.settle += pass.settle;
                parts.transfer += pass.transfer;
                parts.rotation += pass.end - pass.arrive - pass.transfer;
                each(spindle, now, &pass);
                path.cylinders += u64::from(arm.cylinder.abs_diff(pass.arm.cylinder));
                (now, *arm) = (pass.end, pass.arm);
            }
        }
        path.to = arm.place();
        (parts, passes + met.retries + met.remapped, now, path, met)
    }

    /// Sets the position of the arm after work that was planned with [`Disk::drive`].
    pub fn leave(&mut self, arm: Arm) {
        self.arm = arm;
    }
}

impl Positions for Disk {
    fn blocks(&self) -> u64 {
        self.drive.geometry.blocks()
    }

    fn estimate(&self, at: Nanos, request: &Request) -> Nanos {
        let Some(extent) = request.extents.first() else {
            return Nanos::ZERO;
        };
        let how = self.drive.access(request.op);
        let turns = at + self.delay(at);
        let pass = (self.drive).pass(turns, self.arm, how, extent.lbn, extent.blocks);
        pass.first - at
    }

    fn start_of(&self, request: &Request) -> Start {
        match request.extents.first() {
            Some(extent) => self.drive.start_of(*extent),
            None => Start::at(self.target_cylinder(request)),
        }
    }

    fn estimate_within(&self, at: Nanos, request: &Request, start: &Start, limit: Nanos) -> Nanos {
        let how = self.drive.access(request.op);
        let turns = at + self.delay(at);
        let latest = Nanos(at.0.saturating_add(limit.0));
        (self.drive.first_within(turns, self.arm, how, start, latest))
            .map_or_else(|| self.estimate(at, request), |first| first - at)
    }

    /// The cylinder of the first block.
    fn target_cylinder(&self, request: &Request) -> i64 {
        let (track, _) = self.drive.geometry.find(request.lbn());
        i64::from(track.cylinder)
    }

    fn cylinder(&self, _at: Nanos) -> i64 {
        i64::from(self.arm.cylinder)
    }

    fn seek_lower_bound(&self, at: Nanos, cylinder: i64) -> Nanos {
        let last = i64::from(self.drive.seeks.longest());
        let distance = (cylinder.clamp(0, last) as u32).abs_diff(self.arm.cylinder);
        let gain_ns = self.drive.write_settle_ns.min(0);
        let time = self.drive.seeks.at_least(distance);
        self.delay(at) + Nanos(time.0.saturating_add_signed(gain_ns))
    }

    fn bounds(&self, at: Nanos) -> Option<Bounds<'_>> {
        Some(Bounds {
            here: self.arm.cylinder,
            base: self.delay(at),
            by_distance: self.drive.seeks.all_at_least(),
            gain_ns: self.drive.write_settle_ns.min(0),
        })
    }
}

impl Mechanism for Disk {
    fn positions(&self) -> &dyn Positions {
        self
    }

    fn media(&self) -> &dyn Media {
        self
    }

    fn tips(&mut self) -> Option<&mut dyn Tips> {
        None
    }

    fn batches(&self) -> Option<&dyn BatchPlanner> {
        None
    }

    fn background(&self) -> Option<&dyn Background> {
        None
    }

    fn rest(&mut self, at: Nanos) -> bool {
        let _ = at;
        false
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        self.faults.as_ref().map_or_else(Vec::new, |faults| faults.counts())
    }

    fn pass_by(&mut self, lbn: u64) {
        if self.arm.passed_by == 0 {
            self.cylinder_before = self.arm.cylinder;
        }
        let cylinder = self.drive.geometry.find(lbn).0.cylinder;
        let distance = self.arm.cylinder.abs_diff(cylinder);
        self.arm.passed_by += distance;
        self.arm.passing_ns += self.drive.seeks.time(distance).0 as u32;
        self.arm.cylinder = cylinder;
    }

    fn access(&mut self, at: Nanos, request: &Request, passes: &mut Passes, row: &mut Row) {
        let (delay, mut energy_j) = self.begin(at);
        let how = self.drive.access(request.op);
        let (mut parts, count, _, path, met) =
            self.sweep(at + delay, &request.extents, how, |spindle, now, pass| {
                let took = [pass.seek, pass.transfer];
                let pass_j = (spindle.as_mut())
                    .map_or(0.0, |spindle| spindle.work([now, pass.end], took, Cause::Request));
                energy_j += pass_j;
                passes.push(Step {
                    seek_s: (pass.first - now).s(),
                    settle_s: pass.settle.s(),
                    transfer_s: (pass.end - pass.first).s(),
                    lbn: pass.lbn,
                    blocks: pass.blocks,
                    end: pass.end - at,
                    energy_j: pass_j,
                    ..Step::default()
                });
            });
        parts.other += delay;
        if let Some(faults) = &mut self.faults {
            faults.enter(request.id, met);
        }
        let energy_nj = self.energy_nj(energy_j);
        let (path, retries) = (Some(path), met.retries);
        let status = if met.unrecovered > 0 { Status::Error } else { Status::Ok };
        Service { parts, passes: count, retries, energy_nj, status, path }.set(row);
    }

    fn energy(&self, until: Nanos) -> Option<Energy> {
        (self.spindle.as_ref()).map(|spindle| spindle.energy(until))
    }
}

impl Media for Disk {
    /// A disk reads a track in one pass: that is its row.
    fn end_of(&self, lbn: u64, span: Span) -> u64 {
        match span {
            Span::Row | Span::Track => self.drive.geometry.track_around(lbn).end,
            Span::Cylinder => self.drive.geometry.end_of_cylinder(lbn),
        }
    }
}
