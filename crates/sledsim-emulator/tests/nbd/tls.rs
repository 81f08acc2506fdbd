//! TLS, with certificates made by `openssl` and rustls as the client.

use super::client::*;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use sledsim_emulator::nbd::NbdServer;
use sledsim_emulator::net::{Address, Admission, TlsSpec};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

type Secure = StreamOwned<ClientConnection, TcpStream>;

fn openssl(folder: &Path, line: &str) -> bool {
    let mut command = Command::new("openssl");
    command.current_dir(folder).args(line.split(' '));
    command.output().is_ok_and(|output| {
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "openssl {line}: {said}");
        true
    })
}

/// An authority with certificates for a server and a client, and another authority with
/// another client. `None` without `openssl`.
fn certificates() -> Option<TempDir> {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
    for (authority, leaves) in [("ca", &["server", "client"][..]), ("other", &["stranger"])] {
        if !openssl(
            at,
            &format!(
                "req -x509 {key} -days 2 -subj /CN={authority} -keyout {authority}-key.pem -out {authority}-cert.pem"
            ),
        ) {
            #[expect(clippy::print_stderr, reason = "says that it was skipped")]
            let () = eprintln!("skipped: there is no openssl to make certificates with");
            return None;
        }
        for leaf in leaves {
            let own = format!("-keyout {leaf}-key.pem -out {leaf}-cert.pem");
            let by = format!("-CA {authority}-cert.pem -CAkey {authority}-key.pem");
            let names = "-addext subjectAltName=DNS:localhost,IP:127.0.0.1 -addext basicConstraints=critical,CA:false";
            openssl(at, &format!("req -x509 {key} -days 2 -subj /CN={leaf} {by} {names} {own}"));
        }
    }
    Some(folder)
}

fn serve(server: &sledsim_emulator::server::Server, tls: TlsSpec) -> NbdServer {
    let settings = admitting(Admission { tls: Some(tls), ..Admission::default() });
    let address = Address::Tcp("127.0.0.1".to_owned(), 0);
    NbdServer::start(&address, server.exports().clone(), &settings).unwrap()
}

/// A client after the unencrypted greeting.
fn plain(nbd: &NbdServer) -> Client<TcpStream> {
    let uri = nbd.uri();
    let mut client = Client::tcp(uri.strip_prefix("nbds://").unwrap());
    client.greet(FIXED | NO_ZEROES);
    client
}

/// Starts TLS, with the certificate of `who` if given.
fn secure(client: Client<TcpStream>, certificates: &Path, who: Option<&str>) -> Client<Secure> {
    let mut client = client;
    assert_eq!(client.replies(STARTTLS, &[]), [(ACK, vec![])]);
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(certificates.join("ca-cert.pem")).unwrap()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let config = match who {
        None => builder.with_no_client_auth(),
        Some(who) => {
            let file = |what: &str| certificates.join(format!("{who}-{what}.pem"));
            let certificate = CertificateDer::from_pem_file(file("cert")).unwrap();
            let key = PrivateKeyDer::from_pem_file(file("key")).unwrap();
            builder.with_client_auth_cert(vec![certificate], key).unwrap()
        }
    };
    let name = ServerName::try_from("localhost").unwrap();
    let tls = ClientConnection::new(Arc::new(config), name).unwrap();
    Client::on(StreamOwned::new(tls, client.wire))
}

/// Whether a client with such a certificate is admitted.
fn is_admitted(nbd: &NbdServer, certificates: &Path, who: Option<&str>) -> bool {
    let mut client = secure(plain(nbd), certificates, who);
    let sent = client.wire.write_all(b"IHAVEOPT\0\0\0\x03\0\0\0\0");
    sent.is_ok() && client.wire.read_exact(&mut [0; 20]).is_ok()
}

fn client_errors(nbd: &NbdServer, kind: &str) -> u64 {
    nbd.to_json()["troubles"][kind]["count"].as_u64().unwrap()
}

