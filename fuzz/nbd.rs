// A client that sends any bytes; also run by the tests of sledsim-emulator.

use sledsim_core::catalog::Device;
use sledsim_emulator::nbd::{Settings, serve};
use sledsim_emulator::server::{ExportSpec, Server};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

/// A device that takes no time.
fn server() -> &'static Mutex<Server> {
    static SERVER: OnceLock<Mutex<Server>> = OnceLock::new();
    SERVER.get_or_init(|| {
        let key =
            |name: &str, value: &str| (name.to_owned(), value.parse().unwrap(), String::new());
        let keys = [
            key("blocks", "2048"),
            key("latency_ms", "0.0"),
            key("ms_per_block", "0.0"),
        ];
        let spec = ExportSpec::of("d", Device::resolve("memory", &keys).unwrap());
        Mutex::new(Server::start(vec![spec]).unwrap())
    })
}

/// The server answers with a greeting, ends when the client has, and leaves no
/// request behind.
pub fn nbd_session(data: &[u8]) {
    // One at a time: what is left behind is counted below.
    let server = server().lock().unwrap_or_else(PoisonError::into_inner);
    let exports = server.exports().clone();
    let (mut client, other) = UnixStream::pair().unwrap();
    let mut hears = client.try_clone().unwrap();
    let session = {
        let exports = exports.clone();
        thread::spawn(move || serve(other.into(), exports, &Settings::default()).unwrap())
    };
    let listener = thread::spawn(move || {
        let mut all = Vec::new();
        let _ = hears.read_to_end(&mut all);
        all
    });
    // The server may hang up before it has heard all.
    let _ = client.write_all(data);
    let _ = client.shutdown(Shutdown::Write);
    session.join().unwrap();
    let heard = listener.join().unwrap();
    assert!(heard.starts_with(b"NBDMAGICIHAVEOPT\0\x03"));
    let export = exports.named("d").unwrap();
    assert_eq!(export.timeline().outstanding(), 0);
}
