//! What an array makes of commands that access blocks.

use super::cdbs::{BLOCK, cdb, compare_and_write, unmap, write_scattered};
use super::initiator::{Code, INVALID_FIELD, INVALID_PARAMETER, MISCOMPARE, OUT_OF_RANGE};
use super::steps::{BLOCKS, Blocks, Step};
use proptest::sample::Index;

/// Data of blocks: no two blocks in turn are the same, unless they are zero.
fn data(value: u8, blocks: u64) -> Vec<u8> {
    let block = |k: u64| match value {
        0 => [0; BLOCK],
        value => [value.wrapping_add(k as u8); BLOCK],
    };
    (0..blocks).flat_map(block).collect()
}

fn bytes((lbn, blocks): Blocks) -> std::ops::Range<usize> {
    lbn as usize * BLOCK..(lbn + blocks) as usize * BLOCK
}

fn is_inside((lbn, blocks): Blocks) -> bool {
    lbn + blocks <= BLOCKS
}

/// A code, with the information of the sense data if it has any.
pub type Failure = (Code, Option<u32>);

/// A step as a command: its CDB, its data, and what must come of it.
pub struct Expected {
    pub cdb: Vec<u8>,
    pub data: Vec<u8>,
    pub result: Result<(), Failure>,
}

/// Executes a step on an array whose first block is `base`.
pub fn execute(step: &Step, array: &mut [u8], base: u64) -> Expected {
    let far = |ranges: &[Blocks]| -> Vec<Blocks> {
        ranges.iter().map(|(lbn, blocks)| (base + lbn, *blocks)).collect()
    };
    let outside = Err((OUT_OF_RANGE, None));
    let (cdb, data, result) = match *step {
        Step::Write { opcode, flags, at, value, cut } => {
            let mut new = data(value, at.1);
            new.truncate(new.len().saturating_sub(cut));
            let whole = new.len() / BLOCK * BLOCK;
            let done = is_inside(at);
            if done {
                array[bytes(at)][..whole].copy_from_slice(&new[..whole]);
            }
            let cdb = cdb(opcode, flags, base + at.0, at.1);
            (cdb, new, if done { Ok(()) } else { outside })
        }
        Step::CompareAndWrite { at, value, wrong } => {
            let new = data(value, at.1);
            let mut sent = vec![0; new.len()];
            let mut result = outside;
            if is_inside(at) {
                sent.copy_from_slice(&array[bytes(at)]);
                result = Ok(());
                if let Some(wrong) = wrong.filter(|_| at.1 > 0) {
                    let index = wrong.index(sent.len());
                    sent[index] ^= 1;
                    result = Err((MISCOMPARE, Some(index as u32)));
                } else {
                    array[bytes(at)].copy_from_slice(&new);
                }
            }
            sent.extend(new);
            (compare_and_write(base + at.0, at.1 as u8), sent, result)
        }
        Step::OrWrite { at, value } => {
            let new = data(value, at.1);
            let done = is_inside(at);
            if done {
                array[bytes(at)].iter_mut().zip(&new).for_each(|(old, new)| *old |= new);
            }
            let cdb = cdb(0x8b, 0, base + at.0, at.1);
            (cdb, new, if done { Ok(()) } else { outside })
        }
        Step::WriteSame { opcode, flags, at, value } => {
            let block = if flags & 1 != 0 { vec![] } else { data(value, 1) };
            let result = match () {
                () if at.1 == 0 => Err((INVALID_FIELD, None)),
                () if !is_inside(at) => outside,
                () => Ok(()),
            };
            if result.is_ok() {
                array[bytes(at)].fill(if flags & 1 != 0 { 0 } else { value });
            }
            (cdb(opcode, flags, base + at.0, at.1), block, result)
        }
        Step::Unmap { ref ranges } => {
            let done = ranges.iter().all(|range| is_inside(*range));
            if done {
                ranges.iter().for_each(|range| array[bytes(*range)].fill(0));
            }
            let (cdb, list) = unmap(&far(ranges));
            (cdb, list, if done { Ok(()) } else { outside })
        }
        Step::Scattered { long, ref ranges, value, offset } => {
            let (cdb, mut list) = write_scattered(long, &far(ranges), offset.max(2));
            let (cdb, mut list) = match offset as usize * BLOCK >= 32 * (1 + ranges.len()) {
                true => write_scattered(long, &far(ranges), offset),
                false => {
                    let mut cdb = cdb;
                    cdb[if long { 13 } else { 5 }] = offset as u8;
                    list.truncate(offset as usize * BLOCK);
                    (cdb, list)
                }
            };
            let blocks: u64 = ranges.iter().map(|(_, blocks)| blocks).sum();
            let new = data(value, blocks);
            let touched: Vec<u64> = ranges.iter().flat_map(|(lbn, n)| *lbn..lbn + n).collect();
            let mut apart = touched.clone();
            apart.sort_unstable();
            apart.dedup();
            let result = match () {
                () if blocks == 0 => Ok(()),
                () if 32 * (1 + ranges.len()) > offset as usize * BLOCK => {
                    Err((INVALID_FIELD, None))
                }
                () if !ranges.iter().all(|range| is_inside(*range)) => outside,
                () if apart.len() < touched.len() => Err((INVALID_PARAMETER, None)),
                () => Ok(()),
            };
            if result.is_ok() {
                for (lbn, block) in touched.into_iter().zip(new.chunks(BLOCK)) {
                    array[bytes((lbn, 1))].copy_from_slice(block);
                }
            }
            list.extend(new);
            (cdb, list, result)
        }
        Step::Verify { opcode, mode, at, wrong } => verify(array, base, opcode, mode, at, wrong),
        Step::Cache { opcode, flags, at } => {
            let done = is_inside(at);
            let cdb = cdb(opcode, flags, base + at.0, at.1);
            (cdb, vec![], if done { Ok(()) } else { outside })
        }
    };
    Expected { cdb, data, result }
}

fn verify(
    array: &[u8],
    base: u64,
    opcode: u8,
    mode: u8,
    at: Blocks,
    wrong: Option<Index>,
) -> (Vec<u8>, Vec<u8>, Result<(), Failure>) {
    let old = if is_inside(at) { &array[bytes(at)] } else { &[] };
    let mut sent = match mode {
        1 => old.to_vec(),
        3 => old.iter().take(BLOCK).copied().collect(),
        _ => vec![],
    };
    if let Some(wrong) = wrong.filter(|_| !sent.is_empty()) {
        let index = wrong.index(sent.len());
        sent[index] ^= 0x80;
    }
    let compared = sent.iter().cycle().zip(old).position(|(one, other)| one != other);
    let result = match compared {
        _ if !is_inside(at) => Err((OUT_OF_RANGE, None)),
        _ if mode == 2 => Err((INVALID_FIELD, None)),
        Some(at) if mode != 0 => Err((MISCOMPARE, Some(at as u32))),
        _ => Ok(()),
    };
    (cdb(opcode, mode << 1, base + at.0, at.1), sent, result)
}
