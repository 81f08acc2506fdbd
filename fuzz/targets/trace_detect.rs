#![no_main]

#[path = "../traces.rs"]
#[allow(dead_code, reason = "each target uses one")]
mod traces;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let name = format!("sledsim-fuzz-{}.trace", std::process::id());
    traces::trace_detect(data, &std::env::temp_dir().join(name));
});
