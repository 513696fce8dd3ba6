//! Tenants and their first keys.

use std::collections::HashMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use countersign_app::keys::KeyRecord;
use countersign_app::ports::StoreError;
use countersign_app::records::Tenant;
use countersign_core::id::TenantId;

use crate::keys::TENANTS;
use crate::rows::{Reader, policy_item, tenant_item, text};
use crate::scoped::{DynamoStore, TenantRows, trouble};
use crate::table::{Query, TableError, Write};

impl TenantRows {
    pub(crate) async fn put_tenant(&self, tenant: &Tenant, key: &KeyRecord) -> Result<bool, StoreError> {
        let mut item = tenant_item(&self.keys, tenant);
        let data_key = self.store.vault.new_data_key(&tenant.id).await?;
        item.insert("data_key".to_owned(), AttributeValue::B(Blob::new(data_key)));
        let listed =
            HashMap::from([("PK".to_owned(), text(TENANTS)), ("SK".to_owned(), text(tenant.id.as_str()))]);
        let mut writes = vec![
            Write::put(item).when_new(),
            Write::put(listed),
            Write::put(policy_item(&self.keys, &tenant.policy)),
        ];
        writes.extend(self.key_writes(key));
        let table = &self.store.table;
        match self.store.retrying(self.store.budget(), || table.transact(&writes)).await {
            Ok(()) => Ok(true),
            // After a lost answer the tenant is there with this very key: then this call made it.
            Err(TableError::Condition(_)) => Ok(self.read_key_row(key.id).await?.is_some()),
            Err(error) => Err(trouble(error)),
        }
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
