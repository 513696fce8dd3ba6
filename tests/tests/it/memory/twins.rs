//! Two tables that must say the same: each call goes to both, and any difference is a failed test.

use std::sync::Arc;

use async_trait::async_trait;
use aws_sdk_dynamodb::types::AttributeValue;
use countersign_embedded::engine::Engine;
use countersign_store::table::{Item, Key, Query, Scan, ScanPage, Table, TableError, Write};

/// A table and its twin.
pub(crate) struct Twins {
    /// The table, whose answers are given.
    pub(crate) first: Arc<dyn Table>,
    /// Its twin.
    pub(crate) second: Arc<dyn Table>,
    /// What lies behind the first.
    #[expect(dead_code, reason = "kept for as long as the table")]
    pub(crate) engine: Engine,
}

#[async_trait]
impl Table for Twins {
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError> {
        let first = self.first.get(key).await;
        agree(&first, &self.second.get(key).await, &key);
        first
    }

    async fn batch_get(&self, keys: &[Key]) -> Result<Vec<Item>, TableError> {
        let first = self.first.batch_get(keys).await.map(sorted);
        agree(&first, &self.second.batch_get(keys).await.map(sorted), &keys);
        first
    }

    async fn write(&self, write: &Write) -> Result<(), TableError> {
        let first = self.first.write(write).await;
        agree(&first, &self.second.write(write).await, &write);
        first
    }

    async fn transact(&self, writes: &[Write]) -> Result<(), TableError> {
        let first = self.first.transact(writes).await;
        agree(&first, &self.second.transact(writes).await, &writes);
        first
    }

    async fn update(&self, write: &Write) -> Result<Item, TableError> {
        let first = self.first.update(write).await;
        agree(&first, &self.second.update(write).await, &write);
        first
    }

    async fn scan(&self, scan: &Scan) -> Result<ScanPage, TableError> {
        let first = self.first.scan(scan).await;
        agree(&first, &self.second.scan(scan).await, &scan);
        first
    }

    async fn query(&self, query: &Query) -> Result<Vec<Item>, TableError> {
        let first = self.first.query(query).await;
        agree(&first, &self.second.query(query).await, &query);
        first
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
