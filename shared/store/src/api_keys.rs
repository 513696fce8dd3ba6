//! Writing and reading API keys. Each has a row of its own, which every request with it reads, and an entry in the
//! tenant's list of keys.

use std::collections::HashMap;

use countersign_app::keys::{KeyOutcome, KeyRecord, MAX_KEYS};
use countersign_app::ports::StoreError;
use countersign_app::records::Idempotency;
use countersign_core::id::ApiKeyId;
use countersign_core::seal::KeyedHash;
use countersign_core::time::Timestamp;

use crate::idempotency::{Earlier, earlier};
use crate::rows::{Reader, hash_map, key_item, people, previous_map, read_key, text, time};
use crate::scoped::{TenantRows, trouble};
use crate::table::{Item, Key, Query, TableError, Write};

impl TenantRows {
    /// What stores a key: its row, and its entry in the list.
    pub(crate) fn key_writes(&self, key: &KeyRecord) -> [Write; 2] {
        let entry = self.keys.api_key_entry(key.id);
        let listed: Item =
            HashMap::from([("PK".to_owned(), text(entry.pk)), ("SK".to_owned(), text(entry.sk))]);
        [Write::put(key_item(&self.keys, key)).when_new(), Write::put(listed)]
    }

    pub(crate) async fn put_key(
        &self,
        key: &KeyRecord,
        idempotency: Option<&Idempotency>,
    ) -> Result<KeyOutcome, StoreError> {
        let mut writes = self.key_writes(key).to_vec();
        let request_at = writes.len();
        writes.extend(idempotency.map(|request| self.idempotency_write(request, &key.id.to_string())));
        let table = &self.store.table;
        let reasons = match self.store.retrying(self.store.budget(), || table.transact(&writes)).await {
            Ok(()) => return Ok(KeyOutcome::Stored),
            Err(TableError::Condition(reasons)) => reasons,
            Err(error) => return Err(trouble(error)),
        };
        let Some((request, failed)) = idempotency.zip(reasons.get(request_at).and_then(Option::as_ref))
        else {
            return Ok(KeyOutcome::Stored); // the id is random: only this very call made it, and lost its answer
        };
        match earlier(request, failed)? {
            Earlier::Other => Ok(KeyOutcome::Reused),
            Earlier::Made(id) if id == key.id.to_string() => Ok(KeyOutcome::Stored),
            Earlier::Made(id) => {
                let id = id.parse().map_err(|_| StoreError::Corrupt("idempotency: object".into()))?;
                Ok(KeyOutcome::Repeated(id))
            }
        }
    }

    pub(crate) async fn list_keys(&self) -> Result<Vec<KeyRecord>, StoreError> {
        let query = Query {
            index: None,
            condition: "#PK = :pk".into(),
            values: HashMap::from([(":pk".to_owned(), text(self.keys.api_key_list()))]),
            limit: None,
        };
        let entries = self.query(&query).await?;
        let key = |entry: &Item| {
            let id = Reader::new(entry, "key entry").parsed("SK")?;
            Ok(self.keys.api_key(id))
        };
        let keys: Vec<Key> = entries.iter().map(key).collect::<Result<_, StoreError>>()?;
        let mut found = Vec::with_capacity(keys.len());
        for page in keys.chunks(MAX_KEYS) {
            let table = &self.store.table;
            let items = self.store.retrying(self.store.budget(), || table.batch_get(page)).await;
            for item in items.map_err(trouble)? {
                found.push(read_key(&item)?);
            }
        }
        Ok(found)
    }

    pub(crate) async fn put_hashes(&self, key: &KeyRecord, before: &KeyedHash) -> Result<bool, StoreError> {
        let previous = key.previous.as_ref().map(previous_map);
        let Some(previous) = previous else {
            return Err(StoreError::Corrupt("a rotation without an overlap".into()));
        };
        let update = "SET #hash = :hash, #previous = :previous, #people = :people";
        let write = Write::update(self.keys.api_key(key.id), update)
            .value(":hash", hash_map(&key.hash))
            .value(":people", people(&key.people))
            .value(":previous", previous)
            .value(":before", hash_map(before))
            .when("#hash = :before");
        match self.repeated(&write).await? {
            None => Ok(true),
            // After a lost answer the row has the very hash that this call wrote.
            Some(_) => {
                Ok(self.read_key_row(key.id).await?.is_some_and(|found| found.hash.mac == key.hash.mac))
            }
        }
    }

    pub(crate) async fn delete_key(&self, id: ApiKeyId) -> Result<(), StoreError> {
        let writes = [Write::delete(self.keys.api_key(id)), Write::delete(self.keys.api_key_entry(id))];
        let table = &self.store.table;
        self.store.retrying(self.store.budget(), || table.transact(&writes)).await.map_err(trouble)
    }

    pub(crate) async fn touch_key(&self, id: ApiKeyId, now: Timestamp) -> Result<(), StoreError> {
        let write = Write::update(self.keys.api_key(id), "SET #last_used_at = :now")
            .value(":now", time(now))
            .when("attribute_exists(#PK)");
        self.once(&write).await.map(drop)
    }
}
