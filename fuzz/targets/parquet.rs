#![no_main]

#[path = "../bodies.rs"]
#[allow(dead_code, reason = "each target uses one")]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let name = format!("sledsim-fuzz-{}.trace", std::process::id());
    bodies::parquet(data, &std::env::temp_dir().join(name));
});
