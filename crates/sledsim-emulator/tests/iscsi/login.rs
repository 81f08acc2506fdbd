//! Logins, discovery, authentication.

use super::client::{Served, TARGET, head, text};
use md5::{Digest, Md5};
use sledsim_emulator::iscsi::{IscsiServer, Place, Secrets, Settings};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

type Key<'a> = (&'a str, &'a str);

const NAMES: [Key<'static>; 2] = [("InitiatorName", "iqn.a"), ("TargetName", TARGET)];

#[test]
fn the_target_answers_by_the_negotiated_parameters() {
    let served = Served::new(&Settings::default());
    let mut initiator = served.connect();
    let keys = [("HeaderDigest", "CRC32C,None"), ("DataDigest", "CRC32C"), ("InitialR2T", "No")];
    let answers = initiator.log_in(&keys);
    assert!(answers.contains("MaxRecvDataSegmentLength=262144\0"));
    // Digests are on in both directions: the answer is checked as it is received.
    assert_eq!(initiator.execute(0, &[0; 6], 0, &[]).sense(), (6, 0x29, 0));
    assert_eq!(initiator.execute(0, &[0; 6], 0, &[]).head[3], 0);
}

#[test]
fn logins_that_cannot_be_are_refused_with_their_status() {
    let served = Served::new(&Settings::default());
    let cases: [(&[Key<'_>], (u8, u8)); 5] = [
        (&[("TargetName", TARGET)], (2, 7)),
        (&[("InitiatorName", "iqn.a")], (2, 7)),
        (&[("InitiatorName", "iqn.a"), ("TargetName", "iqn.b")], (2, 3)),
        (&[("InitiatorName", "iqn.a"), ("SessionType", "Other")], (2, 9)),
        (&[NAMES[0], NAMES[1], ("AuthMethod", "CHAP")], (2, 1)),
    ];
    for (keys, status) in cases {
        let mut initiator = served.connect();
        assert_eq!(initiator.login(0, Some(1), keys).login_status(), status, "{keys:?}");
        assert!(initiator.is_ended());
    }
    assert_eq!(served.troubles("refused_handshakes"), 5);
    let mut backwards = served.connect();
    assert_eq!(backwards.login(1, Some(0), &NAMES).login_status(), (2, 0));
    let mut invalid = served.connect();
    let answer = invalid.login(1, Some(3), &[NAMES[0], NAMES[1], ("MaxBurstLength", "7")]);
    assert_eq!(answer.login_status(), (2, 0));
}

/// RFC 7143, sections 6.3 (a key is negotiated once) and 13.14 (a first burst is no longer
/// than a burst), in one request or several.
#[test]
fn keys_agree_over_all_requests_of_a_login() {
    let served = Served::new(&Settings::default());
    let answered = |offers: &[&[Key<'_>]]| {
        let mut initiator = served.connect();
        initiator.login(0, Some(1), &[NAMES[0], NAMES[1], ("AuthMethod", "None")]);
        let mut said = String::new();
        for keys in offers {
            let answer = initiator.login(1, None, keys);
            if answer.login_status() != (0, 0) {
                return Err(answer.login_status());
            }
            said += &String::from_utf8(answer.data).unwrap();
        }
        Ok(said)
    };
    let (first, burst) = (("FirstBurstLength", "65536"), ("MaxBurstLength", "4096"));
    for offers in [&[&[burst, first][..]][..], &[&[first, burst]], &[&[burst], &[first]]] {
        let said = answered(offers).unwrap();
        assert!(said.contains("FirstBurstLength=4096\0"), "{said}");
    }
    assert_eq!(answered(&[&[first], &[burst]]), Err((2, 0)));
    assert_eq!(answered(&[&[burst], &[burst]]), Err((2, 0)));
    assert_eq!(answered(&[&[("InitialR2T", "No")], &[("InitialR2T", "Yes")]]), Err((2, 0)));
}

#[test]
fn keys_may_continue_in_the_next_request() {
    let served = Served::new(&Settings::default());
    let mut initiator = served.connect();
    let (first, second) = (&text(&NAMES)[..20], &text(&NAMES)[20..]);
    initiator.send(head(0x43, 0x44, 0, 0, &[(24, 1)]), first);
    let asked = initiator.receive().unwrap();
    assert_eq!((asked.opcode(), asked.head[1], asked.data.len()), (0x23, 0x04, 0));
    initiator.send(head(0x43, 0x87, 0, 0, &[(24, 1)]), second);
    assert_eq!(initiator.receive().unwrap().head[1], 0x87);
}

#[test]
fn discovery_names_the_target_and_where_it_is() {
    let served = Served::new(&Settings::default());
    let mut initiator = served.connect();
    let answer = initiator.login(1, Some(3), &[NAMES[0], ("SessionType", "Discovery")]);
    assert_eq!(answer.head[1], 0x87);
    initiator.send(head(0x04, 0x80, 0, 1, &[(20, u32::MAX), (24, 1)]), b"SendTargets=All\0");
    let answer = initiator.receive().unwrap();
    let address = initiator.wire.peer_addr().unwrap();
    let expected = text(&[("TargetName", TARGET), ("TargetAddress", &format!("{address},1"))]);
    assert_eq!(answer.data, expected);
    // It executes no commands.
    initiator.cmd_sn = 2;
    initiator.command(0x81, 0, &[0; 6], 0, &[]);
    assert_eq!(initiator.receive().unwrap().opcode(), 0x3f);
}

/// A file of secrets with this mode.
fn secrets(text: &str, mode: u32) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("secrets");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    (folder, path)
}

fn with_secrets() -> Settings {
    let text = "initiator alice 0123456789ab\ntarget sled abcdefghijkl\n";
    let (_folder, path) = secrets(text, 0o600);
    Settings { secrets: Some(Secrets::load(&path).unwrap()), ..Settings::default() }
}

fn value(text: &[u8], key: &str) -> String {
    let text = String::from_utf8(text.to_vec()).unwrap();
    let pair = text.split('\0').find_map(|pair| pair.strip_prefix(&format!("{key}=")));
    pair.unwrap_or_else(|| panic!("{key} in {text:?}")).to_owned()
}

/// The response of RFC 1994 with MD5.
fn response(id: u8, secret: &str, challenge: &str) -> String {
    let bytes = (2..challenge.len()).step_by(2);
    let bytes = bytes.map(|at| u8::from_str_radix(&challenge[at..at + 2], 16).unwrap());
    let hash = Md5::new().chain_update([id]).chain_update(secret);
    let hash = hash.chain_update(bytes.collect::<Vec<_>>()).finalize();
    let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}")
}

/// Logs in with a secret; returns the last answer.
fn authenticate(served: &Served, secret: &str, more: &[(&str, &str)]) -> super::client::Pdu {
    respond(served, secret, more, str::to_owned)
}

/// As [`authenticate`], with what `change` makes of the response.
fn respond(
    served: &Served,
    secret: &str,
    more: &[(&str, &str)],
    change: impl Fn(&str) -> String,
) -> super::client::Pdu {
    let mut initiator = served.connect();
    let answer = initiator.login(0, None, &[NAMES[0], NAMES[1], ("AuthMethod", "None,CHAP")]);
    assert_eq!(value(&answer.data, "AuthMethod"), "CHAP");
    let answer = initiator.login(0, None, &[("CHAP_A", "8,5,7")]);
    assert_eq!(value(&answer.data, "CHAP_A"), "5");
    let id = value(&answer.data, "CHAP_I").parse().unwrap();
    let response = change(&response(id, secret, &value(&answer.data, "CHAP_C")));
    let keys = [("CHAP_N", "alice"), ("CHAP_R", &response)];
    initiator.login(0, Some(1), &[&keys[..], more].concat())
}

#[test]
fn initiators_with_the_right_secret_are_let_in() {
    let served = Served::new(&with_secrets());
    assert_eq!(authenticate(&served, "0123456789ab", &[]).head[1], 0x81);
    let wrong = authenticate(&served, "0123456789ax", &[]);
    assert_eq!(wrong.login_status(), (2, 1));
    // Both ways: the target proves that it has a secret, too.
    let challenge = "0x00112233445566778899aabbccddeeff";
    let mutual = authenticate(&served, "0123456789ab", &[("CHAP_I", "9"), ("CHAP_C", challenge)]);
    assert_eq!(value(&mutual.data, "CHAP_N"), "sled");
    assert_eq!(value(&mutual.data, "CHAP_R"), response(9, "abcdefghijkl", challenge));
}

#[test]
fn a_part_of_the_right_response_and_more_than_it_are_wrong() {
    let served = Served::new(&with_secrets());
    let changed =
        |change: fn(&str) -> String| respond(&served, "0123456789ab", &[], change).login_status();
    assert_eq!(changed(|_| "0x".to_owned()), (2, 1));
    assert_eq!(changed(|_| "0xyz".to_owned()), (2, 1));
    assert_eq!(changed(|right| right[..4].to_owned()), (2, 1));
    assert_eq!(changed(|right| right[..right.len() - 2].to_owned()), (2, 1));
    assert_eq!(changed(|right| format!("{right}00")), (2, 1));
    assert_eq!(changed(str::to_owned), (0, 0));
}

#[test]
fn no_stage_is_skipped_without_authentication() {
    let served = Served::new(&with_secrets());
    let mut initiator = served.connect();
    assert_eq!(initiator.login(1, Some(3), &NAMES).login_status(), (2, 1));
    let mut initiator = served.connect();
    let keys = [NAMES[0], NAMES[1], ("AuthMethod", "None")];
    assert_eq!(initiator.login(0, Some(1), &keys).login_status(), (2, 1));
    let mut initiator = served.connect();
    let keys = [NAMES[0], NAMES[1], ("AuthMethod", "CHAP")];
    let answer = initiator.login(0, Some(3), &keys);
    assert_eq!((answer.login_status(), answer.head[1]), ((0, 0), 0));
    // A response without a challenge.
    let keys = [("CHAP_N", "alice"), ("CHAP_R", "0x00")];
    assert_eq!(initiator.login(0, Some(3), &keys).login_status(), (2, 1));
}

#[test]
fn files_of_secrets_that_others_can_read_are_refused() {
    let (_folder, path) = secrets("initiator alice 0123456789ab\n", 0o640);
    let problem = Secrets::load(&path).unwrap_err().to_string();
    assert!(problem.contains("mode 0640") && problem.contains("chmod 600"), "{problem}");
    let (_folder, path) = secrets("initiator alice short\n", 0o600);
    let problem = Secrets::load(&path).unwrap_err().to_string();
    assert!(problem.contains("line 1") && !problem.contains("short"), "{problem}");
}

#[test]
fn addresses_beyond_this_machine_need_secrets() {
    let served = Served::new(&Settings::default());
    let place: Place = "0.0.0.0:0".parse().unwrap();
    let exports = served.server.exports();
    let refused = IscsiServer::start(&place, Arc::clone(exports), &Settings::default());
    let problem = refused.err().unwrap().to_string();
    assert!(problem.contains("--iscsi-secrets"), "{problem}");
    assert!(IscsiServer::start(&place, Arc::clone(exports), &with_secrets()).is_ok());
}

#[test]
fn names_and_addresses_are_checked() {
    for (text, problem) in [
        ("unix:/tmp/s", "socket file"),
        ("127.0.0.1:3260/sled", "iqn., eui. or naa."),
        ("127.0.0.1:3260/iqn.2026 x", "has a ' '"),
        ("127.0.0.1", "has no port"),
    ] {
        let found = text.parse::<Place>().unwrap_err().to_string();
        assert!(found.contains(problem), "{found}");
    }
}

#[test]
fn a_new_session_of_an_initiator_port_replaces_the_old_one() {
    let served = Served::new(&Settings::default());
    let mut old = served.session();
    let mut new = served.connect();
    let mut request = head(0x43, 0x87, 0, 0, &[(24, 1)]);
    request[8..14].copy_from_slice(&[0x80, 0, 0, 0, 0, 1]);
    let port = old.wire.local_addr().unwrap().port();
    request[11..13].copy_from_slice(&port.to_be_bytes());
    let names = [("InitiatorName", "iqn.2026-11.com.example:test"), NAMES[1]];
    new.send(request, &text(&names));
    assert_eq!(new.receive().unwrap().head[1], 0x87);
    assert!(old.is_ended());
}
