#![no_main]

#[path = "../iscsi.rs"]
mod iscsi;
#[path = "../session.rs"]
mod session;

libfuzzer_sys::fuzz_target!(|data: &[u8]| iscsi::iscsi_session(data));
