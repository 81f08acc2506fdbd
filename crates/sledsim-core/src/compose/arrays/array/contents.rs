//! The contents of an array whose children keep contents.
//!
//! Data are tokens, and parity is the exclusive or of tokens: a linear code
//! works on tokens as it does on bytes.

use super::Array;
use crate::compose::arrays::{LOST, Level, TokenMap};
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
        let mut known = TokenMap::new();
        for other in 0..self.members.len() {
            if let Some(child) = self.members.child(other)
                && self.members.is_valid(other, address)
                && let Some(contents) = self.children.contents(child)
            {
                known.insert((other, address), contents.token(address));
            }
        }
        let found = self.level.recover(slot, address, &known);
        found.unwrap_or(LOST)
    }
}
