//! Dying at a store call: the call at which a process is killed never returns, nor does any after it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use async_trait::async_trait;
use countersign_store::table::{Item, Key, Query, Scan, ScanPage, Table, TableError, Write};
use tokio::sync::Notify;

/// Whether the fatal call was applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Die {
    /// The process dies before the table sees the call.
    Before,
    /// The table applies the call, the process dies before it hears of it.
    After,
}

/// A table under a process that can be made to die.
pub struct MortalTable {
    inner: Arc<dyn Table>,
    calls: AtomicU64,
    /// Calls until death; negative is never.
    left: AtomicI64,
    after: AtomicBool,
    died: Notify,
}

impl MortalTable {
    /// `inner`, under a process that lives.
    pub fn new(inner: Arc<dyn Table>) -> Self {
        Self {
            inner,
            calls: AtomicU64::new(0),
            left: AtomicI64::new(-1),
            after: AtomicBool::new(false),
            died: Notify::new(),
        }
    }

    /// Calls so far.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }

    /// Runs `work` in a process that dies at its call number `call`, counted from 0. `None` if it died.
    pub async fn dying_at<T>(&self, call: u32, die: Die, work: impl Future<Output = T>) -> Option<T> {
        // Two calls side by side may both meet one death: what the second left over is not this process's.
        Box::pin(self.died.notified()).as_mut().enable();
        self.after.store(die == Die::After, Ordering::SeqCst);
        self.left.store(i64::from(call), Ordering::SeqCst);
        let outcome = tokio::select! {
            biased;
            () = self.died.notified() => None,
            done = work => Some(done),
        };
        self.left.store(-1, Ordering::SeqCst);
        outcome
    }

    async fn call<T>(
        &self,
        call: impl Future<Output = Result<T, TableError>> + Send,
    ) -> Result<T, TableError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let left = self.left.load(Ordering::SeqCst);
        if left == 0 {
            if self.after.load(Ordering::SeqCst) {
                let _ = call.await;
            }
            self.died.notify_one();
            return std::future::pending().await;
        }
        if left > 0 {
            self.left.store(left - 1, Ordering::SeqCst);
        }
        call.await
    }
}

#[async_trait]
impl Table for MortalTable {
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError> {
        self.call(self.inner.get(key)).await
    }

    async fn batch_get(&self, keys: &[Key]) -> Result<Vec<Item>, TableError> {
        self.call(self.inner.batch_get(keys)).await
    }

    async fn write(&self, write: &Write) -> Result<(), TableError> {
        self.call(self.inner.write(write)).await
    }

    async fn transact(&self, writes: &[Write]) -> Result<(), TableError> {
        self.call(self.inner.transact(writes)).await
    }

    async fn update(&self, write: &Write) -> Result<Item, TableError> {
        self.call(self.inner.update(write)).await
    }

    async fn scan(&self, scan: &Scan) -> Result<ScanPage, TableError> {
        self.call(self.inner.scan(scan)).await
    }

    async fn query(&self, query: &Query) -> Result<Vec<Item>, TableError> {
        self.call(self.inner.query(query)).await
    }
}
