//! A trigger that remembers, for a test to drain when it likes, or to lose.

use std::sync::{Mutex, PoisonError};

use countersign_app::ports::Trigger;
use countersign_core::id::{CodeId, ElicitationId, TenantId};

/// What was committed and not taken yet.
#[derive(Debug, Default)]
pub struct RecordingTrigger {
    stored: Mutex<Vec<(TenantId, ElicitationId)>>,
    codes: Mutex<Vec<(TenantId, CodeId)>>,
}

impl RecordingTrigger {
    /// Takes all of it.
    pub fn take(&self) -> Vec<(TenantId, ElicitationId)> {
        std::mem::take(&mut self.stored.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the codes that wait to be mailed.
    pub fn take_codes(&self) -> Vec<(TenantId, CodeId)> {
        std::mem::take(&mut self.codes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Trigger for RecordingTrigger {
    fn stored(&self, tenant: &TenantId, elicitation: ElicitationId) {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner).push((tenant.clone(), elicitation));
    }

    fn code_wanted(&self, tenant: &TenantId, code: CodeId) {
        self.codes.lock().unwrap_or_else(PoisonError::into_inner).push((tenant.clone(), code));
    }
}
