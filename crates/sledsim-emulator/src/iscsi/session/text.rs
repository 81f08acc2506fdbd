//! Text requests of a session: discovery.

use super::{Session, protocol};
use crate::iscsi::keys::{Keys, TEXT_MAXIMUM, put};
use crate::iscsi::name::portal;
use crate::iscsi::pdu::{FINAL, NO_TAG, Received, TEXT_RESPONSE, header, set};
use crate::iscsi::reply::Numbering;
use crate::net::{Address, Connection, End};
use std::net::SocketAddr;

impl Session<'_> {
    pub(super) fn text(&mut self, message: &Received, data: &[u8]) -> Result<(), End> {
        self.count(message);
        if self.text.len() + data.len() > TEXT_MAXIMUM {
            return Err(protocol(message, "too much text"));
        }
        self.text.extend_from_slice(data);
        let mut head = header(TEXT_RESPONSE, FINAL, message.lun(), message.tag());
        set(&mut head, 20, NO_TAG);
        if message.bytes[1] & 0x40 != 0 {
            // The text continues: an empty answer asks for the rest.
            head[1] = 0;
            set(&mut head, 20, 0);
            self.sender.send(head, Vec::new(), Numbering::Advances, None);
            return Ok(());
        }
        let keys = Keys::decode(&std::mem::take(&mut self.text))?;
        let mut answers = Vec::new();
        for (key, value) in keys.iter() {
            match key {
                "SendTargets" => {
                    let name = self.target.name();
                    if value == "All" || value.is_empty() || value == name {
                        put(&mut answers, "TargetName", name);
                        if let Some(address) = local_address(self.connection) {
                            put(&mut answers, "TargetAddress", &format!("{address},1"));
                        }
                    }
                }
                _ => put(&mut answers, key, "NotUnderstood"),
            }
        }
        if answers.len() > self.sender.sent_maximum() {
            return Err(protocol(message, "keys with too long an answer"));
        }
        self.sender.send(head, answers, Numbering::Advances, None);
        Ok(())
    }
}

/// The address of this side of a connection, if it is TCP.
fn local_address(connection: &Connection) -> Option<String> {
    let address = rustix::net::getsockname(connection.socket.fd()).ok()?;
    let address = SocketAddr::try_from(address).ok()?;
    Some(portal(&Address::Tcp(address.ip().to_string(), address.port())))
}
