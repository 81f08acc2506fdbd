//! CDBs that access blocks, and their parameter lists.

/// Bytes of a block.
pub const BLOCK: usize = 512;

/// A CDB of 10, 12 or 16 bytes, as its operation code says.
pub fn cdb(opcode: u8, flags: u8, lbn: u64, blocks: u64) -> Vec<u8> {
    let mut cdb = vec![opcode, flags];
    match opcode >> 5 {
        4 => {
            cdb.extend(lbn.to_be_bytes());
            cdb.extend((blocks as u32).to_be_bytes());
        }
        5 => {
            cdb.extend((lbn as u32).to_be_bytes());
            cdb.extend((blocks as u32).to_be_bytes());
        }
        _ => {
            cdb.extend((lbn as u32).to_be_bytes());
            cdb.push(0);
            cdb.extend((blocks as u16).to_be_bytes());
            cdb.push(0);
            return cdb;
        }
    }
    cdb.extend([0, 0]);
    cdb
}

/// COMPARE AND WRITE.
pub fn compare_and_write(lbn: u64, blocks: u8) -> Vec<u8> {
    let mut cdb = cdb(0x89, 0, lbn, 0);
    cdb[13] = blocks;
    cdb
}

/// UNMAP, with its parameter list.
pub fn unmap(ranges: &[(u64, u64)]) -> (Vec<u8>, Vec<u8>) {
    let mut list = vec![0; 8];
    for (lbn, blocks) in ranges {
        list.extend(lbn.to_be_bytes());
        list.extend((*blocks as u32).to_be_bytes());
        list.extend([0; 4]);
    }
    let bytes = list.len() as u16;
    list[..2].copy_from_slice(&(bytes - 2).to_be_bytes());
    list[2..4].copy_from_slice(&(bytes - 8).to_be_bytes());
    let mut cdb = cdb(0x42, 0, 0, 0);
    cdb[7..9].copy_from_slice(&bytes.to_be_bytes());
    (cdb, list)
}

/// WRITE SCATTERED with 16 or 32 bytes, and the descriptors before its data, which begin at
/// block `offset`.
pub fn write_scattered(long: bool, ranges: &[(u64, u64)], offset: u64) -> (Vec<u8>, Vec<u8>) {
    let mut list = vec![0; 32];
    for (lbn, blocks) in ranges {
        list.extend(lbn.to_be_bytes());
        list.extend((*blocks as u32).to_be_bytes());
        list.extend([0; 20]);
    }
    list.resize(offset as usize * BLOCK, 0);
    let blocks: u64 = ranges.iter().map(|(_, blocks)| blocks).sum();
    let mut cdb = vec![0; if long { 32 } else { 16 }];
    let (offset_at, ranges_at, blocks_at) = if long { (12, 16, 28) } else { (4, 8, 10) };
    match long {
        true => (cdb[0], cdb[7], cdb[9]) = (0x7f, 0x18, 0x11),
        false => (cdb[0], cdb[1]) = (0x9f, 0x12),
    }
    cdb[offset_at..offset_at + 2].copy_from_slice(&(offset as u16).to_be_bytes());
    cdb[ranges_at..ranges_at + 2].copy_from_slice(&(ranges.len() as u16).to_be_bytes());
    cdb[blocks_at..blocks_at + 4].copy_from_slice(&(blocks as u32).to_be_bytes());
    (cdb, list)
}
