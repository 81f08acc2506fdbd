//! Kinds of files that are no traces, by their first bytes.

/// A kind of file: where which bytes are, what it is, and what to do.
type Kind = (usize, &'static [u8], &'static str, &'static str);

const UNPACK: &str = "unpack it, and give the trace in it";

const KINDS: [Kind; 20] = [
    (0, b"\x07\x74\x61\x65", BLKTRACE, BLKPARSE),
    (0, b"\x65\x61\x74\x07", BLKTRACE, BLKPARSE),
    (0, b"PERFILE2", "perf's data", "run perf script, and give its text with --columns"),
    (257, b"ustar", "a tar archive", UNPACK),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK),
    (0, b"Rar!\x1a\x07", "a RAR archive", UNPACK),
    (0, b"\x1f\x9d", "data of compress (.Z)", "run uncompress, or gzip -d"),
    (0, b"\x04\x22\x4d\x18", "lz4 data", "run lz4 -d"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel workbook (.xls)", SHEET),
    (0, b"\xd4\xc3\xb2\xa1", PCAP, TSHARK),
    (0, b"\xa1\xb2\xc3\xd4", PCAP, TSHARK),
    (0, b"\x4d\x3c\xb2\xa1", PCAP, TSHARK),
    (0, b"\xa1\xb2\x3c\x4d", PCAP, TSHARK),
    (0, b"\x0a\x0d\x0d\x0a", PCAP, TSHARK),
    (0, b"SQLite format 3\0", "an SQLite database", "export the table as CSV"),
    (0, b"\x89HDF\r\n", "an HDF5 file", "export the table as CSV or Parquet"),
    (0, b"ARROW1", "an Arrow file", "write it as Parquet"),
    (0, b"<!DOCTYPE", PAGE, DOWNLOAD),
    (0, b"<!doctype", PAGE, DOWNLOAD),
    (0, b"<html", PAGE, DOWNLOAD),
];

const BLKTRACE: &str = "blktrace's binary";
const BLKPARSE: &str = "run blkparse -i on it, and give its text";
const PCAP: &str = "a network capture (pcap)";
const TSHARK: &str = "export the requests as CSV, as tshark -T fields does";
const PAGE: &str = "a page of HTML";
const DOWNLOAD: &str = "the download may have failed: give the file itself";
const SHEET: &str = "save the sheet as CSV";

/// What a file of these first bytes is and what to do with it, if it is no trace.
pub fn kind(head: &[u8]) -> Option<String> {
    if head.starts_with(b"PK\x03\x04") {
        let has = |name: &[u8]| memchr::memmem::find(head, name).is_some();
        let (what, remedy) = match has(b"[Content_Types].xml") || has(b"xl/") {
            true => ("an Excel workbook (.xlsx)", SHEET),
            false => ("a zip archive", UNPACK),
        };
        return Some(format!("{what}: {remedy}"));
    }
    let is = |(at, magic, ..): &&Kind| head.get(*at..).is_some_and(|rest| rest.starts_with(magic));
    let (_, _, what, remedy) = KINDS.iter().find(is)?;
    Some(format!("{what}: {remedy}"))
}
