#![no_main]

#[path = "../traces.rs"]
#[allow(dead_code, reason = "each target uses one")]
mod traces;

libfuzzer_sys::fuzz_target!(|data: &[u8]| traces::trace_reader(data));
