//! The integration tests of the core, linked into one binary. Tests that
//! measure the whole process have separate binaries: see `[[test]]` in
//! Cargo.toml.

/// Shared helpers.
#[allow(dead_code, reason = "the tests of several crates share it")]
mod common;

mod refusals;

/// Checks that every test file is listed here.
mod listed;

mod devices {
    mod actuators;
    mod catalog;
    mod flash;

    mod mems {
        mod geometry;
        mod kinematics;
        mod means;
        mod paths;
        mod turns;
    }

    pub mod disk {
        mod buffer_queue;
        mod buffer_reads;
        mod buffer_writes;
        mod disksim;
        mod drives;
        mod faults;
        mod invariants;
        mod mapping;
        mod means;
        mod passes;
        mod presets;
        mod small;
        pub mod spec;
    }
}

mod contracts {
    mod decorators;
    mod foresight;
    mod mechanisms;
    mod models;
}

mod station {
    mod buffer;
    mod buffer_figures;
    mod buffer_versions;
    mod host_queue;
    mod overheads;
    mod segments;
    mod unbuffered;
}

mod schedulers;

mod parallel {
    mod batches;
    mod free_bandwidth;
    mod plans;
}

mod hybrids {
    mod mwb;

    mod controllers {
        mod disks;
        mod keys;
        mod reference;
        mod rules;
    }

    mod mcd {
        mod fetches;
        mod power;
        mod random;
        mod spec;
        mod tiers;
        mod times;
        mod twin;
    }
}

mod arrays {
    mod contents;
    mod times;
}

mod faults {
    mod codes;
    mod sleds;
    mod tips;
}

mod power {
    mod arrays;
    mod energy;
    mod rests;
}

mod workloads {
    mod generators;
    mod postmark;
    mod random;
}
