//! The life of a connection of NBD or iSCSI, from its first byte to its last.

use super::client_errors::ClientErrorKind;
use super::connection::Connection;
use super::end::End;
use super::input::Input;
use super::link::Link;
use super::server::{Protocol, Shared};
use super::settings::Limits;
use rustix::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

/// What a block protocol says on a connection; as a [`Protocol`] it is the same for all.
pub(crate) trait Conversation: Send + Sync + 'static {
    /// The kind of the front end in its status.
    const NAME: &'static str;

    /// What a handshake agrees on.
    type Agreed;

    /// What a client has not done that ends during the handshake, for its error.
    const UNDONE: &'static str;

    /// The state that its connections share.
    fn state(&self) -> &Shared<Connection>;

    /// How much it does for a connection.
    fn limits(&self) -> Limits;

    /// Performs the handshake. Calls `settle` before its last answer: from then on the client
    /// gives way to no other.
    fn agree(
        &self,
        input: &mut Input,
        connection: &Arc<Connection>,
        settle: &dyn Fn(),
    ) -> Result<Self::Agreed, End>;

    /// Reads requests until the client ends them; replies are sent to `link` when they are due.
    fn receive(
        &self,
        agreed: Self::Agreed,
        input: &mut Input,
        connection: &Arc<Connection>,
        link: &Arc<Link>,
    ) -> Result<(), End>;
}

impl<P: Conversation> Protocol for P {
    const KIND: &'static str = P::NAME;
    type Connection = Connection;

    fn shared(&self) -> &Shared<Connection> {
        self.state()
    }

    fn connect(&self, client: u32, socket: OwnedFd) -> Connection {
        Connection::new(client, socket, self.state(), self.limits())
    }

    fn serve(&self, connection: &Arc<Connection>) {
        serve(self, connection);
    }
}

/// Serves a connection until it ends.
fn serve<P: Conversation>(protocol: &P, connection: &Arc<Connection>) {
    let (shared, client) = (protocol.state(), connection.client);
    let note = |kind, why: &str| shared.note(kind, client, why);
    // The handshake must not take long.
    let mut input = Input::new(&connection.socket, Instant::now() + connection.patience);
    match protocol.agree(&mut input, connection, &|| shared.places.settle(client)) {
        Ok(agreed) => {
            input.start_transmission(connection.busy_poll, connection.patience);
            let link = Link::new(connection);
            let end = protocol.receive(agreed, &mut input, connection, &link);
            link.release();
            if let Err(End::Bad(kind, why)) = end {
                note(kind, &why);
                link.end();
            }
            if !link.finish() {
                note(ClientErrorKind::Unread, "closed without reading its replies");
            }
        }
        Err(End::Eof) => {
            note(ClientErrorKind::Handshake, &format!("closed before it had {}", P::UNDONE));
        }
        Err(End::Bad(kind, why)) => note(kind, &why),
        Err(End::Well) => {}
    }
    connection.socket.close();
}
