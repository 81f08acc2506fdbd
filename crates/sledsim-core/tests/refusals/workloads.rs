//! Workloads.

use super::{keys, refuse};
use sledsim_base::error::Result;
use sledsim_core::workloads::{GeneratorSpec, MixSpec, PostMarkSpec, Workload};

/// Blocks of the device (a g2).
const DEVICE: u64 = 6_750_000;

fn generator(kind: &str, text: &str) -> Result<()> {
    let mut keys = keys(text)?;
    let spec = GeneratorSpec::read(kind, &mut keys)?;
    keys.finish()?;
    spec.source(DEVICE).map(drop)
}

/// A kind in the first line, then its keys.
fn of_kind(given: &str) -> Result<()> {
    let (kind, text) = given.split_once('\n').unwrap_or((given, ""));
    generator(kind, text)
}

#[test]
fn random() {
    let table = r#"
    rate = 0 => :1: rate = 0: must be above 0 and at most 1000000000000
    rate = -1 => :1: rate = -1: must be above 0 and
    rate = inf => :1: rate = inf: must be above 0 and
    rate = nan => :1: rate = nan: must be above 0 and
    rate = "fast" => :1: rate = "fast": must be a number above 0
    rate = 1e-7 => :1: rate = 1e-7: must let 10000 requests arrive within 285 years
    think_ms = 1e9 ; requests = 9001 => :1: think_ms = 1e9: must let 9001 requests
    queue_depth = 4 ;  ; rate = 500 => :3: rate = 500: must not be given with queue_depth: a load
        is either open or closed
    rate = 500 ; think_ms = 0 => :1: rate = 500: must not be given with think_ms: a load is either
        open or closed
    time_scale = 2 => :1: time_scale = 2: scales the arrivals of an open load and so needs rate
    rate = 1 ; time_scale = 0 => :2: time_scale = 0: must be above 0
    queue_depth = 0 => :1: queue_depth = 0: must be an integer from 1 to 1000000
    think_ms = -0.5 => :1: think_ms = -0.5: must be at least 0
    read_fraction = 1.1 => :1: read_fraction = 1.1: must be at least 0 and at most 1
    read_fraction = -0.1 => :1: read_fraction = -0.1: must be at least 0 and at most 1
    mean_size_kib = 0.4 => :1: mean_size_kib = 0.4: must be at least 0.5
    mean_size_kib = 1e300 => :1: mean_size_kib = 1e300: must be at most the 3375000 KiB of the
        region
    requests = 0 => :1: requests = 0: must be an integer of at least 1
    requests = 1.5e0 => :1: requests = 1.5e0: must be an integer of at least 1
    seed = -1 => :1: seed = -1: must be an integer of at least 0
    blocking = 0 => :1: blocking = 0: must be an integer from 1 to 4294967295
    size = "normal" => :1: size = "normal": must be "geometric", "exponential", "fixed" or "listed"
    last_lbn = 6750000 => :1: last_lbn = 6750000: must be below the 6750000 blocks of the device
    first_lbn = 6750000 => :1: first_lbn = 6750000: must be below the 6750000 blocks of the device
    first_lbn = 9 ; last_lbn = 8 => :2: last_lbn = 8: must be an integer of at least 9
    first_lbn = 9 ; last_lbn = 14 ; blocking = 8 => :3: blocking = 8: must leave an aligned place
        in LBNs 9 to 14
    first_lbn = 9 ; last_lbn = 15 => : mean_size_kib: must be at most the 3.5 KiB of the region
    read_fracton = 1 => :1: unknown key 'read_fracton'; did you mean 'read_fraction'?
    mean_size_bytes = 4096 => :1: unknown key 'mean_size_bytes'; did you mean 'mean_size_kib' (in
        KiB)?
    "#;
    refuse(table, |text| generator("random", text));
    let mut none = keys("").expect("no keys");
    let none = GeneratorSpec::read("random", &mut none).expect("a spec");
    refuse("no blocks => below the 0 blocks", |_| none.source(0).map(drop));
}

