//! The tip sectors of a sled whose tips fail.
//!
//! Every block is a Reed-Solomon word over the tips of its square. The model of the
//! device decides which tips fail and when; here their sectors are erased, and what a
//! read returns is computed from those that are left. A spare tip gets the sectors that
//! the others determine. A read of a block with more missing sectors than the code
//! recovers is an error, until the block has been written again.
//!
//! In reading order:
//!
//! * `galois`: the field of 256 elements.
//! * `columns`: sets of columns, the places of tips in a word.
//! * `word_code`: the code.
//! * `words`: the words of all blocks.
//! * `squares`: which tip sectors are missing.
//! * `transit`: writes on their way to the device.
//! * `failing`: what happens to the words when a tip fails.

mod columns;
mod failing;
mod galois;
mod squares;
mod transit;
mod word_code;
mod words;

use super::{Sparse, Store, blocks_of};
use crate::errno::Errno;
use serde_json::{Value, json};
use sledsim_base::error::{Error, Result};
use sledsim_base::units::BLOCK_BYTES;
use sledsim_core::catalog::Device;
use sledsim_core::devices::mems::faults::{TipEvent, TipFeed};
use squares::Squares;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use transit::Transit;
use word_code::{BLOCK, MOST_SECTORS, WordCode};
use words::Words;

/// The bytes of a sled with faults, as words over its tips.
#[derive(Debug)]
pub struct TipStore {
    words: Words,
    feed: Arc<TipFeed>,
    state: RwLock<TipsState>,
    is_read_only: bool,
    /// Blocks recovered for reads.
    recovered: AtomicU64,
    /// What [`Squares::count_untouched`] counted after so many failures.
    counted: Mutex<Option<(u64, [u64; 3])>>,
}

#[derive(Debug)]
struct TipsState {
    squares: Squares,
    transit: Transit,
    /// Whether no sector of any block is missing, and no bytes are saved elsewhere.
    is_whole: bool,
    has_losses: bool,
    /// Tip sectors rebuilt.
    rebuilt: u64,
    events: Vec<TipEvent>,
}

impl TipStore {
    /// Keeps the words of `device`, whose model tells `feed` what happens; `data` has the
    /// data sectors.
    ///
    /// # Errors
    /// A sled that cannot be served so, or errors of the system.
    pub fn new(
        device: &Device,
        data: Sparse,
        is_read_only: bool,
        feed: Arc<TipFeed>,
    ) -> Result<Self> {
        let name = device.name();
        let refuse = |why: String| Err(Error::Key(format!("faults: '{name}' {why}")));
        let Some((mems, faults)) = device.mems().and_then(|it| Some((it, it.faults.as_ref()?)))
        else {
            return refuse("is no sled with a table [faults]".into());
        };
        if device.layout().is_some_and(|layout| !layout.is_simple()) {
            return refuse("has a layout, and a served sled with faults has to have none".into());
        }
        if mems.buffer.is_some_and(|buffer| buffer.write_back_segments > 0) {
            return refuse(
                "completes writes from its buffer, and a served sled with faults has to have \
                 written them; it needs write_back_segments = 0"
                    .into(),
            );
        }
        let (tips, ecc) = (mems.geometry.tips_per_lbn, faults.ecc_tips);
        if tips + ecc > MOST_SECTORS {
            return refuse(format!(
                "has {tips} data tips and ecc_tips = {ecc}; the words of a served sled have at most \
                 {MOST_SECTORS} together"
            ));
        }
        Ok(Self {
            words: Words::new(WordCode::new(tips as usize, ecc as usize), data)?,
            feed,
            state: RwLock::new(TipsState {
                squares: Squares::new(mems.geometry, faults),
                transit: Transit::default(),
                is_whole: true,
                has_losses: false,
                rebuilt: 0,
                events: Vec::new(),
            }),
            is_read_only,
            recovered: AtomicU64::new(0),
            counted: Mutex::default(),
        })
    }

