//! Writing and reading endpoints. All of a tenant lie in one partition: there are few, and each is read by its key.

use std::collections::HashMap;

use countersign_app::endpoints::{Endpoint, EndpointOutcome};
use countersign_app::ports::StoreError;
use countersign_app::records::Idempotency;
use countersign_core::endpoint::EndpointId;

use crate::idempotency::{Earlier, earlier};
use crate::rows::{endpoint_item, number, read_endpoint, text};
use crate::scoped::{TenantRows, trouble};
use crate::table::{Query, TableError, Write};

impl TenantRows {
    pub(crate) async fn put_endpoint(
        &self,
        endpoint: &Endpoint,
        idempotency: Option<&Idempotency>,
    ) -> Result<EndpointOutcome, StoreError> {
        let mut writes = vec![Write::put(endpoint_item(&self.keys, endpoint)).when_new()];
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
        let write = Write::put(endpoint_item(&self.keys, endpoint))
            .value(":before", number(before))
            .when("#revision = :before");
        let table = &self.store.table;
        match self.store.retrying(self.store.budget(), || table.write(&write)).await {
            Ok(()) => Ok(true),
            Err(TableError::Condition(_)) => {
                // After a lost answer the row is what this call wrote: secrets are sealed anew each time.
                let found = self.read_endpoint_row(&endpoint.id).await?;
                Ok(found.as_ref() == Some(endpoint))
            }
            Err(error) => Err(trouble(error)),
        }
    }

    pub(crate) async fn delete_endpoint(&self, id: &EndpointId) -> Result<(), StoreError> {
        self.repeated(&Write::delete(self.keys.endpoint(id))).await.map(drop)
    }

    pub(crate) async fn read_endpoint_row(&self, id: &EndpointId) -> Result<Option<Endpoint>, StoreError> {
        let item = self.get(self.keys.endpoint(id)).await?;
        item.as_ref().map(read_endpoint).transpose()
    }

    pub(crate) async fn read_endpoints(&self) -> Result<Vec<Endpoint>, StoreError> {
        let query = Query {
            index: None,
            condition: "#PK = :pk".into(),
            values: HashMap::from([(":pk".to_owned(), text(self.keys.endpoints()))]),
            limit: None,
        };
        self.query(&query).await?.iter().map(read_endpoint).collect()
    }
}
