//! Random commands that access blocks.

use proptest::prelude::*;

/// Blocks of the array: the last ones of the device.
pub const BLOCKS: u64 = 64;

/// The first block, and the number of blocks.
pub type Blocks = (u64, u64);

#[derive(Clone, Debug)]
pub enum Step {
    /// WRITE, or WRITE AND VERIFY; `cut` bytes of the data are missing.
    Write {
        opcode: u8,
        flags: u8,
        at: Blocks,
        value: u8,
        cut: usize,
    },
    CompareAndWrite {
        at: Blocks,
        value: u8,
        wrong: Option<prop::sample::Index>,
    },
    OrWrite {
        at: Blocks,
        value: u8,
    },
    WriteSame {
        opcode: u8,
        flags: u8,
        at: Blocks,
        value: u8,
    },
    Unmap {
        ranges: Vec<Blocks>,
    },
    Scattered {
        long: bool,
        ranges: Vec<Blocks>,
        value: u8,
        offset: u64,
    },
    Verify {
        opcode: u8,
        mode: u8,
        at: Blocks,
        wrong: Option<prop::sample::Index>,
    },
    /// SYNCHRONIZE CACHE, or PRE-FETCH.
    Cache {
        opcode: u8,
        flags: u8,
        at: Blocks,
    },
}

fn blocks() -> impl Strategy<Value = Blocks> {
    (0..BLOCKS + 2, 0..8u64)
}

pub fn steps() -> impl Strategy<Value = Step> {
    use prop::sample::select;
    let value = || prop_oneof![1 => Just(0u8), 3 => any::<u8>()];
    let wrong = || prop::option::of(any::<prop::sample::Index>());
    let writes =
        select(vec![(0x2a, 0), (0xaa, 8), (0x8a, 16), (0x2e, 0), (0xae, 2), (0x8e, 2), (0x2e, 2)]);
    let same = select(vec![(0x41, 0), (0x41, 8), (0x93, 0), (0x93, 8), (0x93, 1), (0x93, 9)]);
    let caches = select(vec![0x35, 0x91, 0x34, 0x90]);
    prop_oneof![
        (writes, blocks(), value(), select(vec![0, 0, 0, 1, 512, 700])).prop_map(
            |((opcode, flags), at, value, cut)| Step::Write { opcode, flags, at, value, cut }
        ),
        (blocks(), value(), wrong()).prop_map(|(at, value, wrong)| Step::CompareAndWrite {
            at,
            value,
            wrong
        }),
        (blocks(), value()).prop_map(|(at, value)| Step::OrWrite { at, value }),
        (same, blocks(), value()).prop_map(|((opcode, flags), at, value)| Step::WriteSame {
            opcode,
            flags,
            at,
            value
        }),
        prop::collection::vec(blocks(), 0..4).prop_map(|ranges| Step::Unmap { ranges }),
        (any::<bool>(), prop::collection::vec(blocks(), 0..18), value(), 1..3u64).prop_map(
            |(long, ranges, value, offset)| Step::Scattered { long, ranges, value, offset }
        ),
        (any::<bool>(), prop::collection::vec((0..BLOCKS / 4, 0..3u64), 0..4), value()).prop_map(
            |(long, ranges, value)| Step::Scattered {
                long,
                // Apart.
                ranges: (0..).zip(ranges).map(|(k, (lbn, n))| (lbn.min(13) + 16 * k, n)).collect(),
                value,
                offset: 1,
            }
        ),
        (select(vec![0x2f, 0xaf, 0x8f]), select(vec![0, 1, 1, 2, 3]), blocks(), wrong())
            .prop_map(|(opcode, mode, at, wrong)| Step::Verify { opcode, mode, at, wrong }),
        (caches, select(vec![0, 2]), blocks()).prop_map(|(opcode, flags, at)| Step::Cache {
            opcode,
            flags,
            at
        }),
    ]
}
