//! A channel that keeps what it was given, or refuses as a test says.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use countersign_app::codes::CodeNotice;
use countersign_app::ports::{Channel, Notice, SendError};
use countersign_core::delivery::ChannelKind;

/// A mail channel without mail.
#[derive(Default)]
pub struct RecordingChannel {
    sent: Mutex<Vec<Notice>>,
    codes: Mutex<Vec<CodeNotice>>,
    errors: Mutex<VecDeque<SendError>>,
}

impl RecordingChannel {
    /// All notices that were taken.
    pub fn sent(&self) -> Vec<Notice> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// All codes that were taken.
    pub fn codes(&self) -> Vec<CodeNotice> {
        self.codes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes the next attempt fail so.
    pub fn fail_next(&self, error: SendError) {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner).push_back(error);
    }
}

#[async_trait]
impl Channel for RecordingChannel {
    fn kind(&self) -> ChannelKind {
        ChannelKind::Email
    }

    async fn send(&self, notice: &Notice) -> Result<(), SendError> {
        if let Some(error) = self.errors.lock().unwrap_or_else(PoisonError::into_inner).pop_front() {
            return Err(error);
        }
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).push(notice.clone());
        Ok(())
    }

    async fn send_code(&self, notice: &CodeNotice) -> Result<(), SendError> {
        self.codes.lock().unwrap_or_else(PoisonError::into_inner).push(notice.clone());
        Ok(())
    }
}
