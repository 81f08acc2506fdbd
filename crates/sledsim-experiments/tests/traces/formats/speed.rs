//! The speed of reading and writing the formats.

use super::format;
use sledsim_experiments::formats::all;
use sledsim_traces::{Input, Options, Record};

/// How fast reading alone is, on one core:
/// `cargo test --release -p sledsim-experiments formats:: -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn speed_of_reading_and_writing() {
    use std::fmt::Write as _;
    use std::time::Instant;

    // Time on a processor where the system tells it: others may be busy too.
    let begun = Instant::now();
    let now = || {
        let own = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
        let ns = own.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
        ns.map_or_else(|| begun.elapsed().as_secs_f64(), |ns| ns / 1e9)
    };
    const COUNT: usize = 4_000_000;
    let mut state = 1_u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let mut msr = String::new();
    let mut generic = String::from("ts,op,lba,len,vol\n");
    let mut ticks = 128_166_372_003_061_629;
    for _ in 0..COUNT {
        ticks += random(100_000);
        let (op, host) =
            (["Read", "Write"][random(2) as usize], ["hm", "usr", "proj"][random(3) as usize]);
        let (block, blocks, response) = (random(1 << 27), 8 << random(4), random(1_000_000));
        let (offset, bytes) = (block * 4_096, blocks * 512);
        writeln!(msr, "{ticks},{host},{},{op},{offset},{bytes},{response}", random(3)).unwrap();
        writeln!(generic, "{ticks},{op},{block},{bytes},{host}").unwrap();
    }
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("trace");
    let map = "time=ts:100ns, offset=lba:4096B, bytes=len:B, op=op, device=vol, origin=first";
    let mut records = Vec::with_capacity(COUNT);
    let measure = |name: &str, columns: Option<&str>, keep: &mut Vec<Record>| {
        let options = Options { columns: columns.map(str::to_owned), ..Options::default() };
        let mut best = f64::INFINITY;
        for _ in 0..3 {
            let started = now();
            let mut reader = format(name).open(Input::open(&path).unwrap(), &options).unwrap();
            let (mut count, mut sum) = (0, 0_u64);
            while let Some(record) = reader.next().unwrap() {
                count += 1;
                sum = sum.wrapping_add(record.offset ^ record.time.0);
            }
            assert!(count == COUNT && sum != 0);
            best = best.min(now() - started);
        }
        let bytes = std::fs::metadata(&path).unwrap().len() as f64;
        let million = COUNT as f64 / 1e6;
        println!("read {name}: {:.0} MB/s, {:.1} million/s", bytes / 1e6 / best, million / best);
        if keep.is_empty() {
            let mut reader = format(name).open(Input::open(&path).unwrap(), &options).unwrap();
            while let Some(record) = reader.next().unwrap() {
                keep.push(record);
            }
        }
        bytes / 1e6 / best
    };
    std::fs::write(&path, &msr).unwrap();
    let speed = measure("msr", None, &mut records);
    assert!(speed > 200.0, "{speed} MB/s");
    std::fs::write(&path, &generic).unwrap();
    measure("csv", Some(map), &mut records);
    for format in all().writers.iter() {
        let started = now();
        let mut writer = format.create(&path).unwrap();
        for record in &records {
            writer.write(record).unwrap();
        }
        writer.finish().unwrap();
        let speed = COUNT as f64 / 1e6 / (now() - started);
        println!("write {}: {speed:.1} million/s", format.name);
        if ["csv", "parquet"].contains(&format.name) {
            measure(format.name, None, &mut records);
        }
    }
}
