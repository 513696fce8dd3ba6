//! Passkeys lie in their approver's partition, beside the sessions and devices.

use countersign_app::passkeys::Passkey;
use countersign_app::ports::StoreError;
use countersign_app::records::Nonce;
use countersign_core::time::Timestamp;

use crate::rows::{number, passkey_row, time};
use crate::scoped::{TenantRows, trouble};
use crate::table::{TableError, Write};

impl TenantRows {
    /// One transaction: the form that adds it adds no other.
    pub(crate) async fn write_passkey(&self, passkey: &Passkey, once: &Nonce) -> Result<bool, StoreError> {
        let writes = [self.spend_nonce(once), Write::put(passkey_row(&self.keys, passkey)).when_new()];
        if self.passkey_change(&writes).await? {
            return Ok(true);
        }
        // After a lost answer it is there, as it was to be written.
        let key = self.keys.passkey(passkey.approver, passkey.name());
        let item = self.get(key).await?;
        Ok(item.as_ref().map(crate::rows::read_passkey).transpose()?.is_some_and(|there| there == *passkey))
    }

    pub(crate) async fn delete_passkey(&self, passkey: &Passkey, once: &Nonce) -> Result<bool, StoreError> {
        let key = self.keys.passkey(passkey.approver, passkey.name());
        let writes = [self.spend_nonce(once), Write::delete(key.clone())];
        if self.passkey_change(&writes).await? {
            return Ok(true);
        }
        Ok(self.get(key).await?.is_none())
    }

    async fn passkey_change(&self, writes: &[Write]) -> Result<bool, StoreError> {
        let table = &self.store.table;
        match self.store.retrying(self.store.budget(), || table.transact(writes)).await {
            Ok(()) => Ok(true),
            Err(TableError::Condition(_)) => Ok(false),
            Err(error) => Err(trouble(error)),
        }
    }

    pub(crate) async fn drop_passkey(&self, passkey: &Passkey) -> Result<(), StoreError> {
        let key = self.keys.passkey(passkey.approver, passkey.name());
        self.repeated(&Write::delete(key)).await.map(drop)
    }

    /// In one attempt: a counter that may have moved twice is asked for once more, never believed.
    pub(crate) async fn note_passkey(
        &self,
        passkey: &Passkey,
        count: u32,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let key = self.keys.passkey(passkey.approver, passkey.name());
        // One without a counter says 0 for ever.
        let when = if count == 0 { "#count = :count" } else { "#count < :count" };
        let write = Write::update(key, "SET #count = :count, #used_at = :now")
            .value(":count", number(count))
            .value(":now", time(now))
            .when(when);
        self.once(&write).await
    }
}
