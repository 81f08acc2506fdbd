//! Addresses to listen at, and refused ones.

use super::client::*;
use sledsim_emulator::nbd::NbdServer;
use sledsim_emulator::net::{Address, Admission, Settings};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::time::Duration;

fn tcp(host: &str, port: u16) -> Address {
    Address::Tcp(host.to_owned(), port)
}

#[test]
fn addresses_are_parsed() {
    for (text, address) in [
        ("unix:/tmp/s.sock", Address::Unix("/tmp/s.sock".into())),
        ("unix:s", Address::Unix("s".into())),
        ("tcp:127.0.0.1:10809", tcp("127.0.0.1", 10809)),
        ("localhost:0", tcp("localhost", 0)),
        ("tcp::10809", tcp("127.0.0.1", 10809)),
        (":1", tcp("127.0.0.1", 1)),
        ("[::1]:65535", tcp("::1", 65535)),
        ("tcp:[::]:5", tcp("::", 5)),
    ] {
        assert_eq!(text.parse::<Address>().unwrap(), address, "{text}");
        assert_eq!(address.to_string().parse::<Address>().unwrap(), address);
    }
    for (text, problem) in [
        ("", "has no port"),
        ("localhost", "has no port"),
        ("unix:", "has no path"),
        ("/tmp/s.sock", "is neither of the two"),
        ("tcp:host:", "port ''"),
        ("tcp:host:70000", "port '70000'"),
        ("tcp:host:-1", "port '-1'"),
        ("host:x", "port 'x'"),
        ("::1:80", "brackets"),
        ("[]:80", "no host"),
        ("[::1:80", "brackets"),
    ] {
        let error = text.parse::<Address>().unwrap_err().to_string();
        assert!(error.contains(problem) && error.contains(&format!("'{text}'")), "{error}");
        assert!(error.contains("unix:PATH or tcp:HOST:PORT"), "{error}");
    }
}

fn start(
    server: &sledsim_emulator::server::Server,
    address: &Address,
) -> Result<NbdServer, String> {
    NbdServer::start(address, server.exports().clone(), &Settings::default())
        .map_err(|error| error.to_string())
}

#[test]
fn a_socket_file_is_private_and_exclusive() {
    let folder = tempfile::tempdir().unwrap();
    let server = exports(&[Wanted::quick("d", 1 << 20)]);
    let path = folder.path().join("a b.sock");
    let address = Address::Unix(path.clone());
    let first = start(&server, &address).unwrap();
    assert!(first.uri().starts_with("nbd+unix:///?socket=/"), "{}", first.uri());
    assert!(first.uri().ends_with("/a%20b.sock"), "{}", first.uri());
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let second = start(&server, &address).err().unwrap();
    assert!(second.contains("a b.sock") && second.contains("another server"), "{second}");
    let mut client = Client::simple(&path, "d");
    assert_eq!(client.read(0, 512), Ok(vec![0; 512]));
    first.stop(Duration::ZERO);
    assert!(!path.exists());
    // The stale socket of a killed server is replaced.
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let again = start(&server, &address).unwrap();
    let mut client = Client::simple(&path, "d");
    assert_eq!(client.read(0, 512), Ok(vec![0; 512]));
    // A socket of another server in its place is kept.
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "theirs").unwrap();
    drop(again);
    assert_eq!(std::fs::read(&path).unwrap(), b"theirs");
    let third = start(&server, &address).err().unwrap();
    assert!(third.contains("not a socket"), "{third}");
    assert_eq!(std::fs::read(&path).unwrap(), b"theirs");
    for (path, problem) in [
        (folder.path().join("none/s.sock"), "No such file"),
        (folder.path().join("x".repeat(120)), "too long"),
    ] {
        let error = start(&server, &Address::Unix(path)).err().unwrap();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn a_port_of_this_machine() {
    let server = exports(&[Wanted::quick("d", 1 << 20)]);
    let first = start(&server, &tcp("127.0.0.1", 0)).unwrap();
    let uri = first.uri();
    let place = uri.strip_prefix("nbd://").unwrap();
    assert!(place.starts_with("127.0.0.1:") && !place.ends_with(":0"), "{place}");
    let mut client = Client::tcp(place);
    client.greet(FIXED | NO_ZEROES);
    client.go("d");
    assert_eq!(client.write(0, &[1; 512]), Ok(()));
    assert_eq!(client.read(0, 512), Ok(vec![1; 512]));
    let taken = start(&server, &place.parse().unwrap()).err().unwrap();
    assert!(taken.contains(place) && taken.contains("in use"), "{taken}");
    let nowhere = start(&server, &tcp("no-such-host.invalid", 1)).err().unwrap();
    assert!(nowhere.contains("no such host"), "{nowhere}");
    if TcpListener::bind("[::1]:0").is_ok() {
        let six = start(&server, &"[::1]:0".parse().unwrap()).unwrap();
        let place = six.uri();
        assert!(place.starts_with("nbd://[::1]:"), "{place}");
        let mut client = Client::tcp(place.strip_prefix("nbd://").unwrap());
        client.greet(FIXED | NO_ZEROES);
        client.go("d");
    }
}

#[test]
fn remote_addresses_need_authentication_or_explicit_permission() {
    let server = exports(&[Wanted::quick("d", 1 << 20)]);
    for host in ["0.0.0.0", "::", "192.0.2.1", "::ffff:192.0.2.1"] {
        let error = start(&server, &tcp(host, 0)).err().unwrap();
        assert!(error.contains("--allow-unauthenticated-remote"), "{error}");
        assert!(error.contains("client certificates"), "{error}");
    }
    let open = admitting(Admission { allow_unauthenticated: true, ..Admission::default() });
    let address = tcp("0.0.0.0", 0);
    let open = NbdServer::start(&address, server.exports().clone(), &open).unwrap();
    let uri = open.uri();
    let port = uri.rsplit(':').next().unwrap();
    let mut client = Client::tcp(&format!("127.0.0.1:{port}"));
    client.greet(FIXED | NO_ZEROES);
    client.go("d");
}
