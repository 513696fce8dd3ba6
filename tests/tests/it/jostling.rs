//! A table before which callers jostle: each call first lets others go ahead, as a seed says.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use countersign_store::table::{Item, Key, Query, Scan, ScanPage, Table, TableError, Write};

/// The table.
pub(crate) struct JostlingTable {
    inner: Arc<dyn Table>,
    state: AtomicU64,
}

impl JostlingTable {
    /// `inner`, with the jostling of `seed`.
    pub(crate) fn new(inner: Arc<dyn Table>, seed: u64) -> Self {
        Self { inner, state: AtomicU64::new(seed) }
    }

    async fn jostle(&self) {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mixed = self.state.fetch_add(STEP, Ordering::SeqCst).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        for _ in 0..(mixed >> 61) {
            tokio::task::yield_now().await;
        }
    }
}

#[async_trait]
impl Table for JostlingTable {
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError> {
        self.jostle().await;
        self.inner.get(key).await
    }

    async fn batch_get(&self, keys: &[Key]) -> Result<Vec<Item>, TableError> {
        self.jostle().await;
        self.inner.batch_get(keys).await
    }

    async fn write(&self, write: &Write) -> Result<(), TableError> {
        self.jostle().await;
        self.inner.write(write).await
    }

    async fn transact(&self, writes: &[Write]) -> Result<(), TableError> {
        self.jostle().await;
        self.inner.transact(writes).await
    }

    async fn update(&self, write: &Write) -> Result<Item, TableError> {
        self.jostle().await;
        self.inner.update(write).await
    }

    async fn scan(&self, scan: &Scan) -> Result<ScanPage, TableError> {
        self.jostle().await;
        self.inner.scan(scan).await
    }

    async fn query(&self, query: &Query) -> Result<Vec<Item>, TableError> {
        self.jostle().await;
        self.inner.query(query).await
    }
}
