//! Writing sessions.

use countersign_app::ports::StoreError;
use countersign_core::id::{AskTokenId, ElicitationId, SessionId};
use countersign_core::session::{Session, TokenFacts};
use countersign_core::time::Timestamp;

use crate::rows::{number, read_session, session_item, time, token_map};
use crate::scoped::{TenantRows, trouble};
use crate::table::{TableError, Write};

impl TenantRows {
    /// `None` where this call stored it, or an earlier attempt of this call did: its first token tells.
    pub(crate) async fn put_session(&self, session: &Session) -> Result<Option<Session>, StoreError> {
        let write = Write::put(session_item(&self.keys, session)).when_new();
        let Some(reasons) = self.repeated(&write).await? else { return Ok(None) };
        let failed = reasons.into_iter().next().flatten().unwrap_or_default();
        let found = read_session(&failed.item)?;
        let own = session.tokens.first().map(|token| token.id);
        let is_ours = own.is_some_and(|id| found.tokens.iter().any(|token| token.id == id));
        Ok(Some(found).filter(|_| !is_ours))
    }

    pub(crate) async fn put_token(
        &self,
        session: SessionId,
        token: &TokenFacts,
        expired: &[AskTokenId],
    ) -> Result<bool, StoreError> {
        let remove: Vec<_> = expired.iter().map(|id| format!("#tokens.#{id}")).collect();
        let remove = if remove.is_empty() { String::new() } else { format!(" REMOVE {}", remove.join(", ")) };
        let update = format!("SET #tokens.#{} = :token{remove} ADD #revision :one", token.id);
        let write = Write::update(self.keys.session(session), update)
            .value(":token", token_map(token))
            .value(":one", number(1))
            .when("attribute_exists(#PK) AND attribute_not_exists(#archived_at)");
        Ok(self.repeated(&write).await?.is_none())
    }

    pub(crate) async fn drop_token(&self, session: SessionId, token: AskTokenId) -> Result<(), StoreError> {
        let update = format!("REMOVE #tokens.#{token} ADD #revision :one");
        let write = Write::update(self.keys.session(session), update).value(":one", number(1));
        self.repeated(&write.when("attribute_exists(#PK)")).await.map(drop)
    }

    pub(crate) async fn end_creates(&self, session: SessionId, now: Timestamp) -> Result<(), StoreError> {
        let update = "SET #archived_at = if_not_exists(#archived_at, :now) REMOVE #lost ADD #revision :one";
        let write = Write::update(self.keys.session(session), update)
            .value(":now", time(now))
            .value(":one", number(1))
            .when("attribute_exists(#PK)");
        self.repeated(&write).await.map(drop)
    }

    pub(crate) async fn clear_block(
        &self,
        session: SessionId,
        overdue: &[ElicitationId],
    ) -> Result<(), StoreError> {
        let entries: String = overdue.iter().map(|id| format!(", #open.#{id}")).collect();
        let update = format!("REMOVE #lost{entries} ADD #revision :one");
        let write = Write::update(self.keys.session(session), update).value(":one", number(1));
        self.repeated(&write.when("attribute_exists(#PK)")).await.map(drop)
    }

    /// A write that may be repeated; what its condition found where it did not hold.
    pub(crate) async fn repeated(
        &self,
        write: &Write,
    ) -> Result<Option<Vec<Option<crate::table::Failed>>>, StoreError> {
        let table = &self.store.table;
        match self.store.retrying(self.store.budget(), || table.write(write)).await {
            Ok(()) => Ok(None),
            Err(TableError::Condition(reasons)) => Ok(Some(reasons)),
            Err(error) => Err(trouble(error)),
        }
    }
}
