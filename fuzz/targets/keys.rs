#![no_main]

#[path = "../bodies.rs"]
#[allow(dead_code, reason = "each target uses one")]
mod bodies;

libfuzzer_sys::fuzz_target!(|text: &str| bodies::keys(text));
