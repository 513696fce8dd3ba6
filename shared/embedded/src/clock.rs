//! A clock that a developer may move.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use countersign_app::ports::Clock;
use countersign_core::time::Timestamp;

/// A running clock and an offset on it. The offset is not kept over a restart.
pub struct OffsetClock {
    running: Arc<dyn Clock>,
    offset_ms: AtomicI64,
}

impl OffsetClock {
    /// `running`, not moved yet.
    pub fn new(running: Arc<dyn Clock>) -> Self {
        Self { running, offset_ms: AtomicI64::new(0) }
    }

    /// Moves the clock by `millis`, back where negative; the whole offset afterwards.
    pub fn advance(&self, millis: i64) -> i64 {
        self.offset_ms.fetch_add(millis, Ordering::Relaxed).saturating_add(millis)
    }
}

#[async_trait]
impl Clock for OffsetClock {
    fn now(&self) -> Timestamp {
        let offset = self.offset_ms.load(Ordering::Relaxed);
        Timestamp::from_millis(self.running.now().millis().saturating_add(offset))
    }

    async fn sleep(&self, span: Duration) {
        self.running.sleep(span).await;
    }
}
