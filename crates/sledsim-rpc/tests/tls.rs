//! TLS, with certificates made by `openssl`.

use crate::served::*;
use sledsim_emulator::net::{Admission, TlsSpec};
use sledsim_rpc::client::{Address, Client, Error, Options};
use sledsim_rpc::server::{self as rpc, RpcServer, Settings};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

fn openssl(folder: &Path, line: &str) -> bool {
    let mut command = Command::new("openssl");
    command.current_dir(folder).args(line.split(' '));
    command.output().is_ok_and(|output| {
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "openssl {line}: {said}");
        true
    })
}

/// Certificate folders of a server and its client, and of a client of another
/// authority. `None` without `openssl`.
fn certificates() -> Option<TempDir> {
    let folder = tempfile::tempdir().unwrap();
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
    for (name, leaves) in [("ours", &["server", "client"][..]), ("others", &["client"])] {
        let at = folder.path().join(name);
        std::fs::create_dir(&at).unwrap();
        let own = "-subj /CN=ca -keyout ca-key.pem -out ca-cert.pem";
        if !openssl(&at, &format!("req -x509 {key} -days 2 {own}")) {
            #[expect(clippy::print_stderr, reason = "says that it was skipped")]
            let () = eprintln!("skipped: there is no openssl to make certificates with");
            return None;
        }
        for leaf in leaves {
            let own = format!("-subj /CN={leaf} -keyout {leaf}-key.pem -out {leaf}-cert.pem");
            let by = "-CA ca-cert.pem -CAkey ca-key.pem";
            let names = "-addext subjectAltName=DNS:localhost,IP:127.0.0.1 -addext basicConstraints=critical,CA:false";
            openssl(&at, &format!("req -x509 {key} -days 2 {by} {names} {own}"));
        }
    }
    // Of the same authority, but without a certificate of its own.
    let anonymous = folder.path().join("anonymous");
    std::fs::create_dir(&anonymous).unwrap();
    let ours = folder.path().join("ours");
    std::fs::copy(ours.join("ca-cert.pem"), anonymous.join("ca-cert.pem")).unwrap();
    Some(folder)
}

fn connect(rpc: &RpcServer, tls: Option<PathBuf>) -> Result<Client, String> {
    let address = rpc.uri().strip_prefix("dns:").unwrap().parse().unwrap();
    let options = Options { tls, ..Options::default() };
    match Client::connect(&address, &options) {
        Ok(client) => Ok(client),
        Err(Error::Connect(why)) => Err(why),
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn only_clients_with_a_certificate_are_served() {
    let Some(folder) = certificates() else {
        return;
    };
    let served = Served::new(vec![export("m", device("cmu2003", &[]))]);
    let settings = admitting(Admission {
        tls: Some(TlsSpec::new(folder.path().join("ours"))),
        ..Admission::default()
    });
    for host in ["localhost", "0.0.0.0"] {
        let address = Address::Tcp(host.to_owned(), 0);
        let rpc = rpc::serve(&address, served.server.exports().clone(), &settings).unwrap();
        if host == "0.0.0.0" {
            continue;
        }
        let client = connect(&rpc, Some(folder.path().join("ours"))).unwrap();
        let there = client.open("m").unwrap();
        there.batch(&[write(5, vec![9; 4096])], false).unwrap();
        assert_eq!(there.batch(&[read(5, 8)], false).unwrap().outcomes[0].data, [9; 4096][..]);
        for name in ["others", "anonymous"] {
            let why = connect(&rpc, Some(folder.path().join(name))).err().unwrap();
            assert!(why.contains("TLS"), "{name}: {why}");
        }
        let why = connect(&rpc, None).err().unwrap();
        assert!(why.contains("wants TLS"), "{why}");
        let why = connect(&rpc, Some(folder.path().to_owned())).err().unwrap();
        assert!(why.contains("ca-cert.pem"), "{why}");
    }
}

#[test]
fn remote_addresses_need_tls() {
    let served = Served::new(vec![export("m", device("cmu2003", &[]))]);
    let start = |settings: &Settings| {
        let address = Address::Tcp("0.0.0.0".to_owned(), 0);
        rpc::serve(&address, served.server.exports().clone(), settings)
    };
    let why = start(&Settings::default()).err().unwrap().to_string();
    assert!(why.contains("other machines"), "{why}");
    let open = admitting(Admission { allow_unauthenticated: true, ..Admission::default() });
    start(&open).unwrap();
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(&served.socket).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}
