#![no_main]

#[path = "../keys.rs"]
mod keys;

libfuzzer_sys::fuzz_target!(|text: &str| keys::keys(text));
