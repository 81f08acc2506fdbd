//! Sockets that listen.

use super::{Address, Admission};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, FileType, Mode, chmodat, stat};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen, socket_with,
};
use sledsim_base::error::{Error, Result};
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs};
use std::path::{Path, PathBuf};

/// Listening sockets, non-blocking.
pub struct Listening {
    /// The sockets, at least one.
    pub sockets: Vec<OwnedFd>,
    /// Address of the first socket, for clients: the absolute path, or the host as
    /// given (certificates are for names) and the port.
    pub place: Address,
    /// The socket file, if there is one.
    pub file: Option<SocketFile>,
}

/// A socket file, removed on drop.
pub struct SocketFile {
    path: PathBuf,
    inode: (u64, u64),
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Another server may have replaced it.
        if inode(&self.path).is_ok_and(|inode| inode == self.inode) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn inode(path: &Path) -> io::Result<(u64, u64)> {
    let about = stat(path)?;
    Ok((about.st_dev, about.st_ino))
}

/// The most connections waiting to be accepted.
const BACKLOG: i32 = 128;

impl Listening {
    /// Listens at `address`; beyond this machine only if `admission` admits remote
    /// clients.
    ///
    /// # Errors
    /// An address that is in use, unavailable, or remote without protection.
    pub fn at(address: &Address, admission: &Admission) -> Result<Self> {
        match address {
            Address::Unix(path) => unix(path),
            Address::Tcp(host, port) => tcp(address, (host, *port), admission),
        }
    }

    /// Whether these are TCP sockets.
    pub fn is_tcp(&self) -> bool {
        matches!(self.place, Address::Tcp(..))
    }
}

fn unix(path: &Path) -> Result<Listening> {
    let refuse = |problem: &dyn std::fmt::Display| Error::file(path, problem);
    let system = |error: Errno| Error::file(path, io::Error::from(error));
    let name = SocketAddrUnix::new(path).map_err(|error| match error {
        Errno::NAMETOOLONG => refuse(&"is too long: the path of a socket has at most 107 bytes"),
        error => system(error),
    })?;
    let new = || {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).map_err(system)
    };
    match stat(path) {
        Err(Errno::NOENT) => {}
        Err(error) => return Err(system(error)),
        Ok(about) if FileType::from_raw_mode(about.st_mode) != FileType::Socket => {
            return Err(refuse(&"is there already, and is not a socket"));
        }
        Ok(_) => match connect(&new()?, &name) {
            // No server listens: a stale socket of a server that was killed.
            Err(Errno::CONNREFUSED) => {
                std::fs::remove_file(path).map_err(|error| refuse(&error))?;
            }
            Ok(()) | Err(Errno::WOULDBLOCK) => {
                return Err(refuse(&"is in use: another server listens there"));
            }
            Err(error) => return Err(system(error)),
        },
    }
    let socket = new()?;
    bind(&socket, &name).map_err(system)?;
    let inode = inode(path).map_err(|error| refuse(&error))?;
    let file = SocketFile { path: path.to_owned(), inode };
    // No client can connect yet.
    chmodat(CWD, path, Mode::RUSR | Mode::WUSR, AtFlags::empty()).map_err(system)?;
    listen(&socket, BACKLOG).map_err(system)?;
    let whole = std::path::absolute(path).map_err(|error| refuse(&error))?;
    Ok(Listening { sockets: vec![socket], place: Address::Unix(whole), file: Some(file) })
}

fn tcp(address: &Address, place: (&str, u16), admission: &Admission) -> Result<Listening> {
    let refuse = |problem: String| Error::Key(format!("address '{address}': {problem}"));
    let found = place.to_socket_addrs();
    let found: Vec<_> = found.map_err(|error| refuse(format!("no such host: {error}")))?.collect();
    let beyond = found.iter().find(|at| !is_loopback(at.ip()));
    if let Some(beyond) = beyond
        && !admission.admits_remote()
    {
        return Err(refuse(format!(
            "{} can be reached from other machines, and every client there could read and write \
             everything; listen at 127.0.0.1, or {}",
            beyond.ip(),
            admission.remedy
        )));
    }
    let mut sockets: Vec<TcpListener> = Vec::new();
    let (mut first, mut failed) = (None::<SocketAddr>, None);
    for mut at in found {
        if let (0, Some(first)) = (at.port(), first) {
            at.set_port(first.port());
        }
        let listener = TcpListener::bind(at).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok((listener.local_addr()?, listener))
        });
        match listener {
            Ok((at, listener)) => {
                first = first.or(Some(at));
                sockets.push(listener);
            }
            // Such as ::1 without IPv6.
            Err(error) if error.kind() == io::ErrorKind::AddrNotAvailable => failed = Some(error),
            Err(error) => return Err(refuse(format!("cannot listen at {at}: {error}"))),
        }
    }
    let Some(first) = first else {
        let why = failed.map_or_else(|| "no such host".to_owned(), |error| error.to_string());
        return Err(refuse(why));
    };
    Ok(Listening {
        sockets: sockets.into_iter().map(OwnedFd::from).collect(),
        place: Address::Tcp(place.0.to_owned(), first.port()),
        file: None,
    })
}

fn is_loopback(at: IpAddr) -> bool {
    at.to_canonical().is_loopback()
}
