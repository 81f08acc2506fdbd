//! Addresses as NBD URIs.

use crate::net::Address;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;

/// The URI of a server at `place`; the name of an export can be appended to its path.
pub(super) fn uri(place: &Address, tls: bool) -> String {
    let scheme = if tls { "nbds" } else { "nbd" };
    match place {
        Address::Unix(path) => {
            let path = percent(path.as_os_str().as_bytes());
            format!("{scheme}+unix:///?socket={path}")
        }
        Address::Tcp(host, port) if host.contains(':') => format!("{scheme}://[{host}]:{port}"),
        Address::Tcp(host, port) => format!("{scheme}://{host}:{port}"),
    }
}

/// Percent-encodes bytes for a URI.
fn percent(bytes: &[u8]) -> String {
    let mut text = String::new();
    for &byte in bytes {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                text.push(char::from(byte));
            }
            _ => drop(write!(text, "%{byte:02X}")),
        }
    }
    text
}
