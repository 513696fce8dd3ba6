//! Deleting a tenant: a mark that ends its credentials, then its rows, page by page.
//!
//! How far the walk came lies in the tenant's entry of the list of tenants, which goes last. Wherever it is interrupted,
//! and however many walk at once, what lies before the stored place is gone: a place is stored only after its page was
//! removed. The walk is repeated until one of them meets nothing, because a request that was under way when the
//! mark was set may still have written.

use std::collections::HashMap;

use countersign_app::ports::StoreError;
use countersign_app::records::Purged;
use countersign_core::id::TenantId;
use countersign_core::quota::Quota;
use countersign_core::time::Timestamp;

use crate::keys::{TENANTS, tenant_entry};
use crate::rows::{Reader, number, text, time};
use crate::scoped::{DynamoStore, TenantRows, trouble};
use crate::table::{Key, Query, Scan, TableError, Write};

/// Items that a page of the walk passes.
const PAGE: usize = 500;
/// Rows that are removed at once.
const AT_ONCE: usize = 25;

impl TenantRows {
    pub(crate) async fn write_suspended(&self, suspended: bool) -> Result<(), StoreError> {
        let write = Write::update(self.keys.tenant_row(), "SET #suspended = :suspended")
            .value(":suspended", aws_sdk_dynamodb::types::AttributeValue::Bool(suspended))
            .when("attribute_exists(#PK)");
        self.repeated(&write).await.map(drop)
    }

    pub(crate) async fn write_quota(&self, quota: &Quota) -> Result<(), StoreError> {
        let update = "SET #quota_burst = :burst, #quota_per_minute = :rate, #quota_max_stored = :stored, \
                      #quota_max_open = :open";
        let write = Write::update(self.keys.tenant_row(), update)
            .value(":burst", number(quota.burst))
            .value(":rate", number(quota.per_minute))
            .value(":stored", number(quota.max_stored))
            .value(":open", number(quota.max_open))
            .when("attribute_exists(#PK)");
        self.repeated(&write).await.map(drop)
    }

    pub(crate) async fn mark_deleted(&self, now: Timestamp) -> Result<(), StoreError> {
        let yes = aws_sdk_dynamodb::types::AttributeValue::Bool(true);
        let writes = [
            Write::update(self.keys.tenant_row(), "SET #deleting = :yes")
                .value(":yes", yes)
                .when("attribute_exists(#PK)"),
            Write::update(
                tenant_entry(self.keys.tenant()),
                "SET #deleting_at = if_not_exists(#deleting_at, :now)",
            )
            .value(":now", time(now))
            .when("attribute_exists(#PK)"),
        ];
        let table = &self.store.table;
        match self.store.retrying(self.store.budget(), || table.transact(&writes)).await {
            Ok(()) | Err(TableError::Condition(_)) => Ok(()), // gone already
            Err(error) => Err(trouble(error)),
        }
    }

    pub(crate) async fn remove_page(&self) -> Result<Purged, StoreError> {
        let entry = tenant_entry(self.keys.tenant());
        let Some(row) = self.get(entry.clone()).await? else { return Ok(Purged::All) };
        let walk = Reader::new(&row, "tenant entry");
        if walk.maybe_time("deleting_at")?.is_none() {
            return Err(StoreError::Corrupt("a purge of a tenant that is not deleted".into()));
        }
        let after = walk.maybe_text("after_pk")?.zip(walk.maybe_text("after_sk")?);
        let scan = Scan {
            prefix: format!("T#{}#", self.keys.tenant()),
            after: after.map(|(pk, sk)| Key { pk: pk.to_owned(), sk: sk.to_owned() }),
            limit: PAGE,
        };
        let table = &self.store.table;
        let page = self.store.retrying(self.store.budget(), || table.scan(&scan)).await.map_err(trouble)?;
        // The tenant's own row goes last: until then its name is taken, and its credentials are known to be ended.
        let own = self.keys.tenant_row();
        let rows: Vec<&Key> = page.keys.iter().filter(|key| **key != own).collect();
        for some in rows.chunks(AT_ONCE) {
            futures_util::future::try_join_all(some.iter().map(|key| self.remove(key))).await?;
        }
        let met = walk.maybe_number::<usize>("met")?.unwrap_or(0) + rows.len();
        match page.next {
            Some(next) => self.keep_place(entry, &next, met).await?,
            None if met > 0 => self.begin_again(entry).await?,
            None => {
                let writes = [Write::delete(own), Write::delete(entry)];
                self.store
                    .retrying(self.store.budget(), || table.transact(&writes))
                    .await
                    .map_err(trouble)?;
                return Ok(Purged::All);
            }
        }
        Ok(Purged::Page(rows.len()))
    }

    async fn remove(&self, key: &Key) -> Result<(), StoreError> {
        self.repeated(&Write::delete(key.clone())).await.map(drop)
    }

    async fn keep_place(&self, entry: Key, next: &Key, met: usize) -> Result<(), StoreError> {
        let write = Write::update(entry, "SET #after_pk = :pk, #after_sk = :sk, #met = :met")
            .value(":pk", text(&*next.pk))
            .value(":sk", text(&*next.sk))
            .value(":met", number(met))
            .when("attribute_exists(#deleting_at)");
        self.repeated(&write).await.map(drop)
    }

    async fn begin_again(&self, entry: Key) -> Result<(), StoreError> {
        let write =
            Write::update(entry, "REMOVE #after_pk, #after_sk, #met").when("attribute_exists(#deleting_at)");
        self.repeated(&write).await.map(drop)
    }
}

impl DynamoStore {
    pub(crate) async fn tenants_to_purge(&self) -> Result<Vec<TenantId>, StoreError> {
        let query = Query {
            index: None,
            condition: "#PK = :pk".into(),
            values: HashMap::from([(":pk".to_owned(), text(TENANTS))]),
            limit: None,
        };
        let items = self.retrying(self.budget(), || self.table.query(&query)).await.map_err(trouble)?;
        let marked = items.iter().filter(|item| item.contains_key("deleting_at"));
        marked.map(|item| Reader::new(item, "tenant list").parsed("SK")).collect()
    }
}
