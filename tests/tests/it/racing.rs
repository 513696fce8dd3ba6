//! A table that is slow when a test says so.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use countersign_store::table::{Item, Key, Query, Scan, ScanPage, Table, TableError, Write};
use countersign_testkit::MockClock;

/// The table: when slow, the next transaction is refused for load and the clock goes on before it can be repeated.
pub(crate) struct RacingTable {
    inner: Arc<dyn Table>,
    clock: Arc<MockClock>,
    slow: Mutex<Option<Duration>>,
}

impl RacingTable {
    pub(crate) fn new(inner: Arc<dyn Table>, clock: Arc<MockClock>) -> Self {
        Self { inner, clock, slow: Mutex::new(None) }
    }

    /// Makes the next transaction slow, or not.
    pub(crate) fn set_slow(&self, slow: Option<Duration>) {
        *self.slow.lock().unwrap_or_else(PoisonError::into_inner) = slow;
    }
}

#[async_trait]
impl Table for RacingTable {
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError> {
        self.inner.get(key).await
    }

    async fn batch_get(&self, keys: &[Key]) -> Result<Vec<Item>, TableError> {
        self.inner.batch_get(keys).await
    }

    async fn write(&self, write: &Write) -> Result<(), TableError> {
        self.inner.write(write).await
    }

    async fn transact(&self, writes: &[Write]) -> Result<(), TableError> {
        if let Some(span) = self.slow.lock().unwrap_or_else(PoisonError::into_inner).take() {
            self.clock.advance(span);
            return Err(TableError::Throttled);
        }
        self.inner.transact(writes).await
    }

    async fn update(&self, write: &Write) -> Result<Item, TableError> {
        self.inner.update(write).await
    }

    async fn scan(&self, scan: &Scan) -> Result<ScanPage, TableError> {
        self.inner.scan(scan).await
    }

    async fn query(&self, query: &Query) -> Result<Vec<Item>, TableError> {
        self.inner.query(query).await
    }
}
