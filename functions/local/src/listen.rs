//! The socket, and the signals that end the server.

use std::io::{self, ErrorKind};
use std::net::Ipv4Addr;

use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::StartError;

/// Listens on this machine's own address, which no other machine reaches.
pub(crate) async fn listen(port: u16) -> Result<TcpListener, StartError> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => StartError::PortTaken(port),
        _ => StartError::Port { port, error },
    })
}

/// Ctrl-C and SIGTERM, caught from when this is made.
pub(crate) struct StopSignal {
    interrupt: Signal,
    terminate: Signal,
}

impl StopSignal {
    /// Catches the signals from now on.
    pub(crate) fn new() -> io::Result<Self> {
        let (interrupt, terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        Ok(Self { interrupt, terminate })
    }

    /// Returns when one of them comes.
    pub(crate) async fn come(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_taken_port_is_named_with_a_way_out() {
        let first = listen(0).await.unwrap();
        let port = first.local_addr().unwrap().port();
        let error = listen(port).await.err().unwrap();
        assert_eq!(
            error.to_string(),
            format!("port {port} is taken; try another --port, or 0 for any free one")
        );
    }
}
