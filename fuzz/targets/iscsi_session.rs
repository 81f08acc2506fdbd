#![no_main]

#[path = "../iscsi.rs"]
mod iscsi;

libfuzzer_sys::fuzz_target!(|data: &[u8]| iscsi::iscsi_session(data));
