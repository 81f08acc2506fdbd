//! Authentication by CHAP (RFC 7143, section 12.1; RFC 1994), with MD5 or SHA-256.

use crate::net::open_private;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use md5::Md5;
use sha2::{Digest, Sha256};
use sledsim_base::error::{Error, Result};
use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter, Write};
use std::io::Read;
use std::path::Path;

/// The least bytes of a secret (96 bits).
const SECRET_MINIMUM: usize = 12;
/// The most.
const SECRET_MAXIMUM: usize = 255;
/// The most bytes of a file of secrets.
const FILE_MAXIMUM: u64 = 1 << 20;

/// The secrets of initiators, and that of the target.
#[derive(Clone)]
pub struct Secrets {
    initiators: BTreeMap<String, String>,
    /// The name and the secret with which the target authenticates itself.
    target: Option<(String, String)>,
}

impl Debug for Secrets {
    /// Shows no secret.
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "Secrets of {} initiators", self.initiators.len())
    }
}

impl Secrets {
    /// Reads a file of secrets. Each line is `initiator NAME SECRET` or, once at most,
    /// `target NAME SECRET`; `#` begins a comment.
    ///
    /// # Errors
    /// A file that is missing, that others than its owner may read or write, or that
    /// another user owns; an invalid line.
    pub fn load(path: &Path) -> Result<Self> {
        let mut text = String::new();
        let read = open_private(path)?.take(FILE_MAXIMUM).read_to_string(&mut text);
        read.map_err(|error| Error::file(path, error))?;
        Self::parse(&text).map_err(|(line, why)| Error::file(path, format!("line {line}: {why}")))
    }

    /// Parses the text of such a file; returns the invalid line and why it is.
    fn parse(text: &str) -> std::result::Result<Self, (usize, String)> {
        let mut secrets = Self { initiators: BTreeMap::new(), target: None };
        for (line, content) in (1..).zip(text.lines()) {
            let refuse = |why: String| Err((line, why));
            let content = content.trim();
            if content.is_empty() || content.starts_with('#') {
                continue;
            }
            let words: Vec<&str> = content.split_whitespace().collect();
            let &[kind, name, secret] = &words[..] else {
                let count = words.len();
                return refuse(format!(
                    "{count} words: must be 'initiator NAME SECRET' or 'target NAME SECRET'"
                ));
            };
            if !(SECRET_MINIMUM..=SECRET_MAXIMUM).contains(&secret.len()) {
                let bytes = secret.len();
                return refuse(format!(
                    "a secret of {bytes} bytes: must have {SECRET_MINIMUM} to {SECRET_MAXIMUM}"
                ));
            }
            let (name, secret) = (name.to_owned(), secret.to_owned());
            let is_new = match kind {
                "initiator" => secrets.initiators.insert(name.clone(), secret).is_none(),
                "target" => secrets.target.replace((name.clone(), secret)).is_none(),
                _ => return refuse(format!("'{kind}': must be initiator or target")),
            };
            if !is_new {
                return refuse(format!("{kind} '{name}': there is a {kind} line before"));
            }
        }
        match (&secrets.target, secrets.initiators.is_empty()) {
            (_, true) => Err((1, "no line with a secret of an initiator".to_owned())),
            (Some((_, secret)), _) if secrets.initiators.values().any(|other| other == secret) => {
                Err((1, "target and an initiator have the same secret".to_owned()))
            }
            _ => Ok(secrets),
        }
    }
}

/// A hash function of CHAP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hash {
    Md5,
    Sha256,
}

impl Hash {
    /// The first known one of a list of numbers, with its number.
    pub(super) fn choose(list: &str) -> Option<(Self, &str)> {
        list.split(',').find_map(|number| match number {
            "5" => Some((Self::Md5, number)),
            "7" => Some((Self::Sha256, number)),
            _ => None,
        })
    }

    /// The response to a challenge.
    fn response(self, id: u8, secret: &str, challenge: &[u8]) -> Vec<u8> {
        fn digest<D: Digest>(id: u8, secret: &str, challenge: &[u8]) -> Vec<u8> {
            let mut hash = D::new();
            hash.update([id]);
            hash.update(secret.as_bytes());
            hash.update(challenge);
            hash.finalize().to_vec()
        }
        match self {
            Self::Md5 => digest::<Md5>(id, secret, challenge),
            Self::Sha256 => digest::<Sha256>(id, secret, challenge),
        }
    }
}

/// Bytes of a challenge.
const CHALLENGE: usize = 32;

/// The most bytes of a value (RFC 7143, section 12.1.3).
const VALUE_MAXIMUM: usize = 1024;

/// A challenge of the target to an initiator.
pub(super) struct Challenge {
    hash: Hash,
    id: u8,
    bytes: [u8; CHALLENGE],
}

