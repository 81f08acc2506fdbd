//! Addresses to listen at.

use sledsim_base::error::{Error, Result};
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;
use std::str::FromStr;

/// An address to listen at: `unix:PATH` or `tcp:HOST:PORT`, which may be shortened to
/// `HOST:PORT` or, on this machine only, `:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A socket file.
    Unix(PathBuf),
    /// A host and a port; port 0 selects a free port.
    Tcp(String, u16),
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refuse = |problem: &str| {
            Err(Error::Key(format!(
                "address '{text}': {problem}; it must be unix:PATH or tcp:HOST:PORT, as in \
                 unix:/tmp/sled.sock, tcp:127.0.0.1:10809 and tcp:[::1]:10809"
            )))
        };
        if let Some(path) = text.strip_prefix("unix:") {
            return match path {
                "" => refuse("has no path"),
                path => Ok(Self::Unix(path.into())),
            };
        }
        if text.contains('/') {
            return refuse("is neither of the two");
        }
        let tcp = text.strip_prefix("tcp:").unwrap_or(text);
        let Some((host, port)) = tcp.rsplit_once(':') else {
            return refuse("has no port");
        };
        let Ok(port) = port.parse() else {
            return refuse(&format!("port '{port}' is not a number from 0 to 65535"));
        };
        let inside = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let host = match inside {
            Some("") => return refuse("has no host between the brackets"),
            Some(inside) => inside,
            None if host.contains([':', '[', ']']) => {
                return refuse("has a host with colons that is not in brackets");
            }
            None if host.is_empty() => "127.0.0.1",
            None => host,
        };
        Ok(Self::Tcp(host.to_owned(), port))
    }
}

impl Display for Address {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(out, "unix:{}", path.display()),
            Self::Tcp(host, port) if host.contains(':') => write!(out, "tcp:[{host}]:{port}"),
            Self::Tcp(host, port) => write!(out, "tcp:{host}:{port}"),
        }
    }
}
