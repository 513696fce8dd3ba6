//! Tenants, keys, approvers.

use std::collections::HashMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use countersign_app::keys::KeyRecord;
use countersign_app::ports::StoreError;
use countersign_app::records::{Approver, ApproverOutcome, Idempotency, Route, Tenant};
use countersign_core::endpoint::ActorKind;
use countersign_core::id::TenantId;

use crate::idempotency::{Earlier, earlier};
use crate::keys::TENANTS;
use crate::rows::{Reader, approver_item, read_approver, route_value, tenant_item, text};
use crate::scoped::{DynamoStore, TenantRows, trouble};
use crate::table::{Query, TableError, Write};

impl TenantRows {
    pub(crate) async fn put_tenant(&self, tenant: &Tenant, key: &KeyRecord) -> Result<bool, StoreError> {
        let mut item = tenant_item(&self.keys, tenant);
        let data_key = self.store.vault.new_data_key(&tenant.id).await?;
        item.insert("data_key".to_owned(), AttributeValue::B(Blob::new(data_key)));
        let listed =
            HashMap::from([("PK".to_owned(), text(TENANTS)), ("SK".to_owned(), text(tenant.id.as_str()))]);
        let mut writes = vec![Write::put(item).when_new(), Write::put(listed)];
        writes.extend(self.key_writes(key));
        let table = &self.store.table;
        match self.store.retrying(self.store.budget(), || table.transact(&writes)).await {
            Ok(()) => Ok(true),
            // After a lost answer the tenant is there with this very key: then this call made it.
            Err(TableError::Condition(_)) => Ok(self.read_key_row(key.id).await?.is_some()),
            Err(error) => Err(trouble(error)),
        }
    }

    pub(crate) async fn put_approver(
        &self,
        approver: &Approver,
        idempotency: Option<&Idempotency>,
    ) -> Result<ApproverOutcome, StoreError> {
        let route = Route { approver: approver.id, channels: approver.channels() };
        let update = format!("SET #routes.#{} = :channels", approver.id);
        let mut writes = vec![
            Write::put(approver_item(&self.keys, approver)),
            Write::update(self.keys.tenant_row(), update)
                .value(":channels", route_value(&route))
                .when("attribute_exists(#PK)"),
        ];
        writes.extend(idempotency.map(|key| self.idempotency_write(key, &approver.id.to_string())));
        let table = &self.store.table;
        let reasons = match self.store.retrying(self.store.budget(), || table.transact(&writes)).await {
            Ok(()) => return Ok(ApproverOutcome::Stored),
            Err(TableError::Condition(reasons)) => reasons,
            Err(error) => return Err(trouble(error)),
        };
        let Some((key, failed)) = idempotency.zip(reasons.get(2).and_then(Option::as_ref)) else {
            return Err(StoreError::Corrupt("an approver without a tenant".into()));
        };
        match earlier(key, failed)? {
            Earlier::Other => Ok(ApproverOutcome::Reused),
            // After a lost answer this very call made them.
            Earlier::Made(id) if id == approver.id.to_string() => Ok(ApproverOutcome::Stored),
            Earlier::Made(id) => {
                let id = id.parse().map_err(|_| StoreError::Corrupt("idempotency: object".into()))?;
                Ok(ApproverOutcome::Repeated(id))
            }
        }
    }

    pub(crate) async fn find_approver(
        &self,
        kind: ActorKind,
        id: &str,
    ) -> Result<Option<Approver>, StoreError> {
        let Some(lookup) = self.get(self.keys.external(kind, id)).await? else { return Ok(None) };
        let approver = Reader::new(&lookup, "external id").parsed("approver")?;
        let item = self.get(self.keys.approver(approver)).await?;
        item.as_ref().map(read_approver).transpose()
    }

    pub(crate) async fn read_approvers(&self) -> Result<Vec<Approver>, StoreError> {
        let partition = format!("T#{}#APPROVERS", self.keys.tenant());
        let query = Query {
            index: None,
            condition: "#PK = :pk".into(),
            values: HashMap::from([(":pk".to_owned(), text(partition))]),
            limit: None,
        };
        self.query(&query).await?.iter().map(read_approver).collect()
    }
}

impl DynamoStore {
    pub(crate) async fn all_tenants(&self) -> Result<Vec<TenantId>, StoreError> {
        let query = Query {
            index: None,
            condition: "#PK = :pk".into(),
            values: HashMap::from([(":pk".to_owned(), text(TENANTS))]),
            limit: None,
        };
        let items = self.retrying(self.budget(), || self.table.query(&query)).await.map_err(trouble)?;
        items.iter().map(|item| Reader::new(item, "tenant list").parsed("SK")).collect()
    }
}