impl Challenge {
    /// A new one, of the random numbers of the system.
    pub(super) fn new(hash: Hash) -> std::result::Result<Self, String> {
        let mut random = [0; CHALLENGE + 1];
        let got = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty());
        if got != Ok(random.len()) {
            return Err("the system gives no random numbers".to_owned());
        }
        let mut bytes = [0; CHALLENGE];
        bytes.copy_from_slice(&random[1..]);
        let id = random[0];
        Ok(Self { hash, id, bytes })
    }

    pub(super) fn id(&self) -> String {
        self.id.to_string()
    }

    pub(super) fn value(&self) -> String {
        hex(&self.bytes)
    }

    /// Whether `response` is that of the initiator called `name`.
    pub(super) fn is_answered(&self, secrets: &Secrets, name: &str, response: &str) -> bool {
        let Some(secret) = secrets.initiators.get(name) else {
            return false;
        };
        let expected = self.hash.response(self.id, secret, &self.bytes);
        let given = decode(response).unwrap_or_default();
        // The time does not tell how much of it is right.
        let differences = expected.iter().zip(&given).fold(0, |all, (a, b)| all | (a ^ b));
        given.len() == expected.len() && differences == 0
    }

    /// The name of the target, and its response to the challenge of an initiator.
    pub(super) fn answer(
        &self,
        secrets: &Secrets,
        id: &str,
        challenge: &str,
    ) -> std::result::Result<(String, String), &'static str> {
        let (name, secret) = (secrets.target.as_ref())
            .ok_or("the file of secrets has no target line to authenticate the target with")?;
        let id = id.parse().map_err(|_| "CHAP_I: must be from 0 to 255")?;
        let challenge =
            decode(challenge).ok_or("CHAP_C: must be 1 to 1024 bytes in hexadecimal or base64")?;
        if challenge == self.bytes {
            return Err("CHAP_C: is the challenge of the target");
        }
        let response = self.hash.response(id, secret, &challenge);
        Ok((name.clone(), hex(&response)))
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = "0x".to_owned();
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Decodes a value in hexadecimal or base64 (RFC 7143, section 6.1).
fn decode(text: &str) -> Option<Vec<u8>> {
    let (prefix, digits) = text.split_at_checked(2)?;
    let bytes = match prefix {
        "0x" | "0X" => unhex(digits)?,
        "0b" | "0B" => STANDARD.decode(digits).ok()?,
        _ => return None,
    };
    (1..=VALUE_MAXIMUM).contains(&bytes.len()).then_some(bytes)
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    let digits = digits.chars().map(|c| c.to_digit(16).map(|d| d as u8));
    let digits: Vec<u8> = digits.collect::<Option<_>>()?;
    let (pairs, rest) = digits.as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| high << 4 | low);
    rest.is_empty().then(|| bytes.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Responses computed by `hashlib` of Python over id, secret and challenge.
    #[test]
    fn responses_are_the_hashes_of_rfc_1994() {
        let challenge: Vec<u8> = (0..16).collect();
        let of = |hash: Hash| hex(&hash.response(7, "secret of twelve", &challenge));
        assert_eq!(of(Hash::Md5), MD5);
        assert_eq!(of(Hash::Sha256), SHA256);
    }
    const MD5: &str = "0x5d797f3a5af5308f34158457600f6e27";
    const SHA256: &str = "0x1d996893e0c4aac1a098c1f54c37004b4ba7b3ab650fa2904da5da9104306ffa";

    /// Values converted by `base64` of Python.
    #[test]
    fn values_are_hexadecimal_or_base64() {
        let value = decode(MD5);
        assert_eq!(value.as_ref().map(Vec::len), Some(16));
        assert_eq!(decode("0bXXl/Olr1MI80FYRXYA9uJw=="), value);
        assert_eq!(decode(&MD5.to_uppercase()), value);
        assert_eq!(decode(&format!("0x{}", "00".repeat(1024))), Some(vec![0; 1024]));
        let long = format!("0x{}", "00".repeat(1025));
        for wrong in
            ["", "0", "0x", "0b", "0x123", "0xgg", "0bA", "0b!AAA", "12", "0\u{e9}x", &long]
        {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn files_of_secrets_are_checked_line_by_line() {
        let secrets = Secrets::parse("# ours\n\ninitiator a 0123456789ab\ntarget t abcdefghijkl\n");
        assert_eq!(format!("{:?}", secrets.unwrap()), "Secrets of 1 initiators");
        for (text, line, why) in [
            ("initiator a short", 1, "a secret of 5 bytes"),
            ("\ninitiator a", 2, "2 words"),
            ("host a 0123456789ab", 1, "'host'"),
            ("initiator a 0123456789ab\ninitiator a 0123456789ab", 2, "initiator 'a'"),
            ("initiator a 0123456789ab\ntarget t 0123456789ab", 1, "the same secret"),
            ("target t 0123456789ab", 1, "no line with a secret"),
        ] {
            let (at, problem) = Secrets::parse(text).unwrap_err();
            assert!(at == line && problem.contains(why), "{at}: {problem}");
            assert!(!problem.contains("0123456789ab"));
        }
    }
}
