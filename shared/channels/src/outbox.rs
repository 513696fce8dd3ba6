//! Mail that stays on the machine: in memory, and in a directory if there is one.

mod directory;

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use countersign_app::codes::CodeNotice;
use countersign_app::ports::{Channel, Clock, Notice, SendError};
use countersign_app::records::Approver;
use countersign_core::delivery::ChannelKind;
use countersign_core::id::Reference;
use countersign_core::time::Timestamp;
use lettre::message::Mailbox;
use lettre::message::header::Date;

use crate::email::Letter;
use directory::Directory;

/// Messages that are kept in memory.
const KEPT_IN_MEMORY: usize = 10_000;
/// Past this, milliseconds since the epoch have no four-digit year, and no mail date.
const LAST_MILLI: u64 = 253_402_300_799_999;

/// Told of each message that was kept.
pub type MailHook = Box<dyn Fn(&OutboxMessage) + Send + Sync>;

/// A message that would have been sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxMessage {
    /// The channel it would have taken.
    pub channel: ChannelKind,
    /// When it was kept.
    pub at: Timestamp,
    /// The address.
    pub to: String,
    /// The subject.
    pub subject: String,
    /// The text part.
    pub text: String,
    /// The HTML part.
    pub html: String,
    /// The code that both sides see, where the mail is about one question.
    pub reference: Option<Reference>,
    /// Where the question is, for a person; none in a mail that carries a code.
    pub link: Option<String>,
    /// The digits of a mail that carries a code.
    pub code: Option<String>,
    /// The whole mail, as SMTP would carry it.
    pub raw: Vec<u8>,
}

/// Keeps mail for local use. Sending waits for nothing, so an attempt is made whole or not at all.
pub struct Outbox {
    clock: Arc<dyn Clock>,
    from: Mailbox,
    on_mail: Option<MailHook>,
    room: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// Oldest first.
    messages: VecDeque<OutboxMessage>,
    directory: Option<Directory>,
}

impl Outbox {
    /// An outbox in memory, for mail from the address of `from`.
    pub fn new(clock: Arc<dyn Clock>, from: Mailbox) -> Self {
        Self { clock, from, on_mail: None, room: KEPT_IN_MEMORY, kept: Mutex::default() }
    }

    /// Keeps the newest 1,000 messages also as files, `<millis>-<reference>.eml`, which outlive the process.
    ///
    /// The directory is made when it is first needed, and belongs to one outbox at a time.
    #[must_use]
    pub fn in_directory(self, path: impl AsRef<Path>) -> Self {
        self.kept().directory = Some(Directory::open(path.as_ref()));
        self
    }

    /// Calls `hook` with each message, after it was kept.
    #[must_use]
    pub fn on_mail(mut self, hook: MailHook) -> Self {
        self.on_mail = Some(hook);
        self
    }

    /// The last 10,000 messages, oldest first.
    pub fn messages(&self) -> Vec<OutboxMessage> {
        self.kept().messages.iter().cloned().collect()
    }

    fn write(&self, notice: &Notice) -> Result<OutboxMessage, SendError> {
        let message = self.written(Letter::of(notice), &notice.to, &notice.id)?;
        Ok(OutboxMessage {
            reference: Some(notice.reference.clone()),
            link: Some(notice.link.clone()),
            ..message
        })
    }

    fn write_code(&self, notice: &CodeNotice) -> Result<OutboxMessage, SendError> {
        let message = self.written(Letter::of_code(notice), &notice.to, &notice.id)?;
        let code = Some(notice.digits.expose().clone());
        Ok(OutboxMessage { reference: notice.reference.clone(), code, ..message })
    }

    fn written(&self, letter: Letter, to: &Approver, id: &str) -> Result<OutboxMessage, SendError> {
        let at = self.clock.now();
        let mut mail = letter.address(to, id, &self.from)?;
        mail.headers_mut().set(date(at));
        Ok(OutboxMessage {
            channel: self.kind(),
            at,
            to: to.email.clone().unwrap_or_default(),
            raw: mail.formatted(),
            subject: letter.subject,
            text: letter.text,
            html: letter.html,
            reference: None,
            link: None,
            code: None,
        })
    }

    fn take(&self, message: &OutboxMessage) -> Result<(), SendError> {
        self.keep(message)?;
        if let Some(hook) = &self.on_mail {
            hook(message);
        }
        Ok(())
    }

    /// File first: what cannot be written was not sent, and shows up nowhere.
    fn keep(&self, message: &OutboxMessage) -> Result<(), SendError> {
        let mut kept = self.kept();
        if let Some(directory) = &mut kept.directory {
            directory.add(message).map_err(SendError::Retry)?;
        }
        if kept.messages.len() == self.room {
            kept.messages.pop_front();
        }
        kept.messages.push_back(message.clone());
        Ok(())
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Channel for Outbox {
    fn kind(&self) -> ChannelKind {
        ChannelKind::Email
    }

    async fn send(&self, notice: &Notice) -> Result<(), SendError> {
        self.take(&self.write(notice)?)
    }

    async fn send_code(&self, notice: &CodeNotice) -> Result<(), SendError> {
        self.take(&self.write_code(notice)?)
    }
}

fn date(at: Timestamp) -> Date {
    // The header's type panics outside these years.
    let millis = u64::try_from(at.millis()).unwrap_or(0).min(LAST_MILLI);
    Date::new(SystemTime::UNIX_EPOCH + Duration::from_millis(millis))
}

#[cfg(test)]
mod tests;
