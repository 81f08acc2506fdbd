//! Estimates for requests that wait: all that depends on the request alone is worked
//! out once.
//!
//! Contract: equals the start of the first sector in [`Drive::pass`], or is above the
//! limit where that is.

use super::drive::{Arm, Drive, PassMode};
use super::rotation::Rotation;
use crate::model::mechanism::Start;
use sledsim_base::request::Extent;
use sledsim_base::units::Nanos;

/// Where the first pass over a request starts. Kept as a [`Start`] while it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FirstPass {
    arm: Arm,
    /// Physical number of the first sector, and its angle.
    sector: u32,
    angle: u64,
    zone: u32,
    /// Sectors on the track, and in the pass.
    sectors: u32,
    span: u32,
}

impl From<FirstPass> for Start {
    fn from(pass: FirstPass) -> Self {
        Self {
            cylinder: pass.arm.cylinder,
            own: [
                pass.arm.head,
                pass.sector,
                pass.angle as u32,
                (pass.angle >> 32) as u32,
                pass.zone,
                pass.sectors,
                pass.span,
            ],
        }
    }
}

impl From<&Start> for FirstPass {
    #[inline]
    fn from(start: &Start) -> Self {
        let [head, sector, low, high, zone, sectors, span] = start.own;
        Self {
            arm: Arm::at(start.cylinder, head),
            sector,
            angle: u64::from(high) << 32 | u64::from(low),
            zone,
            sectors,
            span,
        }
    }
}

impl Drive {
    /// Where the first pass over `extent` starts. Only the cylinder is filled in if
    /// slipped sectors lie within the pass.
    pub fn start_of(&self, extent: Extent) -> Start {
        let piece = self.geometry.piece(extent.lbn, extent.blocks);
        let track = piece.track;
        if piece.span > piece.blocks {
            return Start::at(i64::from(track.cylinder));
        }
        Start::from(FirstPass {
            arm: Arm::at(track.cylinder, track.head),
            sector: track.sector(piece.index),
            angle: track.angle(piece.index),
            zone: track.zone(),
            sectors: track.sectors,
            span: piece.span,
        })
    }

    /// When the first sector begins to pass, for an access at `at` with the arm at
    /// `from`, or any time above `limit` if that is. `None` if `start` is not filled in.
    #[inline]
    pub fn first_within(
        &self,
        at: Nanos,
        from: Arm,
        how: PassMode,
        start: &Start,
        limit: Nanos,
    ) -> Option<Nanos> {
        let pass = FirstPass::from(start);
        if pass.span == 0 {
            return None;
        }
        let (seek, head_switch, _) = self.position(from, pass.arm, how);
        let ready = at + seek + head_switch;
        if ready > limit {
            return Some(ready);
        }
        let angle = self.rotation.angle(ready);
        let mut wait = Rotation::until(angle, pass.angle);
        if how.zero_latency && pass.span > 1 && wait > 0 {
            let past = u128::from(Rotation::past(angle, pass.angle));
            let next = 1 + ((past * u128::from(pass.sectors)) >> 64) as u32;
            if next < pass.span {
                let sector = pass.sector + next;
                let round = if sector >= pass.sectors { pass.sectors } else { 0 };
                let target = self.geometry.sector_angle(pass.zone, sector - round);
                wait = Rotation::until(angle, target);
            }
        }
        Some(ready + self.rotation.time(u128::from(wait)))
    }
}
