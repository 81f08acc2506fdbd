//! What happens to the words when a tip fails.

use super::squares::Struck;
use super::word_code::BLOCK;
use super::{TipStore, TipsState};
use crate::store::Store;
use sledsim_base::units::BLOCK_BYTES;
use sledsim_core::devices::mems::faults::{TipEvent, TipFailure};
use std::io;
use std::ops::Range;

impl TipStore {
    /// Applies an event.
    pub(super) fn apply(&self, state: &mut TipsState, event: TipEvent) -> io::Result<()> {
        match event {
            TipEvent::Started { defects, spares_left } => state.squares.start(defects, spares_left),
            TipEvent::Failed(failure) => self.fail(state, &failure)?,
            TipEvent::Written { lbn, blocks } => {
                for (lbn, bytes) in state.transit.served((lbn, blocks)) {
                    self.write_blocks(state, lbn, &bytes, &[])?;
                }
                if state.is_whole {
                    return Ok(());
                }
            }
            TipEvent::Mended(lbn) => self.mend(state, lbn)?,
        }
        state.is_whole = state.squares.is_whole() && !state.transit.has_saved();
        state.has_losses = state.squares.has_losses();
        Ok(())
    }

    /// Erases the sectors of a failed tip, and rebuilds them where they are to go.
    fn fail(&self, state: &mut TipsState, failure: &TipFailure) -> io::Result<()> {
        // Before the sectors are gone.
        let before = state.squares.clone();
        let Some(struck) = state.squares.strike(failure) else {
            return Ok(());
        };
        if struck.is_loss || state.squares.mends_when_read() {
            for lbn in state.transit.blocks().collect::<Vec<_>>() {
                if before.home(lbn) != struck.square || state.transit.saved(lbn).is_some() {
                    continue;
                }
                let mut word = self.words.read(lbn)?;
                let missing = before.missing(lbn);
                if self.words.code.recover(&mut word, &missing).is_ok() {
                    state.transit.save(lbn, word.data[..BLOCK].to_vec());
                }
            }
            if struck.is_loss {
                state.squares.lose(struck.square);
            }
            if struck.is_loss || failure.spare.is_some() {
                state.transit.lose(struck.square);
            }
        }
        let next = state.squares.dealt_with(failure, &struck);
        if !self.is_read_only {
            self.each_written(state, &struck, |lbn| {
                let missing = state.squares.missing(lbn);
                let old = self.words.read(lbn)?;
                let mut word = old.clone();
                self.words.code.erase(&mut word, struck.column);
                let mut left = missing;
                if self.words.code.recover(&mut word, &missing).is_ok() {
                    left = next.missing(lbn);
                }
                left.iter().for_each(|column| self.words.code.erase(&mut word, column));
                if word != old {
                    self.words.write(lbn, &word)?;
                }
                Ok(u64::from(!left.contains(struck.column)))
            })
            .map(|rebuilt| state.rebuilt += rebuilt)?;
        }
        state.squares = next;
        Ok(())
    }

    /// Gives a block that has been read its sectors under replaced tips.
    fn mend(&self, state: &mut TipsState, lbn: u64) -> io::Result<()> {
        let missing = state.squares.missing(lbn);
        let mut word = self.words.read(lbn)?;
        if self.words.code.recover(&mut word, &missing).is_err() {
            return Ok(());
        }
        state.squares.mend(lbn, 0);
        let left = state.squares.missing(lbn);
        (left.iter()).for_each(|column| self.words.code.erase(&mut word, column));
        state.rebuilt += (missing.count() - left.count()) as u64;
        match self.is_read_only {
            true => Ok(()),
            false => self.words.write(lbn, &word),
        }
    }

    /// Calls `visit` with every block in the square of which something may have been
    /// written; adds up what it returns.
    fn each_written(
        &self,
        state: &TipsState,
        struck: &Struck,
        visit: impl Fn(u64) -> io::Result<u64>,
    ) -> io::Result<u64> {
        let mut sum = 0;
        let last = self.words.data.bytes() / BLOCK_BYTES;
        self.words.each_range(|range: Range<u64>| {
            let range = range.start..range.end.min(last);
            let (first, step) = match state.squares.stride() {
                Some(width) => {
                    let cell = state.squares.cell(struck.square);
                    (range.start + (cell + width - range.start % width) % width, width)
                }
                None => (range.start, 1),
            };
            for lbn in (first..range.end).step_by(step as usize) {
                if state.squares.home(lbn) == struck.square {
                    sum += visit(lbn)?;
                }
            }
            Ok(())
        })?;
        Ok(sum)
    }

    /// Writes what the code recovers into the file, for the next device.
    pub(super) fn complete_file(&self) -> io::Result<()> {
        let state = self.changing()?;
        if state.is_whole {
            return Ok(());
        }
        self.words.each_range(|range| {
            for lbn in range {
                let missing = state.squares.missing(lbn);
                let mut word = self.words.read(lbn)?;
                if !missing.is_empty() && self.words.code.recover(&mut word, &missing).is_ok() {
                    (self.words.data).write(lbn * BLOCK_BYTES, &word.data[..BLOCK])?;
                }
            }
            Ok(())
        })
    }
}
