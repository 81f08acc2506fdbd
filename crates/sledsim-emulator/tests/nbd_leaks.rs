//! Clients leave no resources behind. In a process of its own, whose threads and open
//! files it counts.

mod nbd {
    #[allow(dead_code, reason = "others use the rest")]
    pub mod client;
}

use nbd::client::*;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect, socket};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sledsim_emulator::net::Admission;
use std::os::unix::net::UnixStream;
use std::time::Duration;

fn count(what: &str) -> usize {
    std::fs::read_dir(format!("/proc/self/{what}")).unwrap().count()
}

#[test]
fn a_thousand_clients_leave_no_thread_and_no_open_file() {
    let admission = Admission {
        max_clients: 200,
        patience: Duration::from_millis(500),
        ..Admission::default()
    };
    let before = (count("task"), count("fd"));
    let wanted = [Wanted::quick("quick", 64 << 20), Wanted::slow("slow", 1 << 20, 2.0)];
    let served = Served::with(&wanted, &admitting(admission));
    let here = (count("task"), count("fd"));
    for at in 0..1000u64 {
        match at % 10 {
            0 => drop(Client::silent(&served.socket)),
            1 => drop(Client::connect(&served.socket)),
            2 => {
                let mut client = Client::connect(&served.socket);
                client.say(b"IHAVEOPT\0\0\0\x07\0\0\0\x09\0\0");
            }
            3 => drop(Client::simple(&served.socket, "quick")),
            4 => {
                let mut client = Client::ready(&served.socket, "quick");
                client.say(&request(WRITE, 0, 1, 0, 8192)[..20]);
            }
            5 => {
                let mut client = Client::ready(&served.socket, "quick");
                client.say(&request(WRITE, 0, 1, 0, 8192));
                client.say(&[1; 5000]);
            }
            // Outstanding replies: in the device, and in transit.
            6 => {
                let mut client = Client::ready(&served.socket, "slow");
                client.ask(READ, 0, 1, 0, 512);
            }
            7 => {
                let mut client = Client::ready(&served.socket, "quick");
                client.ask(READ, 0, 1, 0, 4 << 20);
                client.ask(READ, 0, 2, 0, 4 << 20);
                client.hear(1 << 20);
            }
            8 => {
                let mut client = Client::ready(&served.socket, "quick");
                client.say(&[0xee; 500]);
            }
            _ => {
                let mut client = Client::simple(&served.socket, "slow");
                client.ask(READ, 0, 1, 0, 512);
                client.ask(DISC, 0, 0, 0, 0);
                client.answer(512);
                assert!(client.is_closed());
            }
        }
    }
    served.until(|served| served.nbd.clients() == 0);
    // The last ones are still ending.
    served.until(|_| count("task") <= here.0 && count("fd") <= here.1);
    let mut client = Client::ready(&served.socket, "quick");
    assert_eq!(client.write(0, &[1; 512]), Ok(()));
    drop(client);
    served.until(|served| served.nbd.clients() == 0);
    // If the system has no file descriptor for a client, the server waits for one.
    let limit = getrlimit(Resource::Nofile);
    let set =
        |current: Option<u64>| setrlimit(Resource::Nofile, Rlimit { current, ..limit }).unwrap();
    let socket = socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
    set(Some(3));
    connect(&socket, &SocketAddrUnix::new(&served.socket).unwrap()).unwrap();
    let mut client = Client::on(UnixStream::from(socket));
    served.until(|served| served.client_errors("failed_accepts") > 1);
    set(limit.current);
    client.greet(FIXED | NO_ZEROES);
    client.go("quick");
    assert_eq!(client.read(0, 512).unwrap()[..512], [1; 512]);
    drop(client);
    let facts = served.nbd.to_json();
    assert_eq!(facts["accepted"], 1002);
    assert_eq!(facts["troubles"]["too_many_clients"]["count"], 0);
    drop(served);
    assert_eq!((count("task"), count("fd")), before);
}
