//! A mail server for tests: it takes everything, but for one command.

use std::future::pending;
use std::io;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// What the server does at one point of the conversation.
#[derive(Clone, Copy)]
pub(super) enum Oddity {
    /// Nothing unusual anywhere.
    None,
    /// At this command it replies with this line.
    Replies(&'static str, &'static str),
    /// From this command on it says nothing.
    Hangs(&'static str),
}

/// The greeting and the end of the mail, as commands.
pub(super) const GREETING: &str = "hello";
pub(super) const END_OF_MAIL: &str = ".";

type Mails = Arc<Mutex<Vec<Vec<u8>>>>;

/// Listens until it is dropped.
pub(super) struct Server {
    /// Host and port.
    pub(super) address: String,
    taken: Mails,
    _accepting: JoinSet<()>,
}

impl Server {
    pub(super) async fn start(oddity: Oddity) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let taken = Mails::default();
        let mut accepting = JoinSet::new();
        accepting.spawn(accept(listener, oddity, Arc::clone(&taken)));
        Self { address, taken, _accepting: accepting }
    }

    /// The mails that were sent to the end, as the client sent them.
    pub(super) fn taken(&self) -> Vec<Vec<u8>> {
        self.taken.lock().unwrap().clone()
    }
}

async fn accept(listener: TcpListener, oddity: Oddity, taken: Mails) {
    while let Ok((stream, _)) = listener.accept().await {
        // A client that hangs up ends its own conversation only.
        drop(converse(BufReader::new(stream), oddity, &taken).await);
    }
}

async fn converse(mut stream: BufReader<TcpStream>, oddity: Oddity, taken: &Mails) -> io::Result<()> {
    reply(&mut stream, oddity, GREETING, "220 fake ESMTP").await?;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        match line.get(..4).unwrap_or_default() {
            "EHLO" => reply(&mut stream, oddity, "EHLO", "250-fake\r\n250 AUTH PLAIN").await?,
            "DATA" => {
                reply(&mut stream, oddity, "DATA", "354 go on").await?;
                let mail = read_mail(&mut stream).await?;
                taken.lock().unwrap().push(mail);
                reply(&mut stream, oddity, END_OF_MAIL, "250 taken").await?;
            }
            verb => reply(&mut stream, oddity, verb, "250 ok").await?,
        }
    }
}

async fn read_mail(stream: &mut BufReader<TcpStream>) -> io::Result<Vec<u8>> {
    let mut mail = Vec::new();
    loop {
        let mut line = Vec::new();
        if stream.read_until(b'\n', &mut line).await? == 0 || line == b".\r\n" {
            return Ok(mail);
        }
        mail.extend_from_slice(line.strip_prefix(b".").unwrap_or(&line));
    }
}

async fn reply(stream: &mut BufReader<TcpStream>, oddity: Oddity, at: &str, usual: &str) -> io::Result<()> {
    let text = match oddity {
        Oddity::Replies(command, odd) if command == at => odd,
        Oddity::Hangs(command) if command == at => pending().await,
        _ => usual,
    };
    stream.write_all(format!("{text}\r\n").as_bytes()).await
}
