// A client of NBD that sends any bytes; also run by the tests of sledsim-emulator.

use crate::session::{self, Subject};
use sledsim_emulator::nbd::serve;
use sledsim_emulator::net::Settings;
use std::sync::{LazyLock, Mutex, PoisonError};

static SUBJECT: LazyLock<Mutex<Subject>> =
    LazyLock::new(|| Mutex::new(Subject::start(vec![session::memory()])));

/// The server answers with a greeting, ends when the client has, and leaves no
/// request behind.
pub fn nbd_session(data: &[u8]) {
    let subject = SUBJECT.lock().unwrap_or_else(PoisonError::into_inner);
    let heard = subject.replies(data, |socket, exports| {
        serve(socket, exports, &Settings::default()).unwrap();
    });
    assert!(heard.starts_with(b"NBDMAGICIHAVEOPT\0\x03"));
    let export = subject.exports().named("d").unwrap();
    assert_eq!(export.timeline().outstanding(), 0);
}
