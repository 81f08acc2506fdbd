//! The contents of an array whose children keep contents.
//!
//! Data are tokens, and parity is computed of the bytes of tokens: a linear code
//! works on eight bytes as it does on a block.

use super::Array;
use crate::compose::arrays::{LOST, Level};
use crate::model::contents::Contents;
use sledsim_base::random::Stream;
use sledsim_base::units::Nanos;
use std::collections::BTreeMap;

/// The content state of an array whose children keep contents.
#[derive(Default)]
pub(super) struct ContentState {
    /// The tokens of the next write.
    pub(super) staged: Vec<u64>,
    /// The tokens that reads returned, until they are taken.
    pub(super) returned: BTreeMap<u64, Vec<u64>>,
}

impl<L: Level> Contents for Array<L> {
    fn stage_write(&mut self, tokens: &[u64]) {
        if let Some(content_state) = &mut self.content_state {
            tokens.clone_into(&mut content_state.staged);
        }
    }

    fn take_read_data(&mut self, id: u64) -> Vec<u64> {
        let content_state = self.content_state.as_mut();
        content_state
            .and_then(|content_state| content_state.returned.remove(&id))
            .unwrap_or_default()
    }

    /// Failed children stay failed, and rebuilt parts stay rebuilt. Writes under
    /// way are not recorded: copies may differ, and parity may not match.
    fn lose_power(&mut self, at: Nanos, chance: &mut Stream) {
        self.children.lose_power(at, chance);
        self.reset(at);
    }

    fn recover_until(&mut self, at: Nanos, until: Nanos) -> Option<Nanos> {
        self.children.recover_until(at, until)
    }

    fn token(&mut self, lbn: u64) -> u64 {
        let (slot, address) = self.level.place(lbn);
        let (members, children) = (&self.members, &mut self.children);
        let mut known = |slot: usize, address| {
            let child = members.child(slot).filter(|_| members.is_valid(slot, address))?;
            Some(children.contents(child)?.token(address))
        };
        let found = self.level.recover(slot, address, &mut known);
        found.unwrap_or(LOST)
    }
}
