//! RAID 1: every slot holds a copy of all blocks.

use super::members::Members;
use super::plan::Plan;
use super::reads::Reads;
use super::{Level, Lost, TokenMap, View};
use sledsim_base::request::Extent;

/// Mirrors: copies of the same blocks.
pub(crate) struct Mirrors {
    blocks: u64,
    width: usize,
    reads: Reads,
    /// The next slot in turn.
    turn: usize,
}

impl Mirrors {
    /// `width` copies on children of `blocks` blocks.
    pub(crate) fn new(width: u32, blocks: u64, reads: Reads) -> Self {
        Self { blocks, width: width as usize, reads, turn: 0 }
    }

    /// Whether a slot holds all blocks of `extents`.
    fn has_all(members: &Members, slot: usize, extents: &[Extent]) -> bool {
        let valid = members.valid(slot);
        extents.iter().all(|extent| extent.end() <= valid)
    }

    /// Chooses the copy for a read.
    fn choose(&mut self, view: &View<'_>) -> Result<usize, Lost> {
        let in_turn = (0..self.width).map(|step| (self.turn + step) % self.width);
        let request = view.request;
        let able = in_turn
            .filter(|&slot| Self::has_all(view.members, slot, &request.extents))
            .map(|slot| (slot, request));
        let (slot, _) = self.reads.choose(view, able).ok_or(Lost)?;
        self.turn = (slot + 1) % self.width;
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

    fn lock_range_at(&self, _slot: usize, from: u64, to: u64) -> (u64, u64) {
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

    fn lost(&self, members: &Members) -> u64 {
        let valid = (0..self.width).map(|slot| members.valid(slot)).max();
        self.blocks.saturating_sub(valid.unwrap_or(0))
    }

    fn place(&self, lbn: u64) -> (usize, u64) {
        (0, lbn)
    }

    fn recover(
        &self,
        _slot: usize,
        address: u64,
        known: &mut dyn FnMut(usize, u64) -> Option<u64>,
    ) -> Option<u64> {
        (0..self.width).find_map(|slot| known(slot, address))
    }

    fn written(&self, _slot: usize, address: u64, new: &TokenMap, _old: &TokenMap) -> Option<u64> {
        new.get(&(0, address)).copied()
    }
}
