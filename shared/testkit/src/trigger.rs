//! A trigger that remembers, for a test to drain when it likes, or to lose.

use std::sync::{Mutex, PoisonError};

use countersign_app::ports::Trigger;
use countersign_core::id::{ElicitationId, TenantId};

/// What was committed and not taken yet.
#[derive(Debug, Default)]
pub struct RecordingTrigger(Mutex<Vec<(TenantId, ElicitationId)>>);

impl RecordingTrigger {
    /// Takes all of it.
    pub fn take(&self) -> Vec<(TenantId, ElicitationId)> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Trigger for RecordingTrigger {
    fn stored(&self, tenant: &TenantId, elicitation: ElicitationId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((tenant.clone(), elicitation));
    }
}