#[test]
fn places_and_arrivals() {
    let table = r#"
    zipf ; zipf_exponent = -1 => :1: zipf_exponent = -1: must be at least 0 and at most 10
    zipf ; unit_blocks = 12 ; blocking = 8 => :1: unit_blocks = 12: must be a multiple of blocking
        (8)
    zipf ; scatter = 1 => :1: scatter = 1: must be true or false
    zipf ; zipf_exponnt = 1 => :1: unknown key 'zipf_exponnt'; did you mean 'zipf_exponent'?
    random ; zipf_exponent = 1 => :1: unknown key 'zipf_exponent'
    hot_cold ; hot_fraction = 0 => :1: hot_fraction = 0: must be above 0 and below 1
    hot_cold ; hot_fraction = 1 => :1: hot_fraction = 1: must be above 0 and below 1
    hot_cold ; hot_share = 1.5 => :1: hot_share = 1.5: must be at least 0 and at most 1
    hot_cold ; hot_fraction = 0.9 ; hot_start = 0.2 => :2: hot_start = 0.2: must be at least 0 and
        at most 0.1
    hot_cold ; last_lbn = 0 ; mean_size_kib = 0.5 => : hot_fraction: must divide a region of two
        places
    sequential ; streams = 0 => :1: streams = 0: must be an integer from 1
    sequential ; interleave = "random" => :1: interleave = "random": needs streams = 2 or more
    sequential ; streams = 2 ; interleave = "rr" => :2: interleave = "rr": must be "round_robin" or
        "random"
    sequential ; mean_run_requests = 0.5 => :1: mean_run_requests = 0.5: must be at least 1
    sequential ; mean_run_requests = 2 ; sequential_fraction = 0.5 => :1: mean_run_requests = 2:
        must not be given with sequential_fraction
    random ; arrivals = "poisson" => :1: arrivals = "poisson": shapes the arrivals of an open load
        and so needs rate
    random ; rate = 1 ; arrivals = "uniform" => :2: arrivals = "uniform": must be "poisson" or
        "constant"
    random ; on_ms = 5 ; off_ms = 5 => :1: on_ms = 5: shapes the arrivals of an open load and so
        needs rate
    random ; rate = 9 ; on_ms = 5 => :2: on_ms = 5: needs off_ms
    random ; rate = 9 ; off_ms = 5 => :2: off_ms = 5: needs on_ms
    random ; rate = 9 ; off_ms = 0 ; on_ms = 5 => :2: off_ms = 0: must be above 0
    random ; rate = 9 ; burst_lengths = "fixed" => :2: burst_lengths = "fixed": needs on_ms and
        off_ms
    random ; rate = 1 ; on_ms = 5 ; off_ms = 4 => :2: on_ms = 5: must leave 0.01 requests or more
        to a burst in the mean, not 0.009
    random ; think = "exponential" => :1: think = "exponential": needs think_ms above 0
    random ; think_ms = 0 ; think = "fixed" => :2: think = "fixed": needs think_ms above 0
    random ; rate = 9 ; think = "fixed" => :2: think = "fixed": needs think_ms above 0
    random ; rate = 9 ; think_ms = 1 ; think = "exponential" => :1: rate = 9: must not be given
        with think_ms
    random ; think_ms = 1 ; think = "long" => :2: think = "long": must be "fixed" or "exponential"
    zipff => unknown workload 'zipff'; did you mean 'zipf'?
    "#;
    refuse(table, of_kind);
    let mut small = keys("blocking = 1\nunit_blocks = 1").expect("keys");
    let small = GeneratorSpec::read("zipf", &mut small).expect("a spec");
    refuse("2^63 => at most 4503599627370496 units", |_| small.source(u64::MAX / 2).map(drop));
}

