//! Checks the sizes that the pages of a Parquet file claim.

use super::header::PageHeader;
use parquet::arrow::ProjectionMask;
use parquet::basic::{Compression, Encoding, Type};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use sledsim_traces::SharedFile;
use std::io::{BufReader, Read};

/// Bytes read at once; headers are short.
const STEP: usize = 512;
/// Pages up to this size are accepted without a check.
const SMALL: i64 = 1 << 16;
/// Numbers of the encodings whose data determine the memory for values.
const LENGTHS: [(i64, Encoding); 2] =
    [(6, Encoding::DELTA_LENGTH_BYTE_ARRAY), (7, Encoding::DELTA_BYTE_ARRAY)];

/// Refuses pages of the chosen columns that cannot be as large as they claim:
/// the library would allocate memory for them.
pub fn check(
    file: &SharedFile,
    metadata: &ParquetMetaData,
    mask: &ProjectionMask,
) -> Result<(), String> {
    let end = file.bytes();
    for (group, row_group) in metadata.row_groups().iter().enumerate() {
        let chosen = |(leaf, _): &(usize, _)| mask.leaf_included(*leaf);
        for (_, chunk) in row_group.columns().iter().enumerate().filter(chosen) {
            check_chunk(file, end, chunk).map_err(|problem| {
                let name = chunk.column_path().string();
                format!("row group {}, column '{name}': {problem}", group + 1)
            })?;
        }
    }
    Ok(())
}

fn check_chunk(
    file: &SharedFile,
    file_end: u64,
    chunk: &ColumnChunkMetaData,
) -> Result<(), String> {
    let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
    let (Ok(mut at), Ok(bytes)) = (u64::try_from(start), u64::try_from(chunk.compressed_size()))
    else {
        return Err(format!("{} bytes from byte {start} on", chunk.compressed_size()));
    };
    let Some(end) = at.checked_add(bytes).filter(|end| *end <= file_end) else {
        return Err(format!("{bytes} bytes from byte {at} on: the file has {file_end}"));
    };
    let mut left = chunk.num_values();
    while left > 0 && at < end {
        let from = file.reader_at(at).take(end - at);
        let header = PageHeader::read(BufReader::with_capacity(STEP, from))?;
        check_page(&header, chunk).map_err(|problem| format!("the page at byte {at} {problem}"))?;
        if !header.is_dictionary {
            left -= header.values;
        }
        at = match u64::try_from(header.compressed) {
            Ok(bytes) if bytes <= end - at - header.bytes => at + header.bytes + bytes,
            _ => {
                let bytes = header.compressed;
                return Err(format!("the page at byte {at} has {bytes} bytes"));
            }
        };
    }
    Ok(())
}

fn check_page(header: &PageHeader, chunk: &ColumnChunkMetaData) -> Result<(), String> {
    let PageHeader { uncompressed, compressed, values, encoding, .. } = *header;
    if uncompressed < 0 || uncompressed > most_decompressed(compressed, chunk.compression()) {
        return Err(format!("claims to be {uncompressed} bytes, compressed to {compressed}"));
    }
    // The values of a dictionary are in full.
    let most = match (header.is_dictionary, chunk.column_type()) {
        (false, _) => i64::from(i32::MAX),
        (true, Type::BOOLEAN | Type::FIXED_LEN_BYTE_ARRAY) => uncompressed,
        (true, _) => uncompressed / 4,
    };
    if !(0..=most).contains(&values) {
        return Err(format!("claims to hold {values} values in {uncompressed} bytes"));
    }
    let is_odd = |(number, kind): &(i64, Encoding)| {
        *number == encoding && !chunk.encodings().any(|known| known == *kind)
    };
    match LENGTHS.iter().find(|known| is_odd(known)) {
        Some((_, kind)) => Err(format!("has the encoding {kind}, which the footer does not name")),
        None => Ok(()),
    }
}

/// The most bytes of a page. Writers make pages of about 1 MiB.
const PAGE_MAXIMUM: i64 = 256 << 20;

/// The most bytes that a page of `compressed` bytes can have.
fn most_decompressed(compressed: i64, kind: Compression) -> i64 {
    let factor = match kind {
        Compression::UNCOMPRESSED => 1,
        Compression::SNAPPY => 64, // a copy of 64 bytes takes 2 at least
        Compression::LZ4 | Compression::LZ4_RAW => 255, // a byte adds 255 to a length at most
        Compression::GZIP(_) => 1032, // RFC 1951: 258 bytes in 2 bits
        _ => 32_768,               // RFC 8878: a block of 4 bytes repeats one 128 Ki times
    };
    let most = compressed.saturating_mul(factor).saturating_add(SMALL);
    most.min(PAGE_MAXIMUM)
}

