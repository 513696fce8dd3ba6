//! The `due` index: the only one that crosses tenants, read by the sweep alone.

use std::collections::HashMap;

use countersign_app::ports::StoreError;
use countersign_app::records::{Due, DuePage};
use countersign_core::time::Timestamp;

use crate::keys::{DUE_INDEX, DueKey, due_shard, due_until, read_due};
use crate::rows::{Reader, text};
use crate::scoped::{DynamoStore, trouble};
use crate::table::{Item, Key, Query};

/// Entries of one page.
const PAGE: usize = 100;

impl DynamoStore {
    pub(crate) async fn due_page(
        &self,
        shard: u8,
        now: Timestamp,
        after: Option<String>,
    ) -> Result<DuePage, StoreError> {
        // `!` sorts before all that a longer key could go on with: the next page starts behind the last entry.
        let from = after.map_or_else(|| "0".to_owned(), |place| place + "!");
        let query = Query {
            index: Some(DUE_INDEX),
            condition: "#due_pk = :shard AND #due_sk BETWEEN :from AND :until".into(),
            values: HashMap::from([
                (":shard".to_owned(), text(due_shard(shard))),
                (":from".to_owned(), text(from)),
                (":until".to_owned(), text(due_until(now))),
            ]),
            limit: Some(PAGE),
        };
        let items = self.retrying(self.budget(), || self.table.query(&query)).await.map_err(trouble)?;
        let is_full = items.len() == PAGE;
        let last =
            items.last().and_then(|item| Reader::new(item, "due").text("due_sk").ok().map(str::to_owned));
        Ok(DuePage { entries: items.iter().map(entry).collect(), next: last.filter(|_| is_full) })
    }
}

fn entry(item: &Item) -> Due {
    let row = Reader::new(item, "due");
    let key = Key {
        pk: row.text("PK").unwrap_or_default().to_owned(),
        sk: row.text("SK").unwrap_or_default().to_owned(),
    };
    match read_due(&key) {
        Some(DueKey::State(tenant, id)) => Due::Elicitation(tenant, id),
        Some(DueKey::Delivery(tenant, delivery)) => Due::Delivery(tenant, delivery),
        Some(DueKey::Event(tenant, event)) => Due::Event(tenant, event),
        Some(DueKey::Code(tenant, id)) => Due::Code(tenant, id),
        None => Due::Unreadable(format!("{} {}", key.pk, key.sk)),
    }
}
