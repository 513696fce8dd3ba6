//! Mail through a server that speaks SMTP.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use countersign_app::codes::CodeNotice;
use countersign_app::ports::{Channel, Notice, SendError};
use countersign_core::delivery::ChannelKind;
use lettre::message::Mailbox;
use lettre::transport::smtp;
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor};
use tokio::time::timeout;

use crate::email::{render, render_code};

/// How long one attempt may take, from the connection to the server's word.
pub const SEND_LIMIT: Duration = Duration::from_secs(10);

/// Sends mail. Each attempt opens its own connection: a pooled one would not survive a frozen Lambda.
pub struct Smtp {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    limit: Duration,
}

impl Smtp {
    /// Mail from the address of `from` through the server at `url`, an attempt taking at most `limit` in all
    /// ([`SEND_LIMIT`], where nobody knows better).
    ///
    /// | `url` | connection |
    /// |---|---|
    /// | `smtps://user:password@host` | TLS from the start, port 465 |
    /// | `smtp://user:password@host?tls=required` | STARTTLS or nothing, port 587 |
    /// | `smtp://host?tls=opportunistic` | STARTTLS if offered, port 587 |
    /// | `smtp://127.0.0.1:1025` | plain, port 25 |
    ///
    /// User and password are percent-encoded. A path is the name that we greet with.
    ///
    /// # Errors
    /// [`BadSmtpUrl`] for anything else, and for a password that would travel in the clear to another host.
    pub fn new(url: &str, from: Mailbox, limit: Duration) -> Result<Self, BadSmtpUrl> {
        check(url)?;
        let builder = AsyncSmtpTransport::<Tokio1Executor>::from_url(url)
            .map_err(|_| BadSmtpUrl("it has no host, or a port or password that cannot be read"))?;
        Ok(Self { transport: builder.timeout(Some(limit)).build(), from, limit })
    }
}

#[async_trait]
impl Channel for Smtp {
    fn kind(&self) -> ChannelKind {
        ChannelKind::Email
    }

    async fn send(&self, notice: &Notice) -> Result<(), SendError> {
        self.transmit(render(notice, &self.from)?).await
    }

    async fn send_code(&self, notice: &CodeNotice) -> Result<(), SendError> {
        self.transmit(render_code(notice, &self.from)?).await
    }
}

impl Smtp {
    async fn transmit(&self, message: Message) -> Result<(), SendError> {
        match timeout(self.limit, self.transport.send(message)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(verdict(&error)),
            Err(_) => {
                Err(SendError::Retry(format!("the mail server did not finish within {:?}", self.limit)))
            }
        }
    }
}

impl fmt::Debug for Smtp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Smtp(..)")
    }
}

/// Replies about our sign-in: wrong credentials or a mechanism are for an operator to repair, and say nothing of the
/// mail or of who is to get it.
const SIGN_IN_REPLIES: [&str; 4] = ["530", "534", "535", "538"];

/// What `error` means for the delivery. Its own text is dropped: servers repeat the address in their replies.
fn verdict(error: &smtp::Error) -> SendError {
    match error.status() {
        Some(code) => {
            let code = code.to_string();
            let text = format!("the mail server replied {code}");
            let of_mail = error.is_permanent() && !SIGN_IN_REPLIES.contains(&code.as_str());
            if of_mail { SendError::Refused(text) } else { SendError::Retry(text) }
        }
        None => SendError::Retry(category(error).to_owned()),
    }
}

fn category(error: &smtp::Error) -> &'static str {
    if error.is_timeout() {
        "the mail server did not answer in time"
    } else if error.is_tls() {
        "the TLS handshake with the mail server failed"
    } else if error.is_response() {
        "the mail server's reply cannot be read"
    } else if error.is_client() {
        "the mail server offers no STARTTLS, sign-in or UTF-8 address, though this mail needs it"
    } else {
        "the connection to the mail server failed"
    }
}

/// A URL that names no mail server, or not safely. Its text never repeats the URL, which may hold a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadSmtpUrl(&'static str);

impl fmt::Display for BadSmtpUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a usable SMTP URL: {}", self.0)
    }
}

impl std::error::Error for BadSmtpUrl {}

/// Refuses what lettre would read as something weaker than was meant.
fn check(url: &str) -> Result<(), BadSmtpUrl> {
    if url.chars().any(|char| char.is_whitespace() || char.is_control()) {
        return Err(BadSmtpUrl("it holds a space or a control character, percent-encode it"));
    }
    let (scheme, rest) = url.split_once("://").ok_or(BadSmtpUrl("start it with smtp:// or smtps://"))?;
    let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
    let tls_is_sure = match (scheme, query) {
        ("smtps", None) | ("smtp", Some("tls=required")) => true,
        ("smtp", None | Some("tls=opportunistic")) => false,
        ("smtp" | "smtps", Some(_)) => {
            return Err(BadSmtpUrl(
                "behind smtp:// the query is tls=required or tls=opportunistic, elsewhere none",
            ));
        }
        _ => return Err(BadSmtpUrl("start it with smtp:// or smtps://")),
    };
    let authority = rest.split(['/', '#']).next().unwrap_or_default();
    let Some((user, host)) = authority.rsplit_once('@') else { return Ok(()) };
    if !user.contains(':') {
        return Err(BadSmtpUrl("it names a user without a password"));
    }
    if !tls_is_sure && !is_loopback(host) {
        return Err(BadSmtpUrl("the password would travel in the clear, use smtps:// or tls=required"));
    }
    Ok(())
}

fn is_loopback(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _port)| name);
    matches!(name, "127.0.0.1" | "localhost")
}

#[cfg(test)]
mod fake;
#[cfg(test)]
mod tests;
