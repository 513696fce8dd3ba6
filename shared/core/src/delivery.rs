//! Telling a person: one attempt chain on one channel.

use std::fmt;
use std::str::FromStr;

use crate::id::{ApproverId, BadId, ElicitationId};
use crate::time::Timestamp;

/// A way to reach somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChannelKind {
    /// Mail.
    Email,
}

impl ChannelKind {
    /// Every channel.
    pub const ALL: [Self; 1] = [Self::Email];

    /// The word on the wire and in keys.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Email => "email",
        }
    }
}

impl fmt::Display for ChannelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for ChannelKind {
    type Err = BadId;

    fn from_str(word: &str) -> Result<Self, BadId> {
        Self::ALL.into_iter().find(|kind| kind.word() == word).ok_or(BadId("channel"))
    }
}

/// What a delivery says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoticeKind {
    /// A question was asked.
    Asked,
}

impl NoticeKind {
    /// The word in keys.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Asked => "asked",
        }
    }
}

impl FromStr for NoticeKind {
    type Err = BadId;

    fn from_str(word: &str) -> Result<Self, BadId> {
        if word == Self::Asked.word() { Ok(Self::Asked) } else { Err(BadId("notice kind")) }
    }
}

/// What makes a delivery the same delivery: it exists at most once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeliveryKey {
    /// The question.
    pub elicitation: ElicitationId,
    /// The channel.
    pub channel: ChannelKind,
    /// Whom it reaches. Never an address: a key is readable by many.
    pub approver: ApproverId,
    /// What it says.
    pub kind: NoticeKind,
}

/// How far a delivery has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryStatus {
    /// An attempt is due.
    Queued,
    /// The provider accepted it.
    Sent,
    /// Given up.
    Failed,
    /// Not needed any more: the question ended first.
    Dropped,
}

impl DeliveryStatus {
    const ALL: [Self; 4] = [Self::Queued, Self::Sent, Self::Failed, Self::Dropped];

    /// The word on the wire and in rows.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Sent => "sent",
            Self::Failed => "failed",
            Self::Dropped => "dropped",
        }
    }
}

impl FromStr for DeliveryStatus {
    type Err = BadId;

    fn from_str(word: &str) -> Result<Self, BadId> {
        Self::ALL.into_iter().find(|status| status.word() == word).ok_or(BadId("delivery status"))
    }
}

/// A delivery as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Which.
    pub key: DeliveryKey,
    /// How far it has come.
    pub status: DeliveryStatus,
    /// Attempts begun.
    pub attempts: u32,
    /// When the status was last written.
    pub at: Timestamp,
    /// When the next attempt is due; `None` once it is over.
    pub next_attempt_at: Option<Timestamp>,
}
