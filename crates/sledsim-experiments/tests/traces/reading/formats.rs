//! Detection of the format of a trace.

use super::{file, gzip, message, replay, zstd};
use tempfile::TempDir;

#[test]
fn the_format_follows_from_content_then_plausibility_then_ending() {
    // One in 15 s in ms, 66,662 per s in ns.
    let both = "15001 0 5 1 1\n30002 0 6 1 0\n";
    let folder = TempDir::new().unwrap();
    let said = |name: &str, content: &[u8], keys: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let said = replay(&path, keys, 100).map(|(requests, facts)| {
            let text = |key| facts[key].as_str().unwrap().to_owned();
            (text("format"), text("format_from"), requests[0].arrival.0)
        });
        let root = format!("{}/", folder.path().display());
        said.map_err(|error| error.to_string().replace(&root, ""))
    };
    let ok = |format: &str, from: &str, ns| Ok((format.to_owned(), from.to_owned(), ns));
    let both = both.as_bytes();
    let disksim = || ok("disksim_ascii", "ending", 15_001_000_000);
    assert_eq!(said("a.disksim", both, ""), disksim());
    assert_eq!(said("a.ascii", both, ""), disksim());
    assert_eq!(said("a.mqsim", both, ""), ok("mqsim", "ending", 15_001));
    assert_eq!(said("a.SSDSIM", both, ""), ok("mqsim", "ending", 15_001));
    for (ending, packed) in
        [("gz", gzip(both)), ("zst", zstd(both)), ("xz", both.to_vec()), ("bz2", both.to_vec())]
    {
        let name = format!("a.mqsim.{ending}");
        assert_eq!(said(&name, &packed, ""), ok("mqsim", "ending", 15_001));
    }
    for unclear in ["a", "a.txt2", "mqsim", "a.mqsim.bak", "a.trace"] {
        assert_eq!(
            said(unclear, both, ""),
            Err(format!(
                "{unclear}: fits several formats, disksim_ascii (0.07 requests per s) and mqsim \
                 (66662 requests per s): give --format disksim_ascii or --format mqsim \
                 (trace_format)"
            ))
        );
        let key = "trace_format = \"mqsim\"";
        assert_eq!(said(unclear, both, key), ok("mqsim", "trace_format", 15_001));
    }
    let key = "trace_format = \"disksim_ascii\"";
    assert_eq!(said("a.mqsim", both, key), ok("disksim_ascii", "trace_format", 15_001_000_000));
    // One reading is plausible. It is taken under every name but one that speaks for the other.
    let slow = b"938513000 4 20 16 0\n938828000 4 30 16 0\n942828000 4 30 16 0\n";
    let quick = b"1 0 5 1 1\n2 0 6 1 0\n";
    for name in ["b.trace", "b", "b.csv", "b.trace.gz"] {
        let found = said(name, slow, "");
        assert_eq!(found, ok("mqsim", "plausibility", 938_513_000));
        let found = said(name, quick, "");
        assert_eq!(found, ok("disksim_ascii", "plausibility", 1_000_000));
    }
    let found = said("b.mqsim", slow, "");
    assert_eq!(found, ok("mqsim", "plausibility", 938_513_000));
    for (name, content, formats) in [
        ("b.disksim", &slow[..], ["mqsim", "disksim_ascii"]),
        ("b.mqsim", quick, ["disksim_ascii", "mqsim"]),
    ] {
        let error = said(name, content, "").unwrap_err();
        let [one, other] = formats;
        let flags = format!("but the ending of the file): give --format {one} or --format {other}");
        assert!(error.contains(&flags), "{error}");
    }
    // Where they differ in nothing, any will do.
    let same = b"0 0 5 1 1\n";
    assert_eq!(said("c", same, ""), ok("disksim_ascii", "ending", 0));
    assert_eq!(said("c.mqsim", same, ""), ok("mqsim", "ending", 0));
    // Content goes before the ending.
    let content = b"1.5 0 5 1 1\n";
    assert_eq!(said("b.mqsim", content, ""), ok("disksim_ascii", "content", 1_500_000));
    // A wrong format says what it expects.
    assert_eq!(
        said("b.trace", content, "trace_format = \"mqsim\""),
        Err("b.trace:1: field 1 (time) is '1.5': must be a whole number of nanoseconds from 0 to \
             9e9 s (read as mqsim)"
            .to_owned())
    );
    // What comes after the first hundred lines does not count; then the error
    // names the formats that fit them.
    let lines: String = (0..200).map(|index| format!("{} 0 5 1 1\n", 15_001 * index)).collect();
    let late = format!("{lines}4000000.5 0 5 1 1\n");
    let also = "(read as mqsim; its first lines fit disksim_ascii too: --format disksim_ascii)";
    assert_eq!(
        said("c.mqsim", late.as_bytes(), ""),
        Err(format!(
            "c.mqsim:201: field 1 (time) is '4000000.5': must be a whole number of nanoseconds \
             from 0 to 9e9 s {also}"
        ))
    );
    let falls = format!("{lines}15 0 5 1 1\n");
    let error = said("c.mqsim", falls.as_bytes(), "").unwrap_err();
    assert!(error.ends_with(also), "{error}");
    // The one that came farthest is blamed, and all are listed.
    let third = "1 0 5 1 1\n2 0 5 1 1\n2.5 0 5 1 x\n";
    let error = said("d", third.as_bytes(), "").unwrap_err();
    assert!(
        error.starts_with(
            "d:3: field 5 (flags) is 'x': must be a hexadecimal number (read as disksim_ascii, \
             which came farthest; known are disksim_ascii, mqsim, "
        ) && error.contains("blkparse"),
        "{error}"
    );
    // Nothing reads as much as the ending's own format.
    let error = said("d.mqsim", b"1 0 5 1\n", "").unwrap_err();
    assert!(error.contains("(read as mqsim, which"), "{error}");
    // Options for other formats have no effect.
    for (key, takes) in [
        (
            "columns = \"time=t:s\"",
            "columns: has no effect with trace_format = \"mqsim\", only with csv and parquet",
        ),
        (
            "blk_action = \"D\"",
            "blk_action: has no effect with trace_format = \"mqsim\", only with blkparse",
        ),
    ] {
        let keys = format!("{key}\ntrace_format = \"mqsim\"");
        assert_eq!(said("a.mqsim", both, &keys), Err(takes.to_owned()));
    }
    let closed = b"R Hit 5 1 100 200\n";
    assert_eq!(
        said("a.validate", closed, "glitches = \"drop\""),
        Err("glitches: has no effect with trace_format = \"disksim_validate\", which has no \
             times of arrival"
            .to_owned())
    );
}

/// The first bytes that are looked at end in the middle of a line, wherever.
#[test]
fn detection_accepts_a_head_that_ends_within_a_line() {
    for start in 0..40 {
        let mut text = format!("#{}\n", "x".repeat(start));
        // 70 records in the first 128 KiB, in long lines.
        while text.len() < 200_000 {
            text.push_str(&format!("1{}0 5 1 1\n", " ".repeat(1900)));
        }
        let (folder, _) = file("");
        let path = folder.path().join("x.disksim");
        std::fs::write(&path, &text).unwrap();
        let (requests, facts) = replay(&path, "", 10).unwrap();
        assert_eq!(requests.len(), text.lines().count() - 1);
        assert_eq!(facts["format"], "disksim_ascii");
    }
    // One line longer than is looked at for each hundred of them.
    let comments = format!("{}1.5 0 5 1 1\n", "# nothing yet\n".repeat(20_000));
    let found = message(comments, "", 10);
    assert!(found.contains("first bytes are needed to tell"), "{found}");
}
