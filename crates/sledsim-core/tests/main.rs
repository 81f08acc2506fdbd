//! The integration tests of the core, linked once. What measures its whole
//! process is a binary of its own: see `[[test]]` in Cargo.toml.

/// What they share.
#[allow(dead_code, reason = "the tests of several crates share it")]
mod common;

/// Every file here is run.
mod listed;

mod devices {
    mod catalog;
    mod flash;

    mod mems {
        mod geometry;
        mod kinematics;
        mod means;
    }

    mod disk {
        mod buffer_queue;
        mod buffer_reads;
        mod buffer_writes;
        mod disksim;
        mod drives;
        mod invariants;
        mod mapping;
        mod means;
        mod passes;
        mod presets;
        mod small;
        mod spec;
    }
}

mod contracts {
    mod decorators;
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
}

mod workloads {
    mod generators;
    mod random;
}
