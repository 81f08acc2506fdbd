#![no_main]

#[path = "../parquet.rs"]
mod parquet;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let name = format!("sledsim-fuzz-{}.trace", std::process::id());
    parquet::parquet(data, &std::env::temp_dir().join(name));
});
