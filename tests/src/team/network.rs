//! A network between machines and a server that can be cut: a port of this machine, whose connections are handed on to the
//! server's socket.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The network.
pub(super) struct Network {
    port: u16,
    state: Arc<State>,
}

struct State {
    is_cut: AtomicBool,
    has_ended: AtomicBool,
    open: Mutex<Vec<TcpStream>>,
}

impl Network {
    /// Starts handing connections on to the server whose socket lies in this folder.
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let state =
            Arc::new(State { is_cut: AtomicBool::new(false), has_ended: AtomicBool::new(false), open: Mutex::default() });
        let (socket, of_listener) = (folder.join(".s.PGSQL.5432"), Arc::clone(&state));
        std::thread::spawn(move || accept(&listener, &socket, &of_listener));
        Ok(Self { port, state })
    }

    /// The host and port by which machines reach the server.
    pub(super) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Ends all connections in the middle of what they say, and hands on no new ones until [`Network::mend`].
    pub(super) fn cut(&self) {
        self.state.is_cut.store(true, Ordering::SeqCst);
        for connection in self.state.open.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }

    /// Hands connections on again.
    pub(super) fn mend(&self) {
        self.state.is_cut.store(false, Ordering::SeqCst);
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.state.has_ended.store(true, Ordering::SeqCst);
        self.cut();
        // Wakes the thread that waits for connections.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn accept(listener: &TcpListener, socket: &PathBuf, state: &Arc<State>) {
    for client in listener.incoming() {
        if state.has_ended.load(Ordering::SeqCst) {
            return;
        }
        let Ok(client) = client else { continue };
        // Without a server the connection ends at once, as one to a machine that restarts.
        let Ok(server) = UnixStream::connect(socket) else { continue };
        let Ok(known) = client.try_clone() else { continue };
        let mut open = state.open.lock().unwrap_or_else(PoisonError::into_inner);
        if state.is_cut.load(Ordering::SeqCst) {
            continue;
        }
        open.push(known);
        drop(open);
        let (Ok(from_client), Ok(from_server)) = (client.try_clone(), server.try_clone()) else { continue };
        std::thread::spawn(move || hand_on(from_client, server, Shutdown::Write));
        std::thread::spawn(move || hand_on(from_server, client, Shutdown::Both));
    }
}

/// A stream of either kind.
trait Stream: io::Read + io::Write {
    fn end(&self, how: Shutdown);
}

impl Stream for TcpStream {
    fn end(&self, how: Shutdown) {
        let _ = self.shutdown(how);
    }
}

impl Stream for UnixStream {
    fn end(&self, how: Shutdown) {
        let _ = self.shutdown(how);
    }
}

fn hand_on(mut from: impl Stream, mut to: impl Stream, how: Shutdown) {
    let _ = io::copy(&mut from, &mut to);
    to.end(how);
    from.end(Shutdown::Read);
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_network_that_is_cut_hands_nothing_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let server = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).expect("a socket");
        std::thread::spawn(move || {
            for client in server.incoming() {
                let Ok(mut client) = client else { return };
                let mut word = [0; 2];
                while client.read_exact(&mut word).is_ok() && client.write_all(&word).is_ok() {}
            }
        });
        let network = Network::new(folder.path()).expect("a network");
        let say = |client: &mut TcpStream| {
            let mut word = [0; 2];
            client.write_all(b"ok").and_then(|()| client.read_exact(&mut word)).map(|()| word)
        };
        let connect = || TcpStream::connect(network.address()).expect("a connection");
        let mut client = connect();
        assert_eq!(say(&mut client).expect("an answer"), *b"ok");
        network.cut();
        assert!(say(&mut client).is_err() && say(&mut connect()).is_err());
        network.mend();
        assert_eq!(say(&mut connect()).expect("an answer"), *b"ok");
    }
}
