//! The store, and its handle on one tenant's rows.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use countersign_app::ports::{Clock, Entropy, Store, StoreError, TenantStore};
use countersign_app::records::DuePage;
use countersign_core::id::TenantId;
use countersign_core::limits::RESPOND_RETRY_BUDGET;
use countersign_core::retry::{Backoff, Budget};
use countersign_core::time::Timestamp;

use crate::keys::Keys;
use crate::table::{Table, TableError};
use crate::vault::{KeyWrap, Vault};

/// Waits between the attempts of one call.
const BACKOFF: Backoff = Backoff { first: Duration::from_millis(40), cap: Duration::from_secs(1) };
/// Attempts of one call, whatever the budget says: a clock that stands still must not make it endless.
const ATTEMPTS: u32 = 24;

/// The store. It names no item: [`Store::tenant`] gives the handle that does.
#[derive(Clone)]
pub struct DynamoStore {
    pub(crate) table: Arc<dyn Table>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    pub(crate) vault: Arc<Vault>,
}

impl DynamoStore {
    /// The store in `table`, whose data keys are wrapped by `wrap`.
    pub fn new(
        table: Arc<dyn Table>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        wrap: Arc<dyn KeyWrap>,
    ) -> Self {
        let vault = Arc::new(Vault::new(wrap, Arc::clone(&entropy)));
        Self { table, clock, entropy, vault }
    }

    /// The rows of `tenant`.
    pub fn scoped(&self, tenant: &TenantId) -> TenantRows {
        TenantRows { store: self.clone(), keys: Keys::new(tenant.clone()) }
    }

    /// The present.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// A budget that begins now, for calls whose caller names none.
    pub(crate) fn budget(&self) -> Budget {
        Budget { started: self.clock.now(), total: RESPOND_RETRY_BUDGET }
    }

    /// Calls until there is an answer: throttles, conflicts and lost answers again, with jitter, within the budget.
    ///
    /// Only for calls that may be repeated: reads, and writes whose condition tells a repeat.
    pub(crate) async fn retrying<T, F>(&self, budget: Budget, call: impl Fn() -> F) -> Result<T, TableError>
    where
        F: Future<Output = Result<T, TableError>> + Send,
        T: Send,
    {
        let mut attempt = 0;
        loop {
            let error = match call().await {
                Err(error @ (TableError::Throttled | TableError::Conflict | TableError::Unavailable(_))) => {
                    error
                }
                other => return other,
            };
            let wait = BACKOFF.delay(attempt, self.entropy.bits64());
            attempt += 1;
            let left = budget.remaining(self.clock.now());
            if attempt >= ATTEMPTS || left.is_none_or(|left| wait >= left) {
                return Err(error);
            }
            self.clock.sleep(wait).await;
        }
    }
}

/// The rows of one tenant: every key that it builds is that tenant's.
#[derive(Clone)]
pub struct TenantRows {
    pub(crate) store: DynamoStore,
    pub(crate) keys: Keys,
}

/// What is left of an error once conditions are dealt with.
pub(crate) fn trouble(error: TableError) -> StoreError {
    match error {
        TableError::Condition(_) => StoreError::Corrupt("a condition failed that has no way to".into()),
        TableError::Throttled
        | TableError::Conflict
        | TableError::Unavailable(_)
        | TableError::Rejected(_) => StoreError::Unavailable(error.to_string()),
    }
}

#[async_trait]
impl Store for DynamoStore {
    fn tenant(&self, tenant: &TenantId) -> Box<dyn TenantStore> {
        Box::new(self.scoped(tenant))
    }

    async fn due(&self, shard: u8, now: Timestamp, after: Option<String>) -> Result<DuePage, StoreError> {
        self.due_page(shard, now, after).await
    }

    async fn tenants(&self) -> Result<Vec<TenantId>, StoreError> {
        self.all_tenants().await
    }

    async fn deleted_tenants(&self) -> Result<Vec<TenantId>, StoreError> {
        self.tenants_to_purge().await
    }

    async fn ready(&self) -> Result<(), StoreError> {
        self.probe().await
    }
}
