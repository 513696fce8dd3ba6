//! Writing and reading issuers. All of a tenant lie in one partition: there are few, and each is read by its key.

use std::collections::HashMap;

use countersign_app::issuers::{RegisteredKeys, Registration};
use countersign_app::ports::StoreError;
use countersign_core::id::IssuerId;

use crate::rows::{Reader, issuer_item, read_issuer, text};
use crate::scoped::{TenantRows, trouble};
use crate::table::{Item, Query, TableError, Write};
use crate::vault::Purpose;

impl TenantRows {
    pub(crate) async fn put_issuer(&self, issuer: &Registration) -> Result<bool, StoreError> {
        let id = issuer.id(self.keys.tenant());
        let sealed = match &issuer.keys {
            RegisteredKeys::Shared(secret) => {
                Some(self.seal((Purpose::TokenSecret, id), secret.expose()).await?)
            }
            RegisteredKeys::Jwks { .. } | RegisteredKeys::Static(_) => None,
        };
        let item = issuer_item(&self.keys, issuer, sealed);
        let write = Write::put(item.clone()).when_new();
        let table = &self.store.table;
        match self.store.retrying(self.store.budget(), || table.write(&write)).await {
            Ok(()) => Ok(true),
            // After a lost answer the row is what this call wrote.
            Err(TableError::Condition(_)) => Ok(self.get(self.keys.issuer(id)).await? == Some(item)),
            Err(error) => Err(trouble(error)),
        }
    }

    pub(crate) async fn read_issuers(&self) -> Result<Vec<Registration>, StoreError> {
        let query = Query {
            index: None,
            condition: "#PK = :pk".into(),
            values: HashMap::from([(":pk".to_owned(), text(self.keys.issuers()))]),
            limit: None,
        };
        let items = self.query(&query).await?;
        futures_util::future::try_join_all(items.iter().map(|item| self.opened_issuer(item))).await
    }

    pub(crate) async fn delete_issuer(&self, id: IssuerId) -> Result<(), StoreError> {
        self.repeated(&Write::delete(self.keys.issuer(id))).await.map(drop)
    }

    pub(crate) async fn opened_issuer(&self, item: &Item) -> Result<Registration, StoreError> {
        let row = Reader::new(item, "issuer");
        let secret = match row.maybe_bytes("shared_secret")? {
            Some(sealed) => {
                let id = IssuerId::derive(self.keys.tenant(), row.text("iss")?).to_string();
                Some(self.open((Purpose::TokenSecret, &id), &sealed).await?)
            }
            None => None,
        };
        read_issuer(item, secret)
    }
}
