//! The ways to reach a person, each an implementation of [`Channel`](countersign_app::ports::Channel).
//!
//! For now that is mail: [`Smtp`] sends it, [`Outbox`] keeps it on the machine for local use, and both carry
//! the letter that [`render`] writes. No channel quotes the asking side, and no error text of theirs holds an
//! address or a credential, because error texts reach logs.

mod email;
mod outbox;
mod smtp;

#[cfg(test)]
mod contract;
#[cfg(test)]
mod fixture;

pub use email::render;
pub use lettre::message::Mailbox;
pub use outbox::{MailHook, Outbox, OutboxMessage};
pub use smtp::{BadSmtpUrl, SEND_LIMIT, Smtp};
