//! Rows run upwards on even tracks and downwards on odd ones, tracks counted
//! over the whole device, so that a sequential stream turns around in place at
//! the end of every track. CMU-CS-03-125 section 3.2 (the parity of
//! floor(l / S_T)); DiskSim's map for an even as well as for an odd number of
//! tracks per cylinder.

pub(super) fn flip(track: u64, row: u32, rows: u32) -> u32 {
    if track % 2 == 1 { rows - 1 - row } else { row }
}
