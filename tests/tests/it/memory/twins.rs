//! Two tables that must say the same: each call goes to both, and any difference is a failed test.

use std::sync::Arc;

use async_trait::async_trait;
use aws_sdk_dynamodb::types::AttributeValue;
use countersign_embedded::engine::Engine;
use countersign_store::table::{Item, Key, Query, Scan, ScanPage, Table, TableError, Write};
use tokio::sync::Mutex;

/// A table and its twin.
pub(crate) struct Twins {
    /// The table, whose answers are given.
    pub(crate) first: Arc<dyn Table>,
    /// Its twin.
    pub(crate) second: Arc<dyn Table>,
    /// Whose turn it is.
    pub(crate) turn: Arc<Mutex<()>>,
    /// What lies behind the first.
    #[expect(dead_code, reason = "kept for as long as the table")]
    pub(crate) engine: Engine,
}

impl Twins {
    /// Does something to both, one after the other, and to its end: whoever asked for it may die meanwhile, and both
    /// must have seen it, or neither.
    async fn both<T, F>(&self, work: impl FnOnce(Arc<dyn Table>, Arc<dyn Table>) -> F) -> T
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let turn = Arc::clone(&self.turn).lock_owned().await;
        let work = work(Arc::clone(&self.first), Arc::clone(&self.second));
        #[expect(clippy::disallowed_methods, reason = "goes on where its caller was dropped")]
        let done = tokio::spawn(async move {
            let outcome = work.await;
            drop(turn);
            outcome
        });
        match done.await {
            Ok(outcome) => outcome,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }
}

#[async_trait]
impl Table for Twins {
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError> {
        let key = key.clone();
        self.both(|one, two| async move {
            let first = one.get(&key).await;
            agree(&first, &two.get(&key).await, &key);
            first
        })
        .await
    }

    async fn batch_get(&self, keys: &[Key]) -> Result<Vec<Item>, TableError> {
        let keys = keys.to_vec();
        self.both(|one, two| async move {
            let first = one.batch_get(&keys).await.map(sorted);
            agree(&first, &two.batch_get(&keys).await.map(sorted), &keys);
            first
        })
        .await
    }

    async fn write(&self, write: &Write) -> Result<(), TableError> {
        let write = write.clone();
        self.both(|one, two| async move {
            let first = one.write(&write).await;
            agree(&first, &two.write(&write).await, &write);
            first
        })
        .await
    }

    async fn update(&self, write: &Write) -> Result<Item, TableError> {
        let write = write.clone();
        self.both(|one, two| async move {
            let first = one.update(&write).await;
            agree(&first, &two.update(&write).await, &write);
            first
        })
        .await
    }

    async fn transact(&self, writes: &[Write]) -> Result<(), TableError> {
        let writes = writes.to_vec();
        self.both(|one, two| async move {
            let first = one.transact(&writes).await;
            agree(&first, &two.transact(&writes).await, &writes);
            first
        })
        .await
    }

    async fn query(&self, query: &Query) -> Result<Vec<Item>, TableError> {
        let query = query.clone();
        self.both(|one, two| async move {
            let first = one.query(&query).await;
            agree(&first, &two.query(&query).await, &query);
            first
        })
        .await
    }

    async fn scan(&self, scan: &Scan) -> Result<ScanPage, TableError> {
        let scan = scan.clone();
        self.both(|one, two| async move {
            let first = one.scan(&scan).await;
            agree(&first, &two.scan(&scan).await, &scan);
            first
        })
        .await
    }
}

#[track_caller]
fn agree<T: PartialEq + std::fmt::Debug>(
    first: &Result<T, TableError>,
    second: &Result<T, TableError>,
    call: &dyn std::fmt::Debug,
) {
    let same = match (first, second) {
        (Ok(first), Ok(second)) => first == second,
        (Err(TableError::Condition(first)), Err(TableError::Condition(second))) => {
            let items = |reasons: &[Option<countersign_store::table::Failed>]| -> Vec<Option<Item>> {
                reasons.iter().map(|reason| reason.as_ref().map(|failed| failed.item.clone())).collect()
            };
            items(first) == items(second)
        }
        (Err(TableError::Rejected(_)), Err(TableError::Rejected(_))) => true,
        _ => false,
    };
    assert!(same, "the tables differ on {call:#?}\n{first:#?}\n{second:#?}");
}

fn sorted(mut items: Vec<Item>) -> Vec<Item> {
    let place = |item: &Item| {
        let text = |name| item.get(name).and_then(|value: &AttributeValue| value.as_s().ok()).cloned();
        (text("PK"), text("SK"))
    };
    items.sort_by_key(place);
    items
}
