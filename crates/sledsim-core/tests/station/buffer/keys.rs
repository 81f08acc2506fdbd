//! Error messages for invalid keys.

use sledsim_core::catalog::{Device, Override};

#[test]
fn errors_in_a_buffer_name_the_key() {
    let cases: [(&[(&str, &str)], &str); 7] = [
        (&[("buffer.segments", "1")], "missing key 'buffer.size_kib'"),
        (&[("buffer.size_kib", "64")], "missing key 'buffer.segments'"),
        (
            &[("buffer.size_kib", "1"), ("buffer.segments", "3")],
            "buffer.segments = 3: must be at most the 2 blocks of size_kib",
        ),
        (
            &[
                ("buffer.size_kib", "64"),
                ("buffer.segments", "4"),
                ("buffer.write_back_segments", "4"),
            ],
            "buffer.write_back_segments = 4: must be an integer from 0 to 3",
        ),
        (
            &[("buffer.size_kib", "64"), ("buffer.segments", "4"), ("buffer.read_ahead", "'row'")],
            "an integer from 1 to 4294967295, or \"none\", \"track\", \"cylinder\" or \"full\"",
        ),
        (&[("buffer.size_kb", "64"), ("buffer.segments", "4")], "size_kib"),
        (
            &[("buffer.size_kib", "64"), ("buffer.segments", "4"), ("buffer.write_back", "true")],
            "'buffer.write_back'",
        ),
    ];
    for (overrides, says) in cases {
        let overrides: Vec<Override> = overrides
            .iter()
            .map(|(key, value)| {
                let value = value.parse().expect("TOML");
                ((*key).to_owned(), value, format!("--set {key}"))
            })
            .collect();
        let message = Device::resolve("g2", &overrides).expect_err("a mistake").to_string();
        assert!(message.contains(says), "{message:?} lacks {says:?}");
    }
}
