//! Approvers: each is a row, an entry of the tenant's `routes`, and a lookup for each thing they are found by. The three
//! change together or not at all.

use std::collections::HashMap;

use countersign_app::ports::StoreError;
use countersign_app::records::{Approver, ApproverChange, ApproverOutcome, ExternalKind, Idempotency, Route};
use countersign_core::id::ApproverId;

use crate::idempotency::{Earlier, earlier};
use crate::rows::{Reader, approver_item, number, read_approver, route_value, text};
use crate::scoped::{TenantRows, trouble};
use crate::table::{Failed, Item, Query, TableError, Write};

/// Lookups that one external id is read with; two would do to tell that it is ambiguous.
const LOOKUPS: usize = 2;

/// Writes of which the first lookup is number `from`.
struct WithLookups {
    writes: Vec<Write>,
    from: usize,
    kinds: Vec<ExternalKind>,
}

impl WithLookups {
    /// `first`, and a lookup for each of `found_by`.
    fn new(rows: &TenantRows, first: Vec<Write>, id: ApproverId, found_by: &[(ExternalKind, &str)]) -> Self {
        let from = first.len();
        let lookups = found_by.iter().map(|(kind, external)| rows.lookup_write(*kind, external, id));
        let writes = first.into_iter().chain(lookups).collect();
        Self { writes, from, kinds: found_by.iter().map(|(kind, _)| *kind).collect() }
    }

    /// The first lookup that is another approver's.
    fn taken(&self, reasons: &[Option<Failed>]) -> Option<ExternalKind> {
        let of_lookups = reasons.iter().skip(self.from).zip(&self.kinds);
        of_lookups.filter(|(failed, _)| failed.is_some()).map(|(_, kind)| *kind).next()
    }
}

impl TenantRows {
    pub(crate) async fn put_approver(
        &self,
        approver: &Approver,
        idempotency: Option<&Idempotency>,
    ) -> Result<ApproverOutcome, StoreError> {
        let mut first = vec![Write::put(approver_item(&self.keys, approver)), self.route_write(approver)];
        first.extend(idempotency.map(|key| self.idempotency_write(key, &approver.id.to_string())));
        let all = WithLookups::new(self, first, approver.id, &approver.found_by());
        let table = &self.store.table;
        let reasons = match self.store.retrying(self.store.budget(), || table.transact(&all.writes)).await {
            Ok(()) => return Ok(ApproverOutcome::Stored),
            Err(TableError::Condition(reasons)) => reasons,
            Err(error) => return Err(trouble(error)),
        };
        let repeated = idempotency.zip(reasons.get(2).and_then(Option::as_ref));
        let Some((key, failed)) = repeated else {
            let taken = all.taken(&reasons).map(ApproverOutcome::Taken);
            return taken.ok_or_else(|| StoreError::Corrupt("an approver without a tenant".into()));
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

    pub(crate) async fn swap_approver(
        &self,
        before: &Approver,
        after: &Approver,
    ) -> Result<ApproverChange, StoreError> {
        let (old, new) = (before.found_by(), after.found_by());
        let row = Write::put(approver_item(&self.keys, after))
            .value(":seen", number(before.revision))
            .when("#revision = :seen");
        let mut first = vec![row, self.route_write(after)];
        let dropped = old.iter().filter(|one| !new.contains(one) && !self.is_same_key(one, &new, after.id));
        first.extend(dropped.map(|(kind, id)| Write::delete(self.keys.external(*kind, id, after.id))));
        let all = WithLookups::new(self, first, after.id, &new);
        let table = &self.store.table;
        match self.store.retrying(self.store.budget(), || table.transact(&all.writes)).await {
            Ok(()) => Ok(ApproverChange::Stored),
            Err(TableError::Condition(reasons)) => match reasons.first() {
                Some(Some(_)) => Ok(ApproverChange::Moved),
                _ => Ok(all.taken(&reasons).map_or(ApproverChange::Moved, ApproverChange::Taken)),
            },
            Err(error) => Err(trouble(error)),
        }
    }

    /// Whether one of `new` lies under the same key: addresses that differ in case alone do.
    fn is_same_key(
        &self,
        old: &(ExternalKind, &str),
        new: &[(ExternalKind, &str)],
        approver: ApproverId,
    ) -> bool {
        let key = self.keys.external(old.0, old.1, approver);
        new.iter().any(|(kind, id)| self.keys.external(*kind, id, approver) == key)
    }

    pub(crate) async fn drop_approver(&self, approver: &Approver) -> Result<ApproverChange, StoreError> {
        let row = Write::delete(self.keys.approver(approver.id))
            .value(":seen", number(approver.revision))
            .when("#revision = :seen");
        let route = Write::update(self.keys.tenant_row(), format!("REMOVE #routes.#{}", approver.id))
            .when("attribute_exists(#PK)");
        let found_by = approver.found_by();
        let lookups =
            found_by.iter().map(|(kind, id)| Write::delete(self.keys.external(*kind, id, approver.id)));
        let writes: Vec<_> = [row, route].into_iter().chain(lookups).collect();
        let table = &self.store.table;
        match self.store.retrying(self.store.budget(), || table.transact(&writes)).await {
            Ok(()) => Ok(ApproverChange::Stored),
            Err(TableError::Condition(reasons)) => {
                // Gone already: after a lost answer by this very call.
                let is_gone = reasons.first().and_then(Option::as_ref).is_some_and(|one| one.item.is_empty());
                Ok(if is_gone { ApproverChange::Stored } else { ApproverChange::Moved })
            }
            Err(error) => Err(trouble(error)),
        }
    }

    pub(crate) async fn read_approvers(&self) -> Result<Vec<Approver>, StoreError> {
        let partition = format!("T#{}#APPROVERS", self.keys.tenant());
        self.query(&partition_query(partition, None)).await?.iter().map(read_approver).collect()
    }

    pub(crate) async fn find_external(
        &self,
        kind: ExternalKind,
        id: &str,
    ) -> Result<Option<Approver>, StoreError> {
        let partition = self.keys.external_partition(kind, id);
        let found = self.query(&partition_query(partition, Some(LOOKUPS))).await?;
        let [lookup] = found.as_slice() else { return Ok(None) };
        let approver: ApproverId = Reader::new(lookup, "external id").parsed("approver")?;
        let row = self.get(self.keys.approver(approver)).await?;
        row.as_ref().map(read_approver).transpose()
    }

    fn route_write(&self, approver: &Approver) -> Write {
        let route =
            Route { approver: approver.id, channels: approver.channels(), groups: approver.groups.clone() };
        Write::update(self.keys.tenant_row(), format!("SET #routes.#{} = :route", approver.id))
            .value(":route", route_value(&route))
            .when("attribute_exists(#PK)")
    }

    /// An id is one approver's: whose it is already keeps it.
    fn lookup_write(&self, kind: ExternalKind, id: &str, approver: ApproverId) -> Write {
        let key = self.keys.external(kind, id, approver);
        let me = approver.to_string();
        let item: Item = HashMap::from([
            ("PK".to_owned(), text(key.pk)),
            ("SK".to_owned(), text(key.sk)),
            ("approver".to_owned(), text(&*me)),
        ]);
        Write::put(item).value(":me", text(me)).when("attribute_not_exists(#PK) OR #approver = :me")
    }
}

fn partition_query(partition: String, limit: Option<usize>) -> Query {
    Query {
        index: None,
        condition: "#PK = :pk".into(),
        values: HashMap::from([(":pk".to_owned(), text(partition))]),
        limit,
    }
}
