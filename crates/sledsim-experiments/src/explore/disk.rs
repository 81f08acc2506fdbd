//! The way of an arm, and the sectors under it.

use super::Follower;
use super::columns::{Columns, count, short};
use super::rows::Served;
use sledsim_base::row::Place;
use sledsim_base::units::Nanos;
use sledsim_core::devices::disk::calculator::Calculator;
use sledsim_core::devices::disk::drive::{Arm, Drive, Pass, PassMode};
use sledsim_core::devices::disk::spec::DiskSpec;
use std::sync::Arc;

/// Follows a disk.
pub(super) struct DiskPath {
    spec: DiskSpec,
    drive: Arc<Drive>,
    /// Where the arm was and since when, as the access added last began.
    from: (Arm, Nanos),
    row: Vec<u32>,
    exact: Vec<u8>,
    delays: Vec<u32>,
    pass_counts: Vec<u16>,
    passes: Vec<DrawnPass>,
}

/// A pass as it is drawn.
struct DrawnPass {
    seek: Nanos,
    switch: Nanos,
    wait: Nanos,
    pass: Nanos,
    arm: Arm,
    /// Where its first sector begins.
    angle: u64,
    blocks: u32,
}

impl DiskPath {
    pub fn new(spec: &DiskSpec) -> Self {
        Self {
            spec: spec.clone(),
            drive: Arc::clone(&spec.drive),
            from: (Arm::default(), Nanos::ZERO),
            row: Vec::new(),
            exact: Vec::new(),
            delays: Vec::new(),
            pass_counts: Vec::new(),
            passes: Vec::new(),
        }
    }

    /// The passes whose times are those of the row.
    fn exact(&self, served: &Served, arm: Arm, begin: Nanos) -> Option<Vec<(Nanos, Pass)>> {
        let access = self.drive.access(served.row.op);
        let goes_on = PassMode { continues: true, ..access };
        // A write waits until its data have arrived: the wait is part of the rotation.
        let parts = served.row.parts;
        let first = begin + parts.seek + parts.head_switch + parts.rotation;
        let waits = PassMode { not_before: first, ..access };
        [access, PassMode { zero_latency: false, ..goes_on }, waits].into_iter().find_map(|how| {
            let (mut now, mut passes) = (begin, Vec::new());
            let (mut seek, mut switch) = (Nanos::ZERO, Nanos::ZERO);
            for pass in self.drive.passes(begin, arm, how, served.extent()) {
                (seek, switch) = (seek + pass.seek, switch + pass.head_switch);
                passes.push((now, pass));
                now = pass.end;
            }
            let ends = now == begin + served.busy() - parts.other;
            (ends && seek == parts.seek && switch == parts.head_switch).then_some(passes)
        })
    }
}

fn arm(place: Place) -> Arm {
    Arm::at(place.cylinder, place.head_or_edge)
}

impl Follower for DiskPath {
    fn add(&mut self, row: usize, served: &Served) {
        let Some(path) = served.row.path else { return };
        let parts = served.row.parts;
        let begin = served.row.start + parts.other;
        let from = arm(path.from);
        let found = served.is_whole.then(|| self.exact(served, from, begin)).flatten();
        self.row.push(row as u32);
        self.exact.push(u8::from(found.is_some()));
        self.delays.push(short(parts.other.0));
        let before = self.passes.len();
        match found {
            Some(passes) => self.passes.extend(passes.into_iter().map(|(now, pass)| DrawnPass {
                seek: pass.seek,
                switch: pass.head_switch,
                wait: pass.first - now - pass.seek - pass.head_switch,
                pass: pass.end - pass.first,
                arm: pass.arm,
                angle: self.drive.rotation.angle(pass.first),
                blocks: pass.blocks,
            })),
            None => {
                let first = begin + parts.seek + parts.head_switch + parts.rotation;
                self.passes.push(DrawnPass {
                    seek: parts.seek,
                    switch: parts.head_switch,
                    wait: parts.rotation,
                    pass: parts.transfer,
                    arm: arm(path.to),
                    angle: self.drive.rotation.angle(first),
                    blocks: served.row.blocks,
                });
            }
        }
        self.pass_counts.push(count(self.passes.len() - before));
        self.from = (from, begin);
    }

    fn ready(&self, arrival: Nanos) -> Nanos {
        arrival + self.spec.settings.command
    }

    fn estimate(&self, served: &Served) -> Option<Nanos> {
        let (arm, at) = self.from;
        let last = served.row.lbn + u64::from(served.row.blocks);
        (served.row.blocks > 0 && last <= self.drive.geometry.blocks()).then(|| {
            let how = self.drive.access(served.row.op);
            let pass = self.drive.pass(at, arm, how, served.row.lbn, served.row.blocks);
            pass.first - at
        })
    }

    fn finish(self: Box<Self>) -> (Vec<(&'static str, Vec<f64>)>, Columns) {
        let mut columns = Columns::default();
        columns.add("row", self.row);
        columns.add("exact", self.exact);
        columns.add("delay_ns", self.delays);
        columns.add("pass_count", self.pass_counts);
        let revolution_s = self.drive.rotation.revolution_s();
        let passes = || self.passes.iter();
        columns.add("seek_ns", passes().map(|pass| short(pass.seek.0)));
        columns.add("switch_ns", passes().map(|pass| short(pass.switch.0)));
        columns.add("wait_ns", passes().map(|pass| short(pass.wait.0)));
        columns.add("pass_ns", passes().map(|pass| short(pass.pass.0)));
        columns.add("cylinder", passes().map(|pass| pass.arm.cylinder));
        columns.add("head", passes().map(|pass| count(pass.arm.head as usize)));
        columns.add("angle", passes().map(|pass| revolutions(pass.angle)));
        columns.add("turn", passes().map(|pass| (pass.pass.s() / revolution_s) as f32));
        columns.add("blocks", passes().map(|pass| pass.blocks));
        let calculator = Calculator::new(&self.spec);
        let zones = calculator.zones();
        let zone = |of: fn(&_) -> u32| zones.iter().map(|zone| f64::from(of(zone))).collect();
        let heads = self.spec.derived().surfaces;
        let facts = vec![
            ("revolution_s", vec![revolution_s]),
            ("angle_at_0", vec![revolutions(self.drive.rotation.angle(Nanos::ZERO))]),
            ("cylinders", vec![f64::from(self.drive.seeks.longest()) + 1.0]),
            ("heads", vec![f64::from(heads)]),
            ("zone_first_cylinder", zone(|zone| zone.first_cylinder)),
            ("zone_last_cylinder", zone(|zone| zone.last_cylinder)),
            ("zone_blocks_per_track", zone(|zone| zone.blocks_per_track)),
        ];
        (facts, columns)
    }
}

/// An angle in revolutions.
fn revolutions(angle: u64) -> f64 {
    angle as f64 / 18_446_744_073_709_551_616.0
}
