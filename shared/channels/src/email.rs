//! A notice as a mail: headers, a text part and an HTML part.

mod letter;

use countersign_app::codes::CodeNotice;
use countersign_app::ports::{Notice, SendError};
use countersign_app::records::Approver;
use countersign_core::json::Sha256;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart, SinglePart};
use lettre::{Address, Message};

pub(crate) use letter::Letter;

/// The domain of a Message-ID whose real one cannot stand there.
const NO_DOMAIN: &str = "countersign.invalid";

/// The mail for `notice`, from the address of `from` in the tenant's name.
///
/// The same notice has the same Message-ID, so mail programs show a repeated attempt once. Only the `Date` is
/// not the notice's: it is the machine's, unless the caller sets another.
///
/// # Errors
/// [`SendError::Refused`] if the approver has no address, or none that mail can go to.
pub fn render(notice: &Notice, from: &Mailbox) -> Result<Message, SendError> {
    Letter::of(notice).address(&notice.to, &notice.id, from)
}

/// The mail for a code.
///
/// # Errors
/// As [`render`].
pub(crate) fn render_code(notice: &CodeNotice, from: &Mailbox) -> Result<Message, SendError> {
    Letter::of_code(notice).address(&notice.to, &notice.id, from)
}

impl Letter {
    /// Puts the letter into an envelope.
    pub(crate) fn address(&self, to: &Approver, id: &str, from: &Mailbox) -> Result<Message, SendError> {
        let to = recipient(to)?;
        let sender = Mailbox::new(Some(self.sender.clone()), from.email.clone());
        let id = digest(id);
        let parts = MultiPart::alternative()
            .boundary(format!("countersign-{id}"))
            .singlepart(SinglePart::plain(self.text.clone()))
            .singlepart(SinglePart::html(self.html.clone()));
        let mut message = Message::builder()
            .from(sender)
            .to(Mailbox::new(None, to))
            .subject(self.subject.clone())
            .message_id(Some(format!("<{id}@{}>", id_domain(&from.email))))
            .multipart(parts)
            .map_err(|_| SendError::Refused("the notice does not make a mail".into()))?;
        let automatic = HeaderName::new_from_ascii_str("Auto-Submitted");
        message.headers_mut().insert_raw(HeaderValue::new(automatic, "auto-generated".into()));
        Ok(message)
    }
}

fn recipient(to: &Approver) -> Result<Address, SendError> {
    let address = to.email.as_deref();
    let address = address.ok_or_else(|| SendError::Refused("the approver has no mail address".into()))?;
    address.parse().map_err(|_| SendError::Refused("the approver's mail address is malformed".into()))
}

/// 128 bits that stand for a delivery. Its id may hold characters that a header may not.
fn digest(id: &str) -> String {
    let mut hex = Sha256::of(id.as_bytes()).hex();
    hex.truncate(32);
    hex
}

/// A Message-ID cannot be encoded, so an international domain has no place in it.
fn id_domain(from: &Address) -> &str {
    if from.domain().is_ascii() { from.domain() } else { NO_DOMAIN }
}

#[cfg(test)]
mod tests;
