#![no_main]

#[path = "../nbd.rs"]
mod nbd;
#[path = "../session.rs"]
mod session;

libfuzzer_sys::fuzz_target!(|data: &[u8]| nbd::nbd_session(data));
