//! The policy: in force on the tenant's row, where a create reads it anyway, and each version on a row of its own.

use countersign_app::ports::StoreError;
use countersign_app::records::PolicyVersion;

use crate::rows::{number, policy_item, policy_text, read_policy, text, time};
use crate::scoped::{TenantRows, trouble};
use crate::table::{TableError, Write};

impl TenantRows {
    pub(crate) async fn put_policy_version(&self, next: &PolicyVersion) -> Result<bool, StoreError> {
        let update = "SET #policy = :policy, #policy_version = :next, #policy_updated_at = :now";
        let in_force = Write::update(self.keys.tenant_row(), update)
            .value(":policy", text(policy_text(&next.policy)))
            .value(":next", number(next.version))
            .value(":now", time(next.updated_at))
            .value(":seen", number(next.version - 1))
            .when("#policy_version = :seen");
        let writes = [in_force, Write::put(policy_item(&self.keys, next)).when_new()];
        let table = &self.store.table;
        match self.store.retrying(self.store.budget(), || table.transact(&writes)).await {
            Ok(()) => Ok(true),
            Err(TableError::Condition(reasons)) => {
                // After a lost answer what is in force is what this very call stored.
                let tenant = reasons.first().and_then(Option::as_ref).filter(|one| !one.item.is_empty());
                let found = tenant.map(|failed| read_policy(&failed.item)).transpose()?;
                Ok(found.is_some_and(|found| found == *next))
            }
            Err(error) => Err(trouble(error)),
        }
    }

    pub(crate) async fn read_policy_version(
        &self,
        version: u64,
    ) -> Result<Option<PolicyVersion>, StoreError> {
        let item = self.get(self.keys.policy(version)).await?;
        item.as_ref().map(read_policy).transpose()
    }
}
