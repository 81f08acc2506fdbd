//! The planned accesses of a step, merged slot by slot.

use sledsim_base::request::{Extent, Extents};

/// Ranges of slots, merged into at most one request per slot.
#[derive(Default)]
pub(crate) struct Plan {
    /// Slot, address, one past the last address.
    pieces: Vec<(usize, u64, u64)>,
}

impl Plan {
    /// Removes all pieces.
    pub(crate) fn clear(&mut self) {
        self.pieces.clear();
    }

    /// Adds blocks of a slot; they may overlap blocks added before.
    pub(crate) fn add(&mut self, slot: usize, from: u64, to: u64) {
        if from < to {
            self.pieces.push((slot, from, to));
        }
    }

    /// Removes the accesses of the first remaining slot: its extents in the order
    /// of addresses, each block once.
    pub(crate) fn take(&mut self) -> Option<(usize, Extents)> {
        self.pieces.sort_unstable_by(|a, b| b.cmp(a));
        let slot = self.pieces.last()?.0;
        let mut extents = Extents::new();
        while let Some(&(of, from, to)) = self.pieces.last()
            && of == slot
        {
            self.pieces.pop();
            match extents.last_mut() {
                Some(last) if last.end() >= from => {
                    last.blocks = (to.max(last.end()) - last.lbn) as u32;
                }
                _ => extents.push(Extent { lbn: from, blocks: (to - from) as u32 }),
            }
        }
        Some((slot, extents))
    }
}
