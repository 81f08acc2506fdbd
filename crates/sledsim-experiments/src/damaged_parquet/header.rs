//! The header of a page in a Parquet file (`PageHeader` of parquet-format's
//! `parquet.thrift`, in Thrift's compact protocol): sizes, counts, encoding.

use std::io::Read;

/// The deepest nesting of structures accepted.
const DEEPEST: u8 = 8;

/// The header of a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PageHeader {
    /// Bytes of the decompressed page.
    pub uncompressed: i64,
    /// Bytes of the page in the file, without the header.
    pub compressed: i64,
    /// Values in it.
    pub values: i64,
    /// Whether it is a dictionary.
    pub is_dictionary: bool,
    /// Number of the encoding of its values.
    pub encoding: i64,
    /// Bytes of the header itself.
    pub bytes: u64,
}

impl PageHeader {
    /// Reads the header at the front of `from`.
    ///
    /// # Errors
    /// If `from` has no whole header.
    pub fn read(from: impl Read) -> Result<Self, String> {
        let mut compact = CompactReader { from, bytes: 0 };
        let mut header = Self::default();
        compact.fields(0, 0, &mut header)?;
        header.bytes = compact.bytes;
        Ok(header)
    }

    /// Takes a number: that of `field` in the structure of `parent` (0: outermost).
    fn take(&mut self, parent: i64, field: i64, value: i64) {
        match (parent, field) {
            (0, 2) => self.uncompressed = value,
            (0, 3) => self.compressed = value,
            // A page of data, a dictionary, a page of data of version 2.
            (5 | 7 | 8, 1) => self.values = value,
            (5 | 7, 2) | (8, 4) => self.encoding = value,
            _ => {}
        }
    }
}

/// Reads Thrift's compact protocol.
struct CompactReader<R> {
    from: R,
    bytes: u64,
}

impl<R: Read> CompactReader<R> {
    fn byte(&mut self) -> Result<u8, String> {
        let mut byte = [0];
        let read = self.from.read_exact(&mut byte);
        read.map_err(|error| format!("in the header of a page: {error}"))?;
        self.bytes += 1;
        Ok(byte[0])
    }

    /// Seven bits a byte, the lowest first.
    fn unsigned(&mut self) -> Result<u64, String> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err("the header of a page holds a number of more than 64 bits".to_owned())
    }

    /// 0, -1, 1, -2 and so on.
    fn signed(&mut self) -> Result<i64, String> {
        let value = self.unsigned()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn skip(&mut self, bytes: u64) -> Result<(), String> {
        for _ in 0..bytes {
            self.byte()?;
        }
        Ok(())
    }

    /// The fields of a structure: that of the field `parent` of the outermost.
    fn fields(&mut self, depth: u8, parent: i64, header: &mut PageHeader) -> Result<(), String> {
        if depth > DEEPEST {
            return Err("the header of a page is nested too deeply".to_owned());
        }
        let mut field = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            field = match head >> 4 {
                0 => self.signed()?,
                more => field + i64::from(more),
            };
            if depth == 0 && field == 7 {
                header.is_dictionary = true;
            }
            match head & 0xf {
                1 | 2 => {} // true, false
                3 => self.skip(1)?,
                4..=6 => {
                    let value = self.signed()?;
                    if depth <= 1 {
                        header.take(parent, field, value);
                    }
                }
                7 => self.skip(8)?,
                8 => {
                    let bytes = self.unsigned()?;
                    self.skip(bytes)?;
                }
                12 => self.fields(depth + 1, field, header)?,
                kind => return Err(format!("the header of a page has a field of kind {kind}")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written by hand from parquet.thrift and Thrift's compact protocol.
    #[test]
    fn a_header_is_read() {
        // type 0, uncompressed 300, compressed 10, crc -1, data page: 5 values,
        // encoding 5, levels 3 and 3, statistics with a binary of 2 bytes.
        let page = [
            0x15, 0x00, 0x15, 0xd8, 0x04, 0x15, 0x14, 0x15, 0x01, 0x1c, 0x15, 0x0a, 0x15, 0x0a,
            0x15, 0x06, 0x15, 0x06, 0x1c, 0x18, 0x02, b'h', b'i', 0x16, 0x02, 0x00, 0x00, 0x00,
        ];
        let expected = PageHeader {
            uncompressed: 300,
            compressed: 10,
            values: 5,
            is_dictionary: false,
            encoding: 5,
            bytes: page.len() as u64,
        };
        assert_eq!(PageHeader::read(&page[..]), Ok(expected));
        // type 2, sizes 7 and 8, and, with its number in full, field 7: a
        // dictionary of 3 values, PLAIN, sorted.
        let page = [
            0x15, 0x04, 0x15, 0x0e, 0x15, 0x10, 0x0c, 0x0e, 0x15, 0x06, 0x15, 0x00, 0x11, 0x00,
            0x00,
        ];
        let found = PageHeader::read(&page[..]).unwrap();
        assert!(found.is_dictionary);
        assert_eq!((found.uncompressed, found.compressed, found.values), (7, 8, 3));
        for end in 0..page.len() {
            assert!(PageHeader::read(&page[..end]).is_err(), "{end}");
        }
        let deep = [0x1c; 100];
        assert!(PageHeader::read(&deep[..]).unwrap_err().contains("deeply"));
    }
}
