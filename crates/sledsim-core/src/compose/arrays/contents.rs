//! What an array holds, where its children keep contents.
//!
//! Data are tokens, and the parity of data is the exclusive or of theirs: what
//! is true of a linear code block by block is true of it byte by byte.

use super::Level;
use super::array::Array;
use crate::model::contents::Contents;
use sledsim_base::random::Stream;
use sledsim_base::units::Nanos;
use std::collections::BTreeMap;

/// Tokens by slot and address.
pub(crate) type TokenMap = BTreeMap<(usize, u64), u64>;

/// The token of a block that is gone: nobody writes it.
pub(crate) const LOST: u64 = u64::MAX;

/// What an array whose children keep contents knows of these.
#[derive(Default)]
pub(super) struct ContentState {
    /// The tokens of the write to come.
    pub(super) held: Vec<u64>,
    /// What reads returned, until somebody asks.
    pub(super) returned: BTreeMap<u64, Vec<u64>>,
}

impl<L: Level> Contents for Array<L> {
    fn stage_write(&mut self, tokens: &[u64]) {
        if let Some(kept) = &mut self.kept {
            tokens.clone_into(&mut kept.held);
        }
    }

    fn take_read_data(&mut self, id: u64) -> Vec<u64> {
        let kept = self.kept.as_mut();
        kept.and_then(|kept| kept.returned.remove(&id))
            .unwrap_or_default()
    }

    /// What has failed stays so, and what is rebuilt too. Nothing is known of
    /// the writes that were under way: copies may differ, and so may parity.
    fn lose_power(&mut self, at: Nanos, chance: &mut Stream) {
        self.children.lose_power(at, chance);
        self.begin_anew(at);
    }

    fn recover_until(&mut self, at: Nanos, until: Nanos) -> Option<Nanos> {
        self.children.recover_until(at, until)
    }

    fn token(&mut self, lbn: u64) -> u64 {
        let (slot, address) = self.level.place(lbn);
        let mut known = TokenMap::new();
        for other in 0..self.members.len() {
            if let Some(child) = self.members.child(other)
                && self.members.has(other, address)
                && let Some(contents) = self.children.contents(child)
            {
                known.insert((other, address), contents.token(address));
            }
        }
        let found = self.level.recover(slot, address, &known);
        found.unwrap_or(LOST)
    }
}
