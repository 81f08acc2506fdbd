// An initiator that sends any bytes; also run by the tests of sledsim-emulator.

use sledsim_core::catalog::Device;
use sledsim_emulator::iscsi::{Settings, serve};
use sledsim_emulator::server::{ExportSpec, Server};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

/// A small sled and a memory, in no time.
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
        let memory = ExportSpec::of("d", Device::resolve("memory", &keys).unwrap());
        let batches = [key("batching.kind", "\"explicit\"")];
        let mut sled = ExportSpec::of("s", Device::resolve("cmu2003", &batches).unwrap());
        sled.speed = 1e6;
        Mutex::new(Server::start(vec![memory, sled]).unwrap())
    })
}

/// The target answers a login request with a login response or not at all, ends when the
/// initiator has, and leaves no request behind.
pub fn iscsi_session(data: &[u8]) {
    // One at a time: what is left behind is counted below.
    let server = server().lock().unwrap_or_else(PoisonError::into_inner);
    let exports = server.exports().clone();
    let (mut client, other) = UnixStream::pair().unwrap();
    let mut hears = client.try_clone().unwrap();
    let session = {
        let exports = exports.clone();
        thread::spawn(move || drop(serve(other.into(), exports, &Settings::default())))
    };
    let listener = thread::spawn(move || {
        let mut all = Vec::new();
        let _ = hears.read_to_end(&mut all);
        all
    });
    // The target may hang up before it has heard all.
    let _ = client.write_all(data);
    let _ = client.shutdown(Shutdown::Write);
    session.join().unwrap();
    let heard = listener.join().unwrap();
    assert!(heard.is_empty() || heard[0] == 0x23);
    for export in exports.iter() {
        assert!(export.timeline().drain(std::time::Duration::from_secs(10)));
    }
}
