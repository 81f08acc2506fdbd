//! The integration tests of runs, linked once. Tests that measure their whole
//! process are separate binaries: see `[[test]]` in Cargo.toml.

#[path = "../../sledsim-core/tests/common/mod.rs"]
#[allow(dead_code, reason = "the tests of several crates share it")]
mod common;

mod key_list;

mod refusals;

/// What other programs add.
mod additions;

mod workloads {
    mod facts;
    mod mix;
    mod working_sets;
}

mod traces {
    mod convert;
    pub mod formats;
    mod info;
    mod parquet;
    pub mod reading;
    mod recording;
    mod recording_closed;
    mod writers;
}

mod runs {
    mod intervals;
    mod measured;
    mod planned;
    mod results;
    mod validation;
}

mod layouts {
    pub mod places;
    mod runs;
}

mod arrays {
    mod contents;
}

mod crash {
    mod configurations;
    mod devices;
    mod media;
    mod mistakes;
}

mod caches;

mod tables {
    mod media;
    mod pages;
}

/// Readers of bytes on any bytes.
mod any_bytes;
