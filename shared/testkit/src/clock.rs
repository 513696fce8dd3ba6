//! A clock that stands still until a test moves it.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use countersign_app::ports::Clock;
use countersign_core::time::Timestamp;

/// A clock with millisecond resolution. Waiting on it moves it: nothing in a test sleeps.
pub struct MockClock(AtomicI64);

impl MockClock {
    /// A clock that shows `start`.
    pub const fn at(start: Timestamp) -> Self {
        Self(AtomicI64::new(start.millis()))
    }

    /// Moves the clock forward.
    pub fn advance(&self, span: Duration) {
        let millis = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
        self.0.fetch_add(millis, Ordering::SeqCst);
    }

    /// Moves the clock back.
    pub fn step_back(&self, span: Duration) {
        let millis = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
        self.0.fetch_sub(millis, Ordering::SeqCst);
    }
}

#[async_trait]
impl Clock for MockClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }

    async fn sleep(&self, span: Duration) {
        self.advance(span);
        tokio::task::yield_now().await;
    }
}