#[test]
fn working_sets_and_bursts() {
    let table = r#"
    random ; rate = 5 ; bias = 0.4 => :2: bias = 0.4: must be at least 0.5
    random ; bias = 0.7 => :1: bias = 0.7: shapes the arrivals of an open load
    random ; rate = 5 ; cascade_s = 3 => :2: cascade_s = 3: needs bias
    random ; rate = 5 ; bias = 0.7 ; cascade_levels = 31 => :3: cascade_levels = 31
    random ; rate = 5 ; bias = 0.7 ; on_ms = 5 ; off_ms = 5 => :2: bias = 0.7: must not be given
        with on_ms
    random ; sizes_kib = [1] => :1: sizes_kib = [1]: needs size = "listed"
    random ; size = "listed" => sizes_kib: size = "listed" needs at least one
    random ; size = "listed" ; sizes_kib = [1, 2] ; size_shares = [1] => :3: size_shares = [1]:
        must be a list of 2
    random ; size = "listed" ; sizes_kib = [1, 2.2] ; size_shares = [1, 1] => :2: sizes_kib[1] =
        2.2: must be a multiple of 0.5 KiB
    random ; size = "listed" ; sizes_kib = [1] ; size_shares = [0] => :3: size_shares[0] = 0: must
        be
    random ; size = "listed" ; sizes_kib = [1] ; size_shares = [1] ; mean_size_kib = 4 => :4:
        mean_size_kib = 4: has no effect
    files => : missing key 'set_mib'
    files ; set_mib = 9000 => :1: set_mib = 9000: must be at most the 3295.
    files ; set_mib = 10 ; extent_kib = 10 ; blocking = 16 => :2: extent_kib = 10: must be a
        multiple of blocking, which is 8 KiB
    files ; set_mib = 10 ; unit_kib = 3 => :2: unit_kib = 3: must be a multiple of blocking, and
        divide
    files ; set_mib = 10 ; part_from = 0.5 ; part_to = 0.5 => :3: part_to = 0.5: must be above 0.5
    files ; set_mib = 0.0625 ; part_from = 0.4 ; part_to = 0.45 => :2: part_from = 0.4: must leave
        an extent
    scan ; set_mib = 1 ; scans = 9 => :2: scans = 9: must be at most the 8 extents
    scan ; set_mib = 1 ; turn_kib = 129 => :2: turn_kib = 129: must be above 0 and at most 128
    scan ; set_mib = 1 ; turn_kib = 3 ; blocking = 4 => :2: turn_kib = 3: must be a multiple of
        blocking
    random ; writes = "read_earlier" ; read_fraction = 1 => :1: writes = "read_earlier": needs a
        read_fraction above 0 and below 1
    nurand ; set_mib = 1 ; rows = 0 => :2: rows = 0: must be an integer from 1
    files ; set_mib = 10 ; blocking = 2 ; interleave_kib = 1.5 => interleave_kib = 1.5
    nurand ; set_mib = 1 ; rows = 5 ; tables = [[1, 1, 5, 0, 1]] => :2: rows = 5: has no effect
    nurand ; set_mib = 1 ; tables = [] => at least one table
    nurand ; set_mib = 1 ; tables = [[1, 1, 5, 0, 1], [1, 1e-6, 5, 0, 1]] => must leave a page
    "#;
    refuse(table, of_kind);
    let table = r#"
    => :2: popularity = "moving": needs reuse_set
    reuse_set = 9 ; reuse_distances = [1, 9] ; reuse_counts = [3, 1] => missing key 'new_fraction'
    "#;
    let moving = "set_mib = 10\npopularity = \"moving\"\n";
    refuse(table, |keys| generator("files", &format!("{moving}{keys}")));
    let table = r#"
    reuse_distances = [9, 1] ; reuse_counts = [3, 1] => must be distances in rising order
    reuse_distances = [1, 10] ; reuse_counts = [3, 1] => reuse_distances[1] = 10
    reuse_distances = [1, 9] ; reuse_counts = [3] => must be 2 counts
    "#;
    let moving = format!("{moving}reuse_set = 9\nnew_fraction = 0\n");
    refuse(table, |keys| generator("files", &format!("{moving}{keys}")));
}

#[test]
fn postmark() {
    let table = r#"
    files = 9000 ; transactions = 9000 => files = 9000: must fit in 90 %
    min_bytes = 10001 => min_bytes = 10001: must be at most max_bytes, 10000
    max_bytes = 98305 => 98304
    cache_mib = 0.1 => 0.25
    data_writes = "never" => "full_blocks" or "close"
    update_s = 30 => unknown key
    "#;
    refuse(table, |text| {
        let mut keys = keys(text)?;
        let spec = PostMarkSpec::read(&mut keys)?;
        keys.finish()?;
        // 256 MiB.
        spec.source(524_288).map(drop)
    });
}

#[test]
fn mixes() {
    let table = r#"
    => : part: missing; must be tables, one for each workload of the mix: part.NAME
    [part] => : part: missing; must be tables, one for each workload of the mix: part.NAME
    part = 3 => :1: part = 3: must be tables
    rate = 5 ; [part.a] => :1: unknown key 'rate'
    [part.a] ; rates = 5 => :2: unknown key 'part.a.rates'; did you mean 'part.a.rate'
    [part] ; a = 5 => :2: part.a = 5: must be a table, as in [a]
    [part.a] ; kind = "mix" => :2: part.a.kind = "mix": must be a single generator
    [part.a] ; kind = "zip" => :2: part.a.kind = "zip": must be a workload; did you mean 'zipf'?
    [part.a] ; requests = 5 => :2: part.a.requests = 5: must be given for the whole mix
    [part.a] ; rate = 5 ; queue_depth = 1 => :2: part.a.rate = 5: must not be given with queue_depth
    [part.a] ; rate = 1e-8 ; [part.b] ; rate = 1e-8 => : part: must let 10000 requests arrive
        within 285 years
    [part.a.b] ; rate = 5 => :1: unknown table 'part.a.b'
    [part.a] ; [part.b] ; last_lbn = 6750000 => :3: part.b.last_lbn = 6750000: must be below
    time_scale = 2 ; [part.a] ; queue_depth = 2 => :1: time_scale = 2: scales the arrivals
    "#;
    refuse(table, |text| {
        let mut keys = keys(text)?;
        let spec = MixSpec::read(&mut keys)?;
        keys.finish()?;
        spec.source(DEVICE).map(drop)
    });
    refuse("[part.a] ; kind = \"postmark\" => must be a single generator", |text| {
        Workload::read("mix", &mut keys(text)?).map(drop)
    });
}