fn until(what: impl Fn() -> bool) {
    let start = Instant::now();
    while !what() {
        assert!(start.elapsed() < Duration::from_secs(120));
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn only_clients_with_a_certificate_are_served() {
    let Some(folder) = certificates() else { return };
    let server = exports(&[Wanted::quick("d", 64 << 20)]);
    let nbd = serve(&server, TlsSpec::new(folder.path()));
    // Before TLS only STARTTLS and ABORT are accepted.
    let mut client = plain(&nbd);
    for option in [LIST, INFO, GO, STRUCTURED_REPLY, LIST_META, SET_META, 11, 99] {
        assert_eq!(client.replies(option, &info("d", &[]))[0].0, ERR_TLS_REQD, "{option}");
    }
    assert_eq!(client.replies(ABORT, &[]), [(ACK, vec![])]);
    assert!(client.is_closed());
    let mut client = plain(&nbd);
    client.option(EXPORT_NAME, b"d");
    assert!(client.is_closed());
    assert_eq!(client_errors(&nbd, "refused_handshakes"), 1);
    for (who, may) in [(Some("client"), true), (None, false), (Some("stranger"), false)] {
        assert_eq!(is_admitted(&nbd, folder.path(), who), may, "{who:?}");
    }
    until(|| client_errors(&nbd, "tls_failures") == 2);
    let mut client = secure(plain(&nbd), folder.path(), Some("client"));
    assert_eq!(client.replies(STARTTLS, &[])[0].0, ERR_INVALID);
    client.structure();
    client.set_allocation("d");
    client.go("d");
    // Small and large, both directions.
    for bytes in [512, 4096, 100 << 10, 32 << 20] {
        let data: Vec<u8> = (0..bytes).map(|at: usize| (at / 512 * 5 + at) as u8).collect();
        assert_eq!(client.write(512, &data), Ok(()));
        assert!(client.read(512, bytes as u32).unwrap() == data);
    }
    assert_eq!(client.command(FLUSH, 0, 0, 0), Ok(()));
    // Disconnect, after the last replies.
    for cookie in 0..4 {
        client.ask(READ, 0, cookie, 0, 4 << 20);
    }
    client.ask(DISC, 0, 0, 0, 0);
    for cookie in 0..4 {
        assert_eq!(client.answer(4 << 20).cookie, cookie);
    }
    // With the TLS close notification: no data were cut off.
    assert_eq!(client.wire.read(&mut [0; 1]).unwrap(), 0);
    until(|| nbd.clients() == 0);
    assert_eq!(client_errors(&nbd, "disconnects_mid_request"), 0);
}

#[test]
fn tls_can_be_optional() {
    let Some(folder) = certificates() else { return };
    let server = exports(&[Wanted::quick("d", 1 << 20)]);
    let spec = TlsSpec { required: false, allow_anonymous: true, ..TlsSpec::new(folder.path()) };
    let nbd = serve(&server, spec);
    let mut client = plain(&nbd);
    client.go("d");
    assert_eq!(client.write(0, &[3; 512]), Ok(()));
    // Options negotiated without TLS do not count.
    let mut client = plain(&nbd);
    client.structure();
    client.set_allocation("d");
    let mut client = secure(client, folder.path(), None);
    let early = client.replies(SET_META, &meta("d", &["base:allocation"]));
    assert_eq!(early[0].0, ERR_INVALID);
    client.go("d");
    assert_eq!(client.read(0, 512), Ok(vec![3; 512]));
    // A certificate that is shown must be valid.
    assert!(is_admitted(&nbd, folder.path(), Some("client")));
    assert!(!is_admitted(&nbd, folder.path(), Some("stranger")));
}

/// Options sent with STARTTLS without encryption would count as encrypted.
#[test]
fn bytes_before_tls_end_the_handshake() {
    let Some(folder) = certificates() else { return };
    let server = exports(&[Wanted::quick("d", 1 << 20)]);
    let nbd = serve(&server, TlsSpec::new(folder.path()));
    let mut client = plain(&nbd);
    client.say(b"IHAVEOPT\0\0\0\x05\0\0\0\0IHAVEOPT\0\0\0\x03\0\0\0\0");
    assert!(client.is_closed());
    until(|| client_errors(&nbd, "protocol_errors") == 1);
    // Bytes other than TLS also end it, as does silence.
    let mut client = plain(&nbd);
    assert_eq!(client.replies(STARTTLS, &[]), [(ACK, vec![])]);
    client.say(&[0x55; 100]);
    assert!(client.is_closed());
    until(|| client_errors(&nbd, "tls_failures") == 1);
    let mut client = plain(&nbd);
    assert_eq!(client.replies(STARTTLS, &[]), [(ACK, vec![])]);
    drop(client);
    until(|| nbd.clients() == 0);
}

#[test]
fn a_stop_ends_clients_that_do_not_read() {
    let Some(folder) = certificates() else { return };
    let server = exports(&[Wanted::quick("d", 64 << 20)]);
    let nbd = serve(&server, TlsSpec::new(folder.path()));
    let mut client = secure(plain(&nbd), folder.path(), Some("client"));
    client.go("d");
    for cookie in 0..3 {
        client.ask(READ, 0, cookie, 0, 16 << 20);
    }
    let mut half = plain(&nbd);
    assert_eq!(half.replies(STARTTLS, &[]), [(ACK, vec![])]);
    // An answer in flight is larger than the socket buffers.
    until(|| requests(&server, "d") > 0);
    let start = Instant::now();
    nbd.stop(Duration::from_millis(100));
    assert!(start.elapsed() < Duration::from_secs(120), "{:?}", start.elapsed());
    assert_eq!(nbd.clients(), 0);
}

#[test]
fn unusable_certificates_are_reported() {
    let Some(folder) = certificates() else { return };
    let server = exports(&[Wanted::quick("d", 1 << 20)]);
    let at = folder.path();
    let refused = |spec: TlsSpec, host: &str| {
        let settings = admitting(Admission { tls: Some(spec), ..Admission::default() });
        let address = Address::Tcp(host.to_owned(), 0);
        let started = NbdServer::start(&address, server.exports().clone(), &settings);
        started.err().map(|error| error.to_string())
    };
    let spec = || TlsSpec::new(at);
    assert_eq!(refused(spec(), "0.0.0.0"), None, "clients have certificates");
    for spec in [TlsSpec { required: false, ..spec() }, TlsSpec { allow_anonymous: true, ..spec() }]
    {
        assert_eq!(refused(spec.clone(), "127.0.0.1"), None);
        let error = refused(spec, "0.0.0.0").unwrap();
        assert!(error.contains("--allow-unauthenticated-remote"), "{error}");
    }
    let swap = |file: &str, content: Option<&[u8]>| {
        let path = at.join(file);
        let old = std::fs::read(&path).ok();
        match content {
            Some(content) => std::fs::write(&path, content).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        old
    };
    let foreign = std::fs::read(at.join("stranger-key.pem")).unwrap();
    for (file, content, problem) in [
        ("server-cert.pem", None, "server-cert.pem: No such file"),
        ("server-cert.pem", Some(&b""[..]), "server-cert.pem: contains no PEM item"),
        ("server-key.pem", Some(b"x"), "server-key.pem: contains no PEM item"),
        ("server-key.pem", Some(&foreign), "server-cert.pem: does not match"),
        ("ca-cert.pem", None, "tls_allow_anonymous"),
        (
            "ca-cert.pem",
            Some(b"-----BEGIN CERTIFICATE-----\nAA\n-----END CERTIFICATE-----\n"),
            "ca-cert.pem",
        ),
        ("ca-crl.pem", Some(b""), "ca-crl.pem: contains no PEM item"),
    ] {
        let old = swap(file, content);
        let error = refused(spec(), "127.0.0.1").unwrap();
        assert!(error.contains(problem), "{error}");
        match old {
            Some(old) => drop(swap(file, Some(&old))),
            None => std::fs::remove_file(at.join(file)).unwrap(),
        }
    }
    std::fs::remove_file(at.join("ca-cert.pem")).unwrap();
    let anonymous = TlsSpec { allow_anonymous: true, ..spec() };
    assert_eq!(refused(anonymous, "127.0.0.1"), None);
}

/// Issues the certificate of the server anew, valid between these times.
fn issue(at: &Path, start: &str, end: &str) {
    let configuration = "[ca]\ndefault_ca=d\n[d]\ndatabase=index\nnew_certs_dir=.\nrand_serial=yes\n\
        default_md=sha256\npolicy=p\nx509_extensions=e\n[p]\ncommonName=supplied\n[e]\n\
        basicConstraints=CA:false\n";
    std::fs::write(at.join("ca.cnf"), configuration).unwrap();
    std::fs::write(at.join("index"), "").unwrap();
    openssl(at, "req -new -key server-key.pem -subj /CN=server -out server.csr");
    let files = "-cert ca-cert.pem -keyfile ca-key.pem -in server.csr -out server-cert.pem";
    openssl(
        at,
        &format!("ca -batch -notext -config ca.cnf {files} -startdate {start} -enddate {end}"),
    );
}

#[test]
fn a_key_that_others_read_and_a_certificate_out_of_its_time_are_refused() {
    use std::os::unix::fs::PermissionsExt;
    let Some(folder) = certificates() else {
        return;
    };
    let (at, key) = (folder.path(), folder.path().join("server-key.pem"));
    let load = || TlsSpec::new(at).load().map_err(|error| error.to_string());
    for mode in [0o640, 0o604, 0o620] {
        std::fs::set_permissions(&key, PermissionsExt::from_mode(mode)).unwrap();
        let error = load().unwrap_err();
        let stated = error.contains("server-key.pem: has mode") && error.contains("chmod 600");
        assert!(stated && error.contains(&format!("{mode:04o}")), "{error}");
    }
    std::fs::set_permissions(&key, PermissionsExt::from_mode(0o600)).unwrap();
    load().unwrap();
    for (start, end, problem) in [
        ("20200101000000Z", "20210228235900Z", "expired 2021-02-28 23:59 UTC"),
        ("29500101000000Z", "29600101000000Z", "is not valid before 2950-01-01 00:00 UTC"),
    ] {
        issue(at, start, end);
        let error = load().unwrap_err();
        assert!(error.contains("server-cert.pem: ") && error.contains(problem), "{error}");
    }
    issue(at, "20200101000000Z", "29600101000000Z");
    load().unwrap();
}
