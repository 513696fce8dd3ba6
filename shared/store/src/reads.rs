//! Reading rows: one for a poll, several at once for everything else.

use std::collections::HashMap;

use countersign_app::keys::KeyRecord;
use countersign_app::ports::StoreError;
use countersign_app::records::{Rows, Wanted};
use countersign_core::delivery::{Delivery, DeliveryKey};
use countersign_core::elicitation::Elicitation;
use countersign_core::id::{ApiKeyId, ElicitationId, Reference, RequestId};
use countersign_core::quota::Bucket;

use crate::humans::human_of;
use crate::keys::SHARDS;
use crate::quota::read_bucket;
use crate::rows::{
    Reader, read_approver, read_content, read_delivery_row, read_key, read_session, read_tenant, text,
};
use crate::scoped::{DynamoStore, TenantRows, trouble};
use crate::table::{Item, Key, Query};

impl TenantRows {
    pub(crate) async fn read_rows(&self, wanted: &Wanted) -> Result<Rows, StoreError> {
        let keys = self.wanted_keys(wanted);
        if keys.is_empty() {
            return Ok(Rows::default());
        }
        let table = &self.store.table;
        let items =
            self.store.retrying(self.store.budget(), || table.batch_get(&keys)).await.map_err(trouble)?;
        let found: HashMap<(&str, &str), &Item> =
            items.iter().filter_map(|item| Some((place(item)?, item))).collect();
        let get = |key: Key| found.get(&(key.pk.as_str(), key.sk.as_str())).copied();
        let of = wanted.elicitation;
        let more = wanted.more.iter().filter_map(|id| get(self.keys.state(*id)));
        Ok(Rows {
            tenant: get(self.keys.tenant_row()).map(read_tenant).transpose()?,
            key: wanted.key.and_then(|id| get(self.keys.api_key(id))).map(read_key).transpose()?,
            session: wanted
                .session
                .and_then(|id| get(self.keys.session(id)))
                .map(read_session)
                .transpose()?,
            elicitation: self.maybe_question(of.and_then(|id| get(self.keys.state(id)))).await?,
            content: of.and_then(|id| get(self.keys.body(id))).map(read_content).transpose()?,
            more: futures_util::future::try_join_all(more.map(|item| self.question(item))).await?,
            approver: wanted
                .approver
                .and_then(|id| get(self.keys.approver(id)))
                .map(read_approver)
                .transpose()?,
            delivery: wanted
                .delivery
                .and_then(|key| get(self.keys.delivery(&key)))
                .map(read_delivery_row)
                .transpose()?,
            endpoint: match wanted.endpoint.as_ref().and_then(|id| get(self.keys.endpoint(id))) {
                Some(item) => Some(self.opened_endpoint(item).await?),
                None => None,
            },
            issuer: match wanted.issuer.and_then(|id| get(self.keys.issuer(id))) {
                Some(item) => Some(self.opened_issuer(item).await?),
                None => None,
            },
            bucket: match get(self.keys.bucket()) {
                Some(item) => read_bucket(item)?,
                None => Bucket::default(),
            },
            human: human_of(wanted.human.and_then(|(of, id)| get(self.keys.human_session(of, id))))?,
            nonce: wanted.nonce.is_some_and(|id| get(self.keys.nonce(id)).is_some()),
        })
    }

    fn wanted_keys(&self, wanted: &Wanted) -> Vec<Key> {
        let keys = &self.keys;
        let mut list = Vec::new();
        list.extend(wanted.tenant.then(|| keys.tenant_row()));
        list.extend(wanted.key.map(|id| keys.api_key(id)));
        list.extend(wanted.session.map(|id| keys.session(id)));
        list.extend(wanted.elicitation.map(|id| keys.state(id)));
        list.extend(wanted.elicitation.filter(|_| wanted.content).map(|id| keys.body(id)));
        list.extend(wanted.more.iter().map(|id| keys.state(*id)));
        list.extend(wanted.approver.map(|id| keys.approver(id)));
        list.extend(wanted.delivery.map(|key| keys.delivery(&key)));
        list.extend(wanted.endpoint.as_ref().map(|id| keys.endpoint(id)));
        list.extend(wanted.issuer.map(|id| keys.issuer(id)));
        list.extend(wanted.bucket.then(|| keys.bucket()));
        list.extend(wanted.human.map(|(of, id)| keys.human_session(of, id)));
        list.extend(wanted.nonce.map(|id| keys.nonce(id)));
        list
    }

    /// One attempt only: a poll answers `pending` rather than wait for a second.
    pub(crate) async fn read_state_once(&self, id: ElicitationId) -> Result<Option<Elicitation>, StoreError> {
        let item = self.store.table.get(&self.keys.state(id)).await.map_err(trouble)?;
        self.maybe_question(item.as_ref()).await
    }

    pub(crate) async fn read_key_row(&self, id: ApiKeyId) -> Result<Option<KeyRecord>, StoreError> {
        let item = self.get(self.keys.api_key(id)).await?;
        item.as_ref().map(read_key).transpose()
    }

    pub(crate) async fn read_delivery(&self, key: DeliveryKey) -> Result<Option<Delivery>, StoreError> {
        let item = self.get(self.keys.delivery(&key)).await?;
        item.as_ref().map(read_delivery_row).transpose()
    }

    pub(crate) async fn find_reference(
        &self,
        reference: &Reference,
    ) -> Result<Option<ElicitationId>, StoreError> {
        let item = self.get(self.keys.reference(reference)).await?;
        item.map(|item| Reader::new(&item, "reference").parsed("elicitation")).transpose()
    }

    pub(crate) async fn find_request(
        &self,
        request_id: &RequestId,
    ) -> Result<Vec<ElicitationId>, StoreError> {
        let query = Query {
            index: None,
            condition: "#PK = :pk".into(),
            values: HashMap::from([(":pk".to_owned(), text(self.keys.request(request_id)))]),
            limit: Some(2 * usize::from(SHARDS)), // two would do to tell that it is ambiguous
        };
        let items = self.query(&query).await?;
        items.iter().map(|item| Reader::new(item, "request-id").parsed("SK")).collect()
    }

    pub(crate) async fn get(&self, key: Key) -> Result<Option<Item>, StoreError> {
        let table = &self.store.table;
        self.store.retrying(self.store.budget(), || table.get(&key)).await.map_err(trouble)
    }

    pub(crate) async fn query(&self, query: &Query) -> Result<Vec<Item>, StoreError> {
        let table = &self.store.table;
        self.store.retrying(self.store.budget(), || table.query(query)).await.map_err(trouble)
    }
}

impl DynamoStore {
    pub(crate) async fn probe(&self) -> Result<(), StoreError> {
        let key = Key { pk: "READY".into(), sk: "READY".into() };
        self.table.get(&key).await.map(drop).map_err(trouble)
    }
}

fn place(item: &Item) -> Option<(&str, &str)> {
    let text = |name| item.get(name)?.as_s().ok().map(String::as_str);
    Some((text("PK")?, text("SK")?))
}
