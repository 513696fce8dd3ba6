//! The one real clock.

use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use countersign_app::ports::Clock;
use countersign_core::time::Timestamp;

/// The machine's clock, and tokio's timer.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[expect(clippy::disallowed_methods, reason = "the one real clock")]
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        // A clock before 1970 is a broken clock: the epoch is as good an answer as any.
        let millis = since.unwrap_or_default().as_millis();
        Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
    }

    async fn sleep(&self, span: Duration) {
        #[expect(clippy::disallowed_methods, reason = "the one real clock")]
        tokio::time::sleep(span).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn waiting_takes_as_long_as_it_says() {
        let before = SystemClock.now();
        SystemClock.sleep(Duration::from_millis(20)).await;
        let waited = SystemClock.now().since(before);
        assert!(waited >= Duration::from_millis(19), "{waited:?}");
        assert!(before > Timestamp::parse("2024-01-01T00:00:00Z").unwrap());
    }
}
