#![no_main]

#[path = "../nbd.rs"]
mod nbd;

libfuzzer_sys::fuzz_target!(|data: &[u8]| nbd::nbd_session(data));
