//! A tenant's own system that takes events.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use countersign_app::events::{Event, HookReply, Hooks};
use countersign_core::signature::SigningSecret;
use countersign_core::time::Timestamp;

/// An attempt as it arrived.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// Where.
    pub url: String,
    /// What it would be signed with.
    pub secrets: Vec<String>,
    /// The event.
    pub event: Event,
}

/// Records what arrives, and answers as it was told to: 204 unless anything else was asked for.
#[derive(Default)]
pub struct RecordingHooks {
    attempts: Mutex<Vec<Attempt>>,
    replies: Mutex<VecDeque<HookReply>>,
}

impl RecordingHooks {
    /// What arrived, oldest first.
    pub fn attempts(&self) -> Vec<Attempt> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the next attempts are answered.
    pub fn answer(&self, replies: impl IntoIterator<Item = HookReply>) {
        self.replies.lock().unwrap_or_else(PoisonError::into_inner).extend(replies);
    }

    /// The same by status.
    pub fn answer_status(&self, status: u16) {
        self.answer([HookReply::Answered { status, retry_after: None }]);
    }
}

#[async_trait]
impl Hooks for RecordingHooks {
    async fn post(&self, url: &str, secrets: &[SigningSecret], event: &Event, _: Timestamp) -> HookReply {
        let secrets = secrets.iter().map(SigningSecret::reveal).collect();
        let attempt = Attempt { url: url.to_owned(), secrets, event: event.clone() };
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner).push(attempt);
        let next = self.replies.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        next.unwrap_or(HookReply::Answered { status: 204, retry_after: None })
    }
}
