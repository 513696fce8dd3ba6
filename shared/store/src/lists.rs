//! The `list` index: what is pending in a tenant, and all of a session.

use std::collections::HashMap;

use countersign_app::ports::StoreError;
use countersign_core::id::{ElicitationId, SessionId};
use futures_util::future::try_join_all;

use crate::keys::{LIST_INDEX, SHARDS};
use crate::rows::{Reader, text};
use crate::scoped::{TenantRows, trouble};
use crate::table::{Item, Query};

impl TenantRows {
    pub(crate) async fn list_pending(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, ElicitationId)>, StoreError> {
        let shards = (0..SHARDS).map(|shard| self.list_page(self.keys.pending_list(shard), after, limit));
        let mut entries = try_join_all(shards).await?.concat();
        entries.sort();
        entries.truncate(limit);
        Ok(entries)
    }

    pub(crate) async fn list_session(
        &self,
        session: SessionId,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, ElicitationId)>, StoreError> {
        self.list_page(self.keys.session_list(session), after, limit).await
    }

    async fn list_page(
        &self,
        partition: String,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, ElicitationId)>, StoreError> {
        self.query(&page_query(partition, after, limit)).await?.iter().map(entry).collect()
    }

    pub(crate) async fn list_open_once(&self, limit: usize) -> Result<Vec<ElicitationId>, StoreError> {
        let queries: Vec<_> =
            (0..SHARDS).map(|shard| page_query(self.keys.pending_list(shard), None, limit)).collect();
        let shards = try_join_all(queries.iter().map(|query| self.store.table.query(query)));
        let items = shards.await.map_err(trouble)?.concat();
        let mut entries = items.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
        entries.sort();
        entries.truncate(limit);
        Ok(entries.into_iter().map(|(_, id)| id).collect())
    }
}

fn page_query(partition: String, after: Option<&str>, limit: usize) -> Query {
    Query {
        index: Some(LIST_INDEX),
        condition: "#list_pk = :list AND #list_sk > :after".into(),
        values: HashMap::from([
            (":list".to_owned(), text(partition)),
            (":after".to_owned(), text(after.unwrap_or("0"))),
        ]),
        limit: Some(limit),
    }
}

fn entry(item: &Item) -> Result<(String, ElicitationId), StoreError> {
    let row = Reader::new(item, "list");
    let place = row.text("list_sk")?;
    let id = place.split_once('#').and_then(|(_, id)| id.parse().ok());
    Ok((place.to_owned(), id.ok_or_else(|| row.corrupt("list_sk"))?))
}
