//! The disk as a mechanism: an arm that stays where its last request left it,
//! over media that turn on.

use super::drive::{Arm, Drive};
use crate::mechanism::{Mechanism, Place, Service, Span, Step};
use crate::model::Energy;
use crate::request::Request;
use crate::row::Parts;
use crate::units::Nanos;
use std::sync::Arc;

/// A disk as a [`Mechanism`]. It does not model power.
#[derive(Clone, Debug)]
pub struct Disk {
    drive: Arc<Drive>,
    arm: Arm,
}

impl Disk {
    /// A disk with its arm at cylinder 0 and head 0.
    #[must_use]
    pub fn new(drive: Arc<Drive>) -> Self {
        Self {
            drive,
            arm: Arm::default(),
        }
    }

    /// What it is made of: plans passes without moving anything.
    #[must_use]
    pub fn drive(&self) -> &Arc<Drive> {
        &self.drive
    }

    /// Where the arm is.
    #[must_use]
    pub fn arm(&self) -> Arm {
        self.arm
    }

    /// Leaves the arm elsewhere, as work that was planned with
    /// [`Disk::drive`] does.
    pub fn leave(&mut self, arm: Arm) {
        self.arm = arm;
    }
}

impl Mechanism for Disk {
    fn blocks(&self) -> u64 {
        self.drive.geometry.blocks()
    }

    /// A disk reads a track in one pass: that is its row.
    fn end_of(&self, lbn: u64, span: Span) -> u64 {
        match span {
            Span::Row | Span::Track => self.drive.geometry.track_around(lbn).end,
            Span::Cylinder => self.drive.geometry.end_of_cylinder(lbn),
        }
    }

    fn estimate(&self, at: Nanos, request: &Request) -> Nanos {
        let Some(extent) = request.extents.first() else {
            return Nanos::ZERO;
        };
        let how = self.drive.access(request.op);
        let pass = (self.drive).pass(at, self.arm, how, extent.lbn, extent.blocks);
        pass.first - at
    }

    fn serve(&mut self, at: Nanos, request: &Request, steps: &mut Vec<Step>) -> Service {
        let mut parts = Parts::default();
        let (mut now, mut passes) = (at, 0);
        let how = self.drive.access(request.op);
        for &extent in &request.extents {
            for pass in self.drive.passes(now, self.arm, how, extent) {
                parts.seek += pass.seek;
                parts.head_switch += pass.head_switch;
                parts.settle += pass.settle;
                parts.transfer += pass.transfer;
                parts.rotation += pass.end - pass.arrive - pass.transfer;
                steps.push(Step {
                    seek_s: (pass.first - now).s(),
                    settle_s: pass.settle.s(),
                    transfer_s: (pass.end - pass.first).s(),
                    lbn: pass.lbn,
                    blocks: pass.blocks,
                    end: pass.end - at,
                    ..Step::default()
                });
                passes += 1;
                (now, self.arm) = (pass.end, pass.arm);
            }
        }
        Service {
            parts,
            passes,
            ..Service::default()
        }
    }

    /// Cylinder, and the angle at which the first block begins.
    fn place(&self, request: &Request) -> Place {
        let (track, index) = self.drive.geometry.find(request.lbn());
        Place {
            major: i64::from(track.cylinder),
            minor: (track.angle(index) >> 1) as i64,
        }
    }

    fn major(&self, _at: Nanos) -> i64 {
        i64::from(self.arm.cylinder)
    }

    fn at_least(&self, _at: Nanos, major: i64) -> Nanos {
        let last = i64::from(self.drive.seeks.longest());
        let distance = (major.clamp(0, last) as u32).abs_diff(self.arm.cylinder);
        let gain_ns = self.drive.write_settle_ns.min(0);
        let time = self.drive.seeks.at_least(distance);
        Nanos(time.0.saturating_add_signed(gain_ns))
    }

    fn energy(&self, _until: Nanos) -> Energy {
        Energy::default()
    }
}
