//! Stopping a server.

use super::client::*;
use sledsim_base::keys::Keys;
use sledsim_base::registry::Registry;
use sledsim_base::units::Nanos;
use sledsim_core::model::mechanism::Positions;
use sledsim_core::queueing::schedulers::{
    SCHEDULERS, Scheduler, SchedulerEntry, SchedulerSpec, Waiting,
};
use sledsim_emulator::net::{Address, Settings};
use sledsim_emulator::server::{ExportSpec, Server};
use std::io::Write;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Where a busy machine answers the request before the server has begun to stop, the
/// device is slower the next time.
#[test]
fn a_stop_answers_requests_in_flight_and_refuses_new_ones() {
    let in_time = |latency_ms| a_stop_refuses_a_write_while_a_read_lasts(latency_ms);
    assert!([250.0, 2_500.0, 25_000.0].into_iter().any(in_time));
}

/// Returns `false` if the read was answered before the write came.
fn a_stop_refuses_a_write_while_a_read_lasts(latency_ms: f64) -> bool {
    let served = Served::new(&[Wanted::slow("d", 1 << 20, latency_ms)]);
    let mut client = Client::ready(&served.socket, "d");
    let mut waits = Client::connect(&served.socket);
    client.ask(READ, 0, 1, 0, 512);
    served.until(|served| served.outstanding("d") == 1 || served.requests("d") == 1);
    let in_time = thread::scope(|scope| {
        let start = Instant::now();
        let stop = scope.spawn(|| served.nbd.stop(Duration::from_secs(240)));
        served.until(|served| !served.socket.exists()); // a connection would be trouble
        let mut write = request(WRITE, 0, 2, 0, 512);
        write.extend([9; 512]);
        if client.wire.write_all(&write).is_err() {
            return false;
        }
        let refused = client.answer(0);
        if refused.cookie == 1 {
            return false;
        }
        assert_eq!((refused.cookie, refused.error), (2, ESHUTDOWN));
        let answer = client.answer(512);
        assert_eq!((answer.cookie, answer.error), (1, 0));
        assert!(client.is_closed());
        assert!(waits.is_closed());
        stop.join().unwrap();
        assert!(start.elapsed() < Duration::from_secs(120), "not all of the grace");
        true
    });
    if !in_time {
        return false;
    }
    assert!(!served.socket.exists());
    assert_eq!(served.nbd.clients(), 0);
    let mut written = [1; 512];
    let export = served.server.exports().named("d").unwrap();
    export.store().read(0, &mut written).unwrap();
    assert_eq!(written, [0; 512], "what was refused was not done");
    served.nbd.stop(Duration::ZERO);
    for (kind, what) in served.nbd.to_json()["troubles"].as_object().unwrap() {
        assert_eq!(what["count"], 0, "{kind}");
    }
    true
}

/// The grace bounds the wait for a request of four minutes, an incomplete handshake, and
/// unread replies.
#[test]
fn a_stop_waits_at_most_the_grace() {
    let wanted = [Wanted::slow("d", 1 << 20, 240_000.0), Wanted::quick("quick", 64 << 20)];
    let served = Served::new(&wanted);
    let mut client = Client::ready(&served.socket, "d");
    client.ask(READ, 0, 1, 0, 512);
    let mut lazy = Client::simple(&served.socket, "quick");
    lazy.ask(READ, 0, 1, 0, 32 << 20);
    let mut shy = Client::silent(&served.socket);
    served.until(|served| {
        let here = (served.nbd.clients(), served.outstanding("d"));
        here == (3, 1) && served.requests("quick") == 1
    });
    let start = Instant::now();
    served.nbd.stop(Duration::from_millis(200));
    assert!(start.elapsed() >= Duration::from_millis(200));
    assert!(start.elapsed() < Duration::from_secs(120), "{:?}", start.elapsed());
    assert!(client.is_closed() && shy.is_closed());
    assert_eq!(served.nbd.clients(), 0);
}

/// Waiting clients get an error when the clock of a device ends.
#[test]
fn requests_fail_when_their_device_ends_first() {
    let served = Served::new(&[Wanted::slow("d", 1 << 20, 60_000.0)]);
    let mut client = Client::simple(&served.socket, "d");
    client.ask(READ, 0, 5, 0, 512);
    served.until(|served| served.outstanding("d") == 1);
    let Served { nbd, server, .. } = served;
    drop(nbd);
    assert!(client.is_closed());
    drop(server);
}

/// Panics at its second choice.
#[derive(Default)]
struct Broken(Vec<Waiting>, u32);

impl Scheduler for Broken {
    fn push(&mut self, waiting: Waiting, _positions: &dyn Positions) {
        self.0.push(waiting);
    }

    fn pop(&mut self, _at: Nanos, _positions: &dyn Positions) -> Option<Waiting> {
        let waiting = self.0.pop()?;
        self.1 += 1;
        assert!(self.1 < 2, "the scheduler is broken");
        Some(waiting)
    }
}

const BROKEN: SchedulerEntry = SchedulerEntry {
    name: "broken",
    needs_positions: false,
    moves_to_edges: false,
    read: |_| Ok(Arc::new(|| Box::<Broken>::default())),
};

/// All clients get I/O errors, the server ends, and says why.
#[test]
fn a_server_ends_with_a_device_that_fails() {
    let known = Registry::over(&SCHEDULERS, &[BROKEN]);
    let keys = Keys::parse("name = \"broken\"", "x.toml").unwrap();
    let scheduler = SchedulerSpec::from_registry(known, keys).unwrap();
    let device = crate::session::device("memory", &[("latency_ms", "250.0")]);
    let spec = ExportSpec { scheduler, ..ExportSpec::of("d", device) };
    let mut server = Server::start(vec![spec]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s.sock");
    server.serve_nbd(&Address::Unix(socket.clone()), &Settings::default()).unwrap();
    let (mut client, mut other) = (Client::simple(&socket, "d"), Client::simple(&socket, "d"));
    client.ask(READ, 0, 1, 0, 512);
    while server.exports().named("d").unwrap().timeline().outstanding() < 1 {
        thread::sleep(Duration::from_millis(5));
    }
    assert!(server.is_alive());
    other.ask(READ, 0, 2, 0, 512);
    other.ask(READ, 0, 3, 0, 512);
    assert_eq!(client.answer(512).error, 0);
    assert_eq!([other.answer(512).error, other.answer(512).error], [EIO, EIO]);
    assert_eq!(other.write(0, &[1; 512]), Err(EIO));
    assert!(!server.is_alive());
    let failed = server.stop(Duration::from_secs(120)).unwrap_err().to_string();
    assert!(failed.starts_with("export 'd': the device has failed;"), "{failed}");
    assert!(failed.contains("the scheduler is broken; stopping.rs:"), "{failed}");
    let status = &server.status()["exports"][0]["device_failed"];
    assert_eq!(format!("export 'd': {}", status.as_str().unwrap()), failed);
}
