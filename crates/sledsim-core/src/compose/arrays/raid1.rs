//! RAID 1: every slot holds a copy of all blocks.

use super::members::Members;
use super::plan::Plan;
use super::{Level, Lost, ParityWriteCounts, TokenMap, View};
use sledsim_base::request::Extent;

/// How to choose the copy to read from, among those that hold all blocks of the
/// read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// Round robin.
    RoundRobin,
    /// The one with the fewest requests; ties are broken round robin.
    ShortestQueue,
    /// The one with the fewest requests; ties go to the shortest positioning time,
    /// if the device reports one.
    Nearest,
}

/// Mirrors: copies of the same blocks.
pub(crate) struct Mirrors {
    blocks: u64,
    width: u32,
    reads: Reads,
    /// The next slot in turn.
    turn: usize,
}

impl Mirrors {
    /// `width` copies on children of `blocks` blocks.
    pub(crate) fn new(width: u32, blocks: u64, reads: Reads) -> Self {
        Self { blocks, width, reads, turn: 0 }
    }

    /// Whether a slot holds all blocks of `extents`.
    fn has_all(members: &Members, slot: usize, extents: &[Extent]) -> bool {
        let valid = members.valid(slot);
        extents.iter().all(|extent| extent.end() <= valid)
    }

    /// Chooses the copy for a read.
    fn choose(&mut self, view: &View<'_>) -> Result<usize, Lost> {
        let (members, width) = (view.members, view.members.len());
        let in_turn = (0..width).map(|step| (self.turn + step) % width);
        let mut able = in_turn.filter(|&slot| Self::has_all(members, slot, &view.request.extents));
        let load = |slot: usize| members.child(slot).map(|child| members.load(child));
        let chosen = match self.reads {
            Reads::RoundRobin => able.next(),
            // Ties go to the first in turn.
            Reads::ShortestQueue => able.min_by_key(|&slot| load(slot)),
            Reads::Nearest => able.min_by_key(|&slot| {
                let mechanism =
                    members.child(slot).and_then(|child| view.children.mechanism(child));
                let time =
                    mechanism.map(|device| device.positions().estimate(view.at, view.request));
                (load(slot), time)
            }),
        };
        let slot = chosen.ok_or(Lost)?;
        self.turn = (slot + 1) % width;
        Ok(slot)
    }
}

impl Level for Mirrors {
    fn blocks(&self) -> u64 {
        self.blocks
    }

    fn child_blocks(&self) -> u64 {
        self.blocks
    }

    fn lock_range(&self, extent: Extent) -> (u64, u64) {
        (extent.lbn, extent.end())
    }

    fn lock_range_at(&self, from: u64, to: u64) -> (u64, u64) {
        (from, to)
    }

    fn has_parity(&self) -> bool {
        false
    }

    fn read(&mut self, view: &View<'_>, plan: &mut Plan) -> Result<u64, Lost> {
        let slot = self.choose(view)?;
        for extent in &view.request.extents {
            plan.add(slot, extent.lbn, extent.end());
        }
        Ok(0)
    }

    fn before_write(
        &mut self,
        _extents: &[Extent],
        _members: &Members,
        _plan: &mut Plan,
    ) -> Result<ParityWriteCounts, Lost> {
        Ok(ParityWriteCounts::default())
    }

    fn write(
        &mut self,
        extents: &[Extent],
        members: &Members,
        plan: &mut Plan,
    ) -> Result<(), Lost> {
        if !(0..members.len()).any(|slot| Self::has_all(members, slot, extents)) {
            return Err(Lost);
        }
        for slot in 0..members.len() {
            for extent in extents {
                // Blocks beyond the valid part will be rebuilt.
                plan.add(slot, extent.lbn, extent.end().min(members.valid(slot)));
            }
        }
        Ok(())
    }

    fn rebuild(
        &mut self,
        _slot: usize,
        from: u64,
        to: u64,
        members: &Members,
        plan: &mut Plan,
    ) -> Result<(), Lost> {
        let mut sources = (0..members.len()).filter(|&slot| members.valid(slot) >= to);
        let source = sources.next().ok_or(Lost)?;
        plan.add(source, from, to);
        Ok(())
    }

    fn lost(&self, from: u64, to: u64, missing: u64) -> u64 {
        if missing.count_ones() == self.width { to - from } else { 0 }
    }

    fn place(&self, lbn: u64) -> (usize, u64) {
        (0, lbn)
    }

    fn recover(&self, _slot: usize, address: u64, known: &TokenMap) -> Option<u64> {
        (0..64).find_map(|slot| known.get(&(slot, address)).copied())
    }

    fn written(&self, _slot: usize, address: u64, new: &TokenMap, _old: &TokenMap) -> Option<u64> {
        new.get(&(0, address)).copied()
    }
}
