//! A store over a base that does not change, with blocks that cannot be read.

use super::{Sparse, Store, blocks_of};
use rustix::io::Errno;
use sledsim_base::error::Result;
use std::collections::BTreeSet;
use std::io;
use std::sync::{PoisonError, RwLock};

/// Bytes of a page: the unit that is copied from the base when a part of it is written.
const PAGE: u64 = 4096;

/// The bytes of a base with changes in memory. Memory is proportional to the pages
/// changed.
pub struct Layered {
    base: Box<dyn Store>,
    top: Sparse,
    state: RwLock<LayeredState>,
}

#[derive(Debug, Default)]
struct LayeredState {
    /// A bit per page: whether `top` has it.
    changed: Vec<u64>,
    /// Blocks of 512 bytes that cannot be read until they are written.
    unreadable: BTreeSet<u64>,
}

impl LayeredState {
    fn has(&self, page: u64) -> bool {
        self.changed[(page / 64) as usize] >> (page % 64) & 1 == 1
    }
}

impl Layered {
    /// A store over `base`, which is as large.
    pub fn over(base: Box<dyn Store>) -> Result<Self> {
        let bytes = base.bytes();
        let words = bytes.div_ceil(PAGE).div_ceil(64);
        Ok(Self {
            base,
            top: Sparse::in_memory(bytes)?,
            state: RwLock::new(LayeredState {
                changed: vec![0; words as usize],
                ..LayeredState::default()
            }),
        })
    }

    /// Marks a block as one that cannot be read until it is written.
    pub fn spoil(&self, lbn: u64) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.unreadable.insert(lbn);
    }

    /// Copies the pages at the ends of a range that it covers in part, and marks all of
    /// them as changed.
    fn take_pages(&self, state: &mut LayeredState, offset: u64, bytes: u64) -> io::Result<()> {
        let end = offset + bytes;
        let (first, last) = (offset / PAGE, (end - 1) / PAGE);
        for page in [first, last] {
            let (start, stop) = (page * PAGE, ((page + 1) * PAGE).min(self.top.bytes()));
            if !state.has(page) && (offset > start || end < stop) {
                let mut content = vec![0; (stop - start) as usize];
                self.base.read(start, &mut content)?;
                self.top.write(start, &content)?;
                state.changed[(page / 64) as usize] |= 1 << (page % 64);
            }
        }
        for page in first..=last {
            state.changed[(page / 64) as usize] |= 1 << (page % 64);
        }
        if !state.unreadable.is_empty() {
            // A block is written whole or not at all: partly covered ones are merged by
            // the caller.
            let blocks = blocks_of(offset, bytes);
            let gone: Vec<u64> = state.unreadable.range(blocks).copied().collect();
            for lbn in gone {
                state.unreadable.remove(&lbn);
            }
        }
        Ok(())
    }

    /// The pages from `offset` on in the same layer: their end, and whether it is `top`.
    fn layer(state: &LayeredState, offset: u64, end: u64) -> (u64, bool) {
        let first = offset / PAGE;
        let top = state.has(first);
        let mut page = first + 1;
        while page * PAGE < end && state.has(page) == top {
            page += 1;
        }
        ((page * PAGE).min(end), top)
    }
}

impl Store for Layered {
    fn bytes(&self) -> u64 {
        self.top.bytes()
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let end = offset + buffer.len() as u64;
        let blocks = blocks_of(offset, buffer.len() as u64);
        if !state.unreadable.is_empty() && state.unreadable.range(blocks).next().is_some() {
            return Err(Errno::IO.into());
        }
        let mut at = offset;
        while at < end {
            let (to, top) = Self::layer(&state, at, end);
            let part = &mut buffer[(at - offset) as usize..(to - offset) as usize];
            if top {
                self.top.read(at, part)?;
            } else {
                self.base.read(at, part)?;
            }
            at = to;
        }
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        if data.is_empty() {
            return Ok(());
        }
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        self.take_pages(&mut state, offset, data.len() as u64)?;
        self.top.write(offset, data)
    }

    fn zero(&self, offset: u64, bytes: u64, unmap: bool) -> io::Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        self.take_pages(&mut state, offset, bytes)?;
        self.top.zero(offset, bytes, unmap)
    }

    fn flush(&self) -> io::Result<()> {
        Ok(())
    }

    fn is_durable(&self) -> bool {
        false
    }

    fn extent(&self, offset: u64, bytes: u64) -> io::Result<(u64, bool)> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let (end, top) = Self::layer(&state, offset, offset + bytes);
        if top {
            return self.top.extent(offset, end - offset);
        }
        self.base.extent(offset, end - offset)
    }

    fn allocated(&self) -> u64 {
        self.top.allocated()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sledsim_base::units::BLOCK_BYTES as BLOCK;

    const BYTES: u64 = (1 << 18) + 512;

    proptest! {
        /// Any history gives the same contents as in an array that begins as the base;
        /// unreadable blocks fail until they are written, and no others do.
        #[test]
        fn contents_equal_those_of_an_array(
            base in prop::collection::vec(any::<u8>(), 1..200_000usize),
            spoiled in prop::collection::btree_set(0..BYTES / BLOCK, 0..20),
            steps in prop::collection::vec((0u8..3, 0..BYTES / BLOCK, 1..60u64, any::<u8>()), 1..40),
        ) {
            let below = Sparse::in_memory(BYTES).unwrap();
            below.write(0, &base).unwrap();
            let store = Layered::over(Box::new(below)).unwrap();
            let mut array = base.clone();
            array.resize(BYTES as usize, 0);
            let mut bad = spoiled.clone();
            for lbn in &spoiled {
                store.spoil(*lbn);
            }
            for (kind, lbn, blocks, value) in steps {
                let end = (lbn + blocks).min(BYTES / BLOCK);
                let (offset, bytes) = (lbn * BLOCK, (end - lbn) * BLOCK);
                match kind {
                    0 => store.write(offset, &vec![value; bytes as usize]).unwrap(),
                    kind => store.zero(offset, bytes, kind == 1).unwrap(),
                }
                let range = offset as usize..(offset + bytes) as usize;
                array[range].fill(if kind == 0 { value } else { 0 });
                bad.retain(|one| !(lbn..end).contains(one));
            }
            for lbn in 0..BYTES / BLOCK {
                let mut block = [1; BLOCK as usize];
                let read = store.read(lbn * BLOCK, &mut block);
                prop_assert_eq!(read.is_err(), bad.contains(&lbn));
                if read.is_ok() {
                    let at = (lbn * BLOCK) as usize;
                    prop_assert!(block[..] == array[at..at + BLOCK as usize]);
                }
            }
            let mut at = 0;
            while at < BYTES {
                let (some, hole) = store.extent(at, BYTES - at).unwrap();
                prop_assert!(some > 0 && at + some <= BYTES);
                if hole {
                    prop_assert!(array[at as usize..(at + some) as usize].iter().all(|b| *b == 0));
                }
                at += some;
            }
        }
    }
}
