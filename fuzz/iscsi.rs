// An initiator that sends any bytes; also run by the tests of sledsim-emulator.

use crate::session::{self, Subject};
use sledsim_emulator::iscsi::{Settings, serve};
use sledsim_emulator::server::ExportSpec;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

/// A memory and a sled of 5,400 blocks, in no time. The seed `parallel` writes a batch up to
/// LBN 5005.
static SUBJECT: LazyLock<Mutex<Subject>> = LazyLock::new(|| {
    let keys = [("travel_x_um", "1.1"), ("travel_y_um", "8.0"), ("batching.kind", "\"explicit\"")];
    let mut sled = ExportSpec::of("s", session::device("cmu2003", &keys));
    sled.speed = 1e6;
    Mutex::new(Subject::start(vec![session::memory(), sled]))
});

/// The target answers a login request with a login response or not at all, ends when the
/// initiator has, and leaves no request behind.
pub fn iscsi_session(data: &[u8]) {
    let subject = SUBJECT.lock().unwrap_or_else(PoisonError::into_inner);
    let heard = subject.replies(data, |socket, exports| {
        drop(serve(socket, exports, &Settings::default()));
    });
    assert!(heard.is_empty() || heard[0] == 0x23);
    for export in subject.exports().iter() {
        assert!(export.timeline().drain(Duration::from_secs(10)));
    }
}
