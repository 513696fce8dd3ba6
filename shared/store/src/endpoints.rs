//! Writing and reading endpoints. All of a tenant lie in one partition: there are few, and each is read by its key.

use std::collections::HashMap;

use countersign_app::endpoints::{Endpoint, EndpointOutcome, KeptSecret};
use countersign_app::ports::StoreError;
use countersign_app::records::Idempotency;
use countersign_core::endpoint::EndpointId;

use crate::idempotency::{Earlier, earlier};
use crate::rows::{SealedSecret, SealedSecrets, endpoint_item, number, read_endpoint, text};
use crate::scoped::{TenantRows, trouble};
use crate::table::{Item, Query, TableError, Write};
use crate::vault::Purpose;

impl TenantRows {
    pub(crate) async fn put_endpoint(
        &self,
        endpoint: &Endpoint,
        idempotency: Option<&Idempotency>,
    ) -> Result<EndpointOutcome, StoreError> {
        let item = self.sealed_endpoint(endpoint).await?;
        let mut writes = vec![Write::put(item).when_new()];
        writes.extend(idempotency.map(|key| self.idempotency_write(key, &endpoint.id.to_string())));
        let table = &self.store.table;
        let reasons = match self.store.retrying(self.store.budget(), || table.transact(&writes)).await {
            Ok(()) => return Ok(EndpointOutcome::Stored),
            Err(TableError::Condition(reasons)) => reasons,
            Err(error) => return Err(trouble(error)),
        };
        let Some((key, failed)) = idempotency.zip(reasons.get(1).and_then(Option::as_ref)) else {
            return Ok(EndpointOutcome::Stored); // the id is random: only this very call made it, and lost its answer
        };
        match earlier(key, failed)? {
            Earlier::Other => Ok(EndpointOutcome::Reused),
            Earlier::Made(id) if id == endpoint.id.to_string() => Ok(EndpointOutcome::Stored),
            Earlier::Made(id) => {
                let id = id.parse().map_err(|_| StoreError::Corrupt("idempotency: object".into()))?;
                Ok(EndpointOutcome::Repeated(id))
            }
        }
    }

    /// Writes an endpoint over the revision before it; `false` if it has moved on, or is gone.
    pub(crate) async fn overwrite_endpoint(&self, endpoint: &Endpoint) -> Result<bool, StoreError> {
        let before = endpoint.revision - 1;
        let item = self.sealed_endpoint(endpoint).await?;
        let write = Write::put(item.clone()).value(":before", number(before)).when("#revision = :before");
        let table = &self.store.table;
        match self.store.retrying(self.store.budget(), || table.write(&write)).await {
            Ok(()) => Ok(true),
            Err(TableError::Condition(_)) => {
                // After a lost answer the row is what this call wrote, to the byte: secrets are sealed anew each time.
                Ok(self.get(self.keys.endpoint(&endpoint.id)).await? == Some(item))
            }
            Err(error) => Err(trouble(error)),
        }
    }

    pub(crate) async fn delete_endpoint(&self, id: &EndpointId) -> Result<(), StoreError> {
        self.repeated(&Write::delete(self.keys.endpoint(id))).await.map(drop)
    }

    pub(crate) async fn read_endpoint_row(&self, id: &EndpointId) -> Result<Option<Endpoint>, StoreError> {
        match self.get(self.keys.endpoint(id)).await? {
            Some(item) => self.opened_endpoint(&item).await.map(Some),
            None => Ok(None),
        }
    }

    async fn sealed_endpoint(&self, endpoint: &Endpoint) -> Result<Item, StoreError> {
        let sealed = SealedSecrets {
            outgoing: self.seal_secrets(&endpoint.id, &endpoint.secrets).await?,
            inbound: self.seal_secrets(&endpoint.id, &endpoint.inbound_secrets).await?,
        };
        Ok(endpoint_item(&self.keys, endpoint, &sealed))
    }

    /// The endpoint that an item is, with its secrets in the open.
    pub(crate) async fn opened_endpoint(&self, item: &Item) -> Result<Endpoint, StoreError> {
        let (endpoint, sealed) = read_endpoint(item)?;
        Ok(Endpoint {
            secrets: self.open_secrets(&endpoint.id, &sealed.outgoing).await?,
            inbound_secrets: self.open_secrets(&endpoint.id, &sealed.inbound).await?,
            ..endpoint
        })
    }

    async fn seal_secrets(
        &self,
        id: &EndpointId,
        secrets: &[KeptSecret],
    ) -> Result<Vec<SealedSecret>, StoreError> {
        let mut sealed = Vec::with_capacity(secrets.len());
        for one in secrets {
            let plain = one.secret.reveal();
            let value = self.seal((Purpose::SigningSecret, id), plain.as_bytes()).await?;
            sealed.push(SealedSecret { sealed: value, until: one.until });
        }
        Ok(sealed)
    }

    async fn open_secrets(
        &self,
        id: &EndpointId,
        sealed: &[SealedSecret],
    ) -> Result<Vec<KeptSecret>, StoreError> {
        let mut secrets = Vec::with_capacity(sealed.len());
        for one in sealed {
            let plain = self.open((Purpose::SigningSecret, &id.to_string()), &one.sealed).await?;
            let secret = std::str::from_utf8(&plain).ok().and_then(|text| text.parse().ok());
            let secret = secret.ok_or_else(|| StoreError::Corrupt("endpoint secret".into()))?;
            secrets.push(KeptSecret { secret, until: one.until });
        }
        Ok(secrets)
    }

    pub(crate) async fn read_endpoints(&self) -> Result<Vec<Endpoint>, StoreError> {
        let query = Query {
            index: None,
            condition: "#PK = :pk".into(),
            values: HashMap::from([(":pk".to_owned(), text(self.keys.endpoints()))]),
            limit: None,
        };
        let items = self.query(&query).await?;
        futures_util::future::try_join_all(items.iter().map(|item| self.opened_endpoint(item))).await
    }
}