    /// The state after all events so far, to be changed.
    fn changing(&self) -> io::Result<RwLockWriteGuard<'_, TipsState>> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let mut events = std::mem::take(&mut state.events);
        self.feed.take(&mut events);
        for event in events.drain(..) {
            self.apply(&mut state, event)?;
        }
        state.events = events;
        Ok(state)
    }

    /// The state after all events so far.
    fn current(&self) -> io::Result<RwLockReadGuard<'_, TipsState>> {
        if self.feed.is_urgent() {
            drop(self.changing()?);
        }
        Ok(self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Fills `bytes` with whole blocks from `first` on.
    fn read_blocks(&self, state: &TipsState, first: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.words.data.read(first * BLOCK_BYTES, bytes)?;
        if state.is_whole {
            return Ok(());
        }
        for (lbn, block) in (first..).zip(bytes.chunks_mut(BLOCK)) {
            if let Some(saved) = state.transit.saved(lbn) {
                block.copy_from_slice(saved);
                continue;
            }
            let missing = state.squares.missing(lbn);
            if missing.is_empty() {
                continue;
            }
            let mut word = self.words.read(lbn)?;
            if self.words.code.recover(&mut word, &missing).is_err() {
                return Err(Errno::IO.into());
            }
            block.copy_from_slice(&word.data[..BLOCK]);
            self.recovered.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Writes whole blocks from `first` on; squares in `late` have lost them since.
    fn write_blocks(
        &self,
        state: &mut TipsState,
        first: u64,
        bytes: &[u8],
        late: &[u32],
    ) -> io::Result<()> {
        if state.is_whole {
            return (self.words).write_blocks(first, bytes, |_| columns::Columns::default());
        }
        for (lbn, block) in (first..).zip(bytes.chunks(BLOCK)) {
            if state.has_losses {
                state.squares.rewrite(lbn, late);
            }
            if state.transit.saved(lbn).is_some() {
                state.transit.save(lbn, block.to_vec());
            }
        }
        (self.words).write_blocks(first, bytes, |lbn| state.squares.missing(lbn))
    }

    /// Replaces bytes of blocks of which the rest stays: `change` gets those from the
    /// first block on and the place of `offset` in them.
    fn change(
        &self,
        state: &mut TipsState,
        offset: u64,
        bytes: u64,
        late: &[u32],
        change: impl FnOnce(&mut [u8], usize),
    ) -> io::Result<()> {
        let Range { start: first, end } = blocks_of(offset, bytes);
        let mut whole = vec![0; (end - first) as usize * BLOCK];
        let cut = [first, end - 1];
        for lbn in &cut[..if first + 1 == end { 1 } else { 2 }] {
            let at = (lbn - first) as usize * BLOCK;
            let is_covered =
                lbn * BLOCK_BYTES >= offset && (lbn + 1) * BLOCK_BYTES <= offset + bytes;
            if !is_covered {
                self.read_blocks(state, *lbn, &mut whole[at..at + BLOCK])?;
            }
        }
        change(&mut whole, (offset - first * BLOCK_BYTES) as usize);
        self.write_blocks(state, first, &whole, late)
    }
}

/// The blocks that bytes touch, as a request for them has.
fn requested(offset: u64, bytes: u64) -> transit::Blocks {
    let Range { start: first, end } = blocks_of(offset, bytes);
    (first, u32::try_from(end - first).unwrap_or(u32::MAX))
}

fn is_aligned(offset: u64, bytes: u64) -> bool {
    (offset | bytes).is_multiple_of(BLOCK_BYTES)
}

impl Store for TipStore {
    fn bytes(&self) -> u64 {
        self.words.data.bytes()
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let state = self.current()?;
        if state.is_whole {
            return self.words.data.read(offset, buffer);
        }
        let bytes = buffer.len() as u64;
        if is_aligned(offset, bytes) {
            return self.read_blocks(&state, offset / BLOCK_BYTES, buffer);
        }
        let (first, blocks) = requested(offset, bytes);
        let mut whole = vec![0; blocks as usize * BLOCK];
        self.read_blocks(&state, first, &mut whole)?;
        let at = (offset - first * BLOCK_BYTES) as usize;
        buffer.copy_from_slice(&whole[at..at + buffer.len()]);
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let bytes = data.len() as u64;
        let mut state = self.changing()?;
        let late = state.transit.stage(requested(offset, bytes));
        if is_aligned(offset, bytes) {
            return self.write_blocks(&mut state, offset / BLOCK_BYTES, data, &late);
        }
        self.change(&mut state, offset, bytes, &late, |whole, at| {
            whole[at..at + data.len()].copy_from_slice(data);
        })
    }

    fn zero(&self, offset: u64, bytes: u64, unmap: bool) -> io::Result<()> {
        let mut state = self.changing()?;
        let late = match unmap {
            true => Vec::new(),
            false => state.transit.stage(requested(offset, bytes)),
        };
        let (first, end) = (offset.div_ceil(BLOCK_BYTES), (offset + bytes) / BLOCK_BYTES);
        if first < end {
            self.words.zero(first, end - first, unmap)?;
            let affected = if state.is_whole { first } else { end };
            for lbn in first..affected {
                if state.has_losses && !unmap {
                    state.squares.rewrite(lbn, &late);
                }
                if state.transit.saved(lbn).is_some() {
                    state.transit.save(lbn, vec![0; BLOCK]);
                }
            }
        }
        let whole = first * BLOCK_BYTES..end.max(first) * BLOCK_BYTES;
        let cuts = match first <= end {
            true => [(offset, whole.start), (whole.end, offset + bytes)],
            false => [(offset, offset + bytes), (0, 0)],
        };
        for (from, to) in cuts.into_iter().filter(|(from, to)| from < to) {
            self.change(&mut state, from, to - from, &late, |block, at| {
                block[at..at + (to - from) as usize].fill(0);
            })?;
        }
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        self.words.data.flush()
    }

    fn is_durable(&self) -> bool {
        self.words.data.is_durable()
    }

    fn extent(&self, offset: u64, bytes: u64) -> io::Result<(u64, bool)> {
        self.words.data.extent(offset, bytes)
    }

    fn allocated(&self) -> u64 {
        self.words.allocated()
    }

    fn close(&self) -> io::Result<()> {
        match self.is_durable() && !self.is_read_only {
            true => self.complete_file(),
            false => Ok(()),
        }
    }

    fn faults(&self) -> Option<Value> {
        let (squares, rebuilt) = {
            let state = self.changing().ok()?;
            (state.squares.clone(), state.rebuilt)
        };
        // Without the lock: it may take long.
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let known = counted.filter(|(failed, _)| *failed == squares.failed);
        let old = match known {
            Some((_, old)) => old,
            None => (squares.untouched()).count_untouched(self.bytes() / BLOCK_BYTES),
        };
        *counted = Some((squares.failed, old));
        drop(counted);
        let [at_risk, lost, given_up] = squares.count(old);
        Some(json!({
            "tips_failed": squares.failed,
            "tips_replaced": squares.replaced,
            "spares_left": squares.spares_left,
            "blocks_at_risk": at_risk,
            "blocks_lost": lost,
            "blocks_given_up": given_up,
            "tip_sectors_rebuilt": rebuilt,
            "blocks_recovered": self.recovered.load(Ordering::Relaxed),
        }))
    }
}
