//! Stopping a server, and the errors of its clients.

use crate::served::*;
use sledsim_emulator::front_end::FrontEnd;
use sledsim_rpc::client::{Address, Client, Code, Error, Options};
use std::thread;
use std::time::{Duration, Instant};

/// Where a busy machine answers one batch before the other is under way, the device is
/// slower the next time.
#[test]
fn a_stop_answers_batches_in_flight_and_refuses_new_ones() {
    let in_time = |latency_ms| a_stop_answers_two_batches(latency_ms);
    assert!(["250", "2500", "25000"].into_iter().any(in_time));
}

/// Returns `false` if the two were not in flight together.
fn a_stop_answers_two_batches(latency_ms: &str) -> bool {
    let slow = device("memory", &[("latency_ms", latency_ms)]);
    let served = Served::new(vec![export("slow", slow)]);
    let there = served.open("slow");
    let mut pipeline = there.pipeline(4).unwrap();
    pipeline.send(vec![write(0, vec![3; 512])], false).unwrap();
    let alone = there.clone();
    let waits = thread::spawn(move || alone.batch(&[read(9, 1)], false));
    served.until("under way", |served| {
        pipeline.flush();
        outstanding(served, "slow") == 2 || requests(served, "slow") > 0
    });
    let idle = served.open("slow");
    if requests(&served, "slow") > 0 {
        return false;
    }
    let start = Instant::now();
    served.rpc.stop(Duration::from_secs(200));
    assert!(start.elapsed() < Duration::from_secs(100), "not all of the grace");
    assert_eq!(waits.join().unwrap().unwrap().outcomes.len(), 1);
    let (_, answer) = pipeline.receive().unwrap().unwrap();
    answer.unwrap();
    // The stream has ended, with its reason.
    let late = pipeline.send(vec![write(1, vec![3; 512])], false);
    let ended = late.and_then(|_| pipeline.receive().map(drop)).unwrap_err();
    match ended {
        Error::Refused { code, message } => {
            assert_eq!(code, Code::Unavailable);
            assert!(message.contains("stopping"), "{message}");
        }
        Error::Ended(_) => {}
        other => panic!("{other:?}"),
    }
    let Err(Error::Ended(why)) = idle.batch(&[write(2, vec![3; 512])], false) else {
        panic!();
    };
    assert!(why.contains("s.sock") && why.contains("ended the connection"), "{why}");
    assert!(!served.socket.exists());
    assert_eq!(served.rpc.clients(), 0);
    let export = served.server.exports().named("slow").unwrap();
    let mut written = [1; 1536];
    export.store().read(0, &mut written).unwrap();
    assert_eq!(written[..512], [3; 512]);
    assert_eq!(written[512..], [0; 1024], "what was refused was not done");
    served.rpc.stop(Duration::ZERO);
    for (kind, what) in served.rpc.to_json()["troubles"].as_object().unwrap() {
        assert_eq!(what["count"], 0, "{kind}: {what}");
    }
    true
}

/// The grace bounds the wait for a batch of a minute and for a client that has not sent
/// its preface.
#[test]
fn a_stop_waits_at_most_the_grace() {
    let slow = device("memory", &[("latency_ms", "60000")]);
    let served = Served::new(vec![export("slow", slow)]);
    let there = served.open("slow");
    let shy = crate::raw::connected(&served);
    let waits = thread::spawn(move || there.batch(&[read(9, 1)], false));
    served.until("under way", |served| outstanding(served, "slow") == 1);
    served.until("both there", |served| served.rpc.clients() == 2);
    let start = Instant::now();
    served.rpc.stop(Duration::from_millis(100));
    assert!(start.elapsed() < Duration::from_secs(120));
    let error = waits.join().unwrap().unwrap_err();
    assert!(matches!(error, Error::Ended(_)), "{error:?}");
    drop(shy);
}

#[test]
fn absent_and_foreign_servers_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("n.sock");
    let address = Address::Unix(path.clone());
    let options = Options { patience: Duration::from_millis(300), ..Options::default() };
    let refused = |address: &Address| match Client::connect(address, &options) {
        Err(Error::Connect(why)) => why,
        other => panic!("{:?}", other.err()),
    };
    assert!(refused(&address).contains("No such file"));
    // A server that never answers.
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    assert!(refused(&address).contains("within 0.3 s"));
    // An NBD server.
    drop(listener);
    let exports = Served::new(vec![export("m", device("cmu2003", &[]))]);
    let nbd = Address::Tcp("127.0.0.1".into(), 0);
    let nbd = sledsim_emulator::nbd::NbdServer::start(
        &nbd,
        exports.server.exports().clone(),
        &sledsim_emulator::net::Settings::default(),
    );
    let nbd = nbd.unwrap();
    let uri = nbd.uri();
    let address = uri.strip_prefix("nbd://").unwrap().parse().unwrap();
    let why = refused(&address);
    assert!(why.contains("no sledsim server for RPC") || why.contains("within"), "{why}");
    let why = refused(&Address::Tcp("127.0.0.1".into(), 1));
    assert!(why.contains("refused"), "{why}");
}

/// A call that waits for a batch of a minute can be given up; the connection stays
/// usable.
#[test]
fn a_waiting_call_can_be_given_up() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    let slow = device("memory", &[("latency_ms", "60000")]);
    let served = Served::new(vec![export("slow", slow), export("m", device("cmu2003", &[]))]);
    let wanted = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&wanted);
    let options = Options {
        give_up: Some(Arc::new(move || asked.load(Ordering::SeqCst))),
        ..Options::default()
    };
    let client = Client::connect(&Address::Unix(served.socket.clone()), &options).unwrap();
    let there = client.open("slow").unwrap();
    let waits = thread::spawn(move || there.batch(&[read(9, 1)], false));
    served.until("under way", |served| outstanding(served, "slow") == 1);
    wanted.store(true, Ordering::SeqCst);
    assert_eq!(waits.join().unwrap(), Err(Error::GivenUp));
    wanted.store(false, Ordering::SeqCst);
    let there = client.open("m").unwrap();
    there.batch(&[read(0, 1)], false).unwrap();
    assert_eq!(outstanding(&served, "slow"), 1, "the server goes on with it");
}

/// Clients that connect during a stop are refused, or find the connection ended; none
/// of their batches is executed.
#[test]
fn no_batch_begins_during_a_stop() {
    let slow = device("memory", &[("latency_ms", "1000")]);
    let exports = vec![export("slow", slow), export("m", device("cmu2003", &[]))];
    let mut served = Served::new(exports);
    let there = served.open("slow");
    let late: Vec<_> = (0..20).map(|_| served.open("m")).collect();
    let waits = thread::spawn(move || there.batch(&[read(9, 1)], false));
    served.until("under way", |served| outstanding(served, "slow") == 1);
    let socket = served.socket.clone();
    let rpc = &mut served.rpc;
    thread::scope(|scope| {
        scope.spawn(|| rpc.stop(Duration::from_secs(120)));
        while socket.exists() {
            thread::yield_now();
        }
        for there in &late {
            match there.batch(&[write(0, vec![1; 512])], false) {
                Err(Error::Refused { code, message }) => {
                    assert_eq!(code, Code::Unavailable, "{message}");
                }
                Err(Error::Ended(_)) => {}
                other => panic!("{other:?}"),
            }
        }
    });
    waits.join().unwrap().unwrap();
    let export = served.server.exports().named("m").unwrap();
    assert_eq!(export.store().allocated(), 0);
}