#[cfg(test)]
mod tests {
    use crate::damaged_parquet::ParquetFile;
    use crate::damaged_parquet::header::PageHeader;
    use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::basic::Compression;
    use parquet::file::properties::{EnabledStatistics, WriterProperties};
    use std::path::{Path, PathBuf};
    use std::sync::Arc;
    use tempfile::TempDir;

    /// A number in Thrift's compact protocol, zigzag.
    fn number(value: i64) -> Vec<u8> {
        let mut rest = (value << 1) as u64;
        let mut bytes = Vec::new();
        while rest >= 0x80 {
            bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        bytes.push(rest as u8);
        bytes
    }

    fn save(folder: &Path, column: ArrayRef) -> (PathBuf, Vec<u8>) {
        let path = folder.join("t.parquet");
        let batch = RecordBatch::try_from_iter([("c", column)]).unwrap();
        let properties = WriterProperties::builder()
            .set_compression(Compression::LZ4_RAW)
            .set_statistics_enabled(EnabledStatistics::None)
            .build();
        let file = std::fs::File::create(&path).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        (path, bytes)
    }

    fn message(path: &Path) -> Result<usize, String> {
        let batches = ParquetFile::open(path)?.batches(None, 1024)?;
        let rows = batches.map(|batch| batch.map(|batch| batch.num_rows()));
        let rows: Result<Vec<_>, _> = rows.collect();
        Ok(rows.map_err(|error| error.to_string())?.iter().sum())
    }

    /// Sets a number in the header of the first page, a dictionary, to 2^31 - 1:
    /// the decompressed size or the number of values. The page gets shorter by
    /// as much as the header gets longer.
    fn enlarged(mut bytes: Vec<u8>, place: usize) -> Vec<u8> {
        let length = |bytes: &[u8], at: usize| {
            1 + bytes[at..].iter().take_while(|byte| **byte >= 0x80).count()
        };
        // Magic; then type, uncompressed and compressed size, each after a byte.
        let uncompressed = 4 + 3;
        let compressed = uncompressed + length(&bytes, uncompressed) + 1;
        let values = compressed + length(&bytes, compressed) + 2;
        let at = [uncompressed, values][place];
        let header = PageHeader::read(&bytes[4..]).unwrap();
        assert!(header.is_dictionary);
        let size = header.compressed;
        let end = 4 + header.bytes as usize + size as usize;
        let more = number(i64::from(i32::MAX)).len() - length(&bytes, at);
        let smaller = number(size - more as i64);
        assert_eq!(smaller.len(), length(&bytes, compressed));
        bytes.drain(end - more..end);
        bytes.splice(compressed..compressed + smaller.len(), smaller);
        bytes.splice(at..at + length(&bytes, at), number(i64::from(i32::MAX)));
        bytes
    }

    /// The library would allocate 2 GiB for each before it finds them missing.
    #[test]
    fn impossible_sizes_are_refused() {
        let folder = TempDir::new().unwrap();
        let mixed = |n: u64| format!("{:x}", n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let words: ArrayRef = Arc::new(StringArray::from_iter_values((0..2000).map(mixed)));
        let (path, bytes) = save(folder.path(), words);
        assert_eq!(message(&path), Ok(2000));
        for (place, says) in [
            (0, "claims to be 2147483647 bytes, compressed to "),
            (1, "claims to hold 2147483647 values in "),
        ] {
            std::fs::write(&path, enlarged(bytes.clone(), place)).unwrap();
            let problem = message(&path).unwrap_err();
            assert!(problem.contains("row group 1, column 'c': the page at byte 4"), "{problem}");
            assert!(problem.contains(says), "{problem}");
        }
    }

    /// The highest compression ratio is accepted.
    #[test]
    fn a_column_of_equal_values_is_read() {
        let folder = TempDir::new().unwrap();
        let alike: ArrayRef = Arc::new(Int64Array::from(vec![7; 1_000_000]));
        let (path, _) = save(folder.path(), alike);
        assert_eq!(message(&path), Ok(1_000_000));
        let long = "x".repeat(1 << 20);
        let words: ArrayRef = Arc::new(StringArray::from(vec![long.as_str(); 20]));
        let (path, _) = save(folder.path(), words);
        assert_eq!(message(&path), Ok(20));
    }
}
