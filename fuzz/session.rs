// A server, and sessions with clients that send any bytes.

use sledsim_core::catalog::Device;
use sledsim_emulator::front_end::Exports;
use sledsim_emulator::server::{ExportSpec, Server};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// The most bytes of a client. They fit into a socket.
const MOST: usize = 65_536;

/// A device with these keys.
pub fn device(preset: &str, keys: &[(&str, &str)]) -> Device {
    let keys: Vec<_> = keys
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.parse().unwrap(), String::new()))
        .collect();
    Device::resolve(preset, &keys).unwrap()
}

/// A memory of 128 KiB that takes no time.
pub fn memory() -> ExportSpec {
    let keys = [("blocks", "256"), ("latency_ms", "0.0"), ("ms_per_block", "0.0")];
    ExportSpec::of("d", device("memory", &keys))
}

/// A server, and a thread that reads what its client is sent: a thread for each session
/// takes longer than the session.
pub struct Subject {
    server: Server,
    clients: Sender<UnixStream>,
    heard: Receiver<Vec<u8>>,
}

impl Subject {
    pub fn start(exports: Vec<ExportSpec>) -> Self {
        let (clients, sockets) = channel::<UnixStream>();
        let (hears, heard) = channel();
        thread::spawn(move || {
            for mut socket in sockets {
                let mut all = Vec::new();
                let _ = socket.read_to_end(&mut all);
                if hears.send(all).is_err() {
                    return;
                }
            }
        });
        let server = Server::start(exports).unwrap();
        Self { server, clients, heard }
    }

    pub fn exports(&self) -> &Arc<Exports> {
        self.server.exports()
    }

    /// Sends `data` to `serve`, which must end; returns the replies.
    pub fn replies(&self, data: &[u8], serve: impl FnOnce(OwnedFd, Arc<Exports>)) -> Vec<u8> {
        let (mut client, other) = UnixStream::pair().unwrap();
        client.write_all(&data[..data.len().min(MOST)]).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        self.clients.send(client).unwrap();
        serve(other.into(), self.exports().clone());
        self.heard.recv().unwrap()
    }
}
