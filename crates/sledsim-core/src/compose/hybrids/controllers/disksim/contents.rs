//! What survives a power failure: all blocks in the cache, which has a battery, and the
//! table of its lines. After recovery every line is dirty, and its blocks are newer than
//! the device's.

use super::{Cached, Children, DIRTY, Nanos, VALID};
use crate::model::contents::Contents;
use sledsim_base::random::Stream;
use std::collections::BTreeMap;

/// The contents of the cache.
#[derive(Default)]
pub(super) struct ContentState {
    /// The tokens of its blocks.
    pub(super) cached: BTreeMap<u64, u64>,
    /// The tokens of the next write.
    pub(super) staged: Vec<u64>,
    /// The tokens that reads returned, by request.
    pub(super) returned: BTreeMap<u64, Vec<u64>>,
}

impl ContentState {
    /// The token of a block that is in the cache.
    pub(super) fn token(&self, lbn: u64) -> u64 {
        self.cached.get(&lbn).copied().unwrap_or(0)
    }
}

impl Cached {
    /// Forgets the contents of a clean line; of one that was not used yet there are none.
    pub(super) fn forget(&mut self, slot: usize) {
        let blocks = self.spec.line_blocks;
        let first = self.lines.all[slot].number.saturating_mul(blocks);
        if let Some(content) = &mut self.content {
            for lbn in first..first.saturating_add(blocks) {
                content.cached.remove(&lbn);
            }
        }
    }
}

impl Contents for Cached {
    fn stage_write(&mut self, tokens: &[u64]) {
        if let Some(content) = &mut self.content {
            tokens.clone_into(&mut content.staged);
        }
    }

    fn take_read_data(&mut self, id: u64) -> Vec<u64> {
        let content = self.content.as_mut();
        content.and_then(|content| content.returned.remove(&id)).unwrap_or_default()
    }

    fn lose_power(&mut self, at: Nanos, chance: &mut Stream) {
        self.children.lose_power(at, chance);
        let children = std::mem::replace(&mut self.children, Children::new(Vec::new()));
        let cached = self.content.take().map(|content| content.cached).unwrap_or_default();
        // The timing state is dropped with the old object.
        *self = Self::before(&self.name, self.device, self.spec.clone(), children);
        let (staged, returned) = Default::default();
        self.content = Some(Box::new(ContentState { cached, staged, returned }));
    }

    fn recover_until(&mut self, at: Nanos, until: Nanos) -> Option<Nanos> {
        self.now = self.children.recover_until(at, until)?;
        let mut slots = 0..self.lines.all.len();
        for lbn in self.content.iter().flat_map(|content| content.cached.keys()) {
            let number = lbn / self.spec.line_blocks;
            let slot = self
                .lines
                .find(number)
                .or_else(|| slots.next())
                .expect("there are lines for all blocks");
            if self.lines.all[slot].number != number {
                self.lines.assign(slot, number);
            }
            let block = (lbn % self.spec.line_blocks) as usize;
            self.lines.all[slot].mark(VALID | DIRTY, block..block + 1);
            self.lines.order.renew(0, slot as u32);
        }
        // What is written again may be what a flush had made durable.
        self.fua = true;
        self.note_dirty();
        Some(self.now)
    }

    fn token(&mut self, lbn: u64) -> u64 {
        let cached = self.content.as_ref().and_then(|content| content.cached.get(&lbn));
        let device = self.children.contents(0);
        (cached.copied()).unwrap_or_else(|| device.map_or(0, |device| device.token(lbn)))
    }
}
