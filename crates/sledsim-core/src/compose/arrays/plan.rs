//! What is asked of the slots of an array, put together slot by slot.

use sledsim_base::request::{Extent, Extents};

/// Pieces of slots: at most one request per slot comes of them.
#[derive(Default)]
pub(crate) struct Plan {
    /// Slot, address, one past the last address.
    pieces: Vec<(usize, u64, u64)>,
}

impl Plan {
    /// Forgets all pieces.
    pub(crate) fn clear(&mut self) {
        self.pieces.clear();
    }

    /// Asks for blocks of a slot, which may have been asked for already.
    pub(crate) fn add(&mut self, slot: usize, from: u64, to: u64) {
        if from < to {
            self.pieces.push((slot, from, to));
        }
    }

    /// Takes out what is asked of the first slot that is left, in the order of
    /// addresses, each block once.
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
                _ => extents.push(Extent {
                    lbn: from,
                    blocks: (to - from) as u32,
                }),
            }
        }
        Some((slot, extents))
    }
}
