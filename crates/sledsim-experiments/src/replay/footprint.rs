//! The blocks that a trace touches, and their places without the gaps between them.

use std::collections::BTreeMap;

/// The most extents of all devices: with their places about 300 MB.
const MOST_EXTENTS: usize = 4 << 20;

/// The touched blocks of the devices of a trace, as extents that neither overlap nor
/// adjoin.
#[derive(Clone, Debug)]
pub struct Footprint {
    /// For each device, one past the last block of each extent, by its first block.
    parts: BTreeMap<u32, BTreeMap<u64, u64>>,
    /// The number of extents of all devices.
    extents: usize,
    /// How many there may be.
    most: usize,
}

impl Default for Footprint {
    fn default() -> Self {
        Self { parts: BTreeMap::new(), extents: 0, most: MOST_EXTENTS }
    }
}

impl Footprint {
    /// Adds the blocks of a device from `first` to before `end`.
    ///
    /// # Errors
    /// More than [`MOST_EXTENTS`].
    pub fn add(&mut self, device: u32, mut first: u64, mut end: u64) -> Result<(), String> {
        let part = self.parts.entry(device).or_default();
        // Extents that overlap or adjoin, from the last one downwards.
        while let Some((&other, &other_end)) = part.range(..=end).next_back() {
            if other_end < first {
                break;
            }
            if other <= first && end <= other_end {
                return Ok(());
            }
            first = first.min(other);
            end = end.max(other_end);
            part.remove(&other);
            self.extents -= 1;
        }
        part.insert(first, end);
        self.extents += 1;
        if self.extents > self.most {
            let most = self.most;
            return Err(format!(
                "address = \"compact\": the trace touches more than {most} separate extents; give \
                 address = \"scale\", or cut the trace (sledsim trace convert --requests)"
            ));
        }
        Ok(())
    }
}

/// The places of touched blocks, in their order and without gaps.
#[derive(Clone, Debug, Default)]
pub struct Compact {
    /// First block, and the number of touched blocks before it, of each extent.
    extents: Vec<(u64, u64)>,
    /// The number of touched blocks.
    pub blocks: u64,
    /// The number of blocks before and between the extents.
    pub gap_blocks: u64,
}

impl Compact {
    /// The places of the blocks of a footprint, of which each device begins at its base.
    pub fn new(footprint: &Footprint, base: impl Fn(u32) -> u64) -> Self {
        let mut all: Vec<(u64, u64)> = (footprint.parts.iter())
            .flat_map(|(device, part)| {
                let base = base(*device);
                part.iter().map(move |(first, end)| (base + first, base + end))
            })
            .collect();
        all.sort_unstable();
        let mut compact = Self::default();
        let mut last = 0;
        for (first, end) in all {
            // Devices that share addresses may touch the same blocks.
            let from = first.max(last);
            if from < end {
                if from > last || compact.extents.is_empty() {
                    compact.extents.push((from, compact.blocks));
                    compact.gap_blocks += from - last;
                }
                compact.blocks += end - from;
                last = end;
            }
        }
        compact
    }

    /// The number of extents.
    pub fn extents(&self) -> u64 {
        self.extents.len() as u64
    }

    /// The place of a touched block; `None` for one before all.
    #[inline]
    pub fn place(&self, block: u64) -> Option<u64> {
        let after = self.extents.partition_point(|(first, _)| *first <= block);
        let (first, before) = self.extents.get(after.checked_sub(1)?)?;
        Some(before + (block - first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_that_touch_are_one_and_too_many_are_refused() {
        let mut footprint = Footprint { most: 2, ..Footprint::default() };
        for (device, first, end) in [(0, 10, 20), (0, 30, 40), (0, 20, 30), (7, 5, 6), (0, 12, 13)]
        {
            footprint.add(device, first, end).unwrap();
        }
        assert_eq!(footprint.extents, 2);
        let problem = footprint.add(7, 7, 8).unwrap_err();
        assert!(problem.contains("more than 2 separate extents"), "{problem}");
    }
}
