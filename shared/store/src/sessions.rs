//! Writing sessions.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use countersign_app::ports::StoreError;
use countersign_app::records::{Idempotency, SessionOutcome};
use countersign_core::id::{AskTokenId, ElicitationId, SessionId};
use countersign_core::json::Sha256;
use countersign_core::session::{Session, TokenFacts};
use countersign_core::time::Timestamp;

use crate::idempotency::{Earlier, earlier};
use crate::rows::{number, read_session, session_item, time, token_map};
use crate::scoped::{TenantRows, trouble};
use crate::table::{Failed, TableError, Write};

impl TenantRows {
    pub(crate) async fn put_session(
        &self,
        session: &Session,
        idempotency: Option<&Idempotency>,
    ) -> Result<SessionOutcome, StoreError> {
        let mut writes = vec![Write::put(session_item(&self.keys, session)).when_new()];
        writes.extend(idempotency.map(|key| self.idempotency_write(key, &session.id.to_string())));
        let table = &self.store.table;
        match self.store.retrying(self.store.budget(), || table.transact(&writes)).await {
            Ok(()) => Ok(SessionOutcome::Stored),
            Err(TableError::Condition(reasons)) => met(session, idempotency, &reasons),
            Err(error) => Err(trouble(error)),
        }
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

    pub(crate) async fn forget_declines(&self, session: SessionId) -> Result<(), StoreError> {
        let empty = || AttributeValue::M(HashMap::new());
        let update = "SET #declines = :none, #declined = :counts, #declined_at = :times \
                      REMOVE #last_declined_at, #reported_until ADD #revision :one";
        let write = Write::update(self.keys.session(session), update)
            .value(":none", number(0))
            .value(":counts", empty())
            .value(":times", empty())
            .value(":one", number(1))
            .when("attribute_exists(#PK)");
        self.repeated(&write).await.map(drop)
    }

    pub(crate) async fn note_report(&self, session: SessionId, until: Timestamp) -> Result<(), StoreError> {
        let update = "SET #reported_until = :until ADD #revision :one, #answers :one";
        let write = Write::update(self.keys.session(session), update)
            .value(":until", time(until))
            .value(":one", number(1))
            .when("attribute_exists(#PK)");
        self.repeated(&write).await.map(drop)
    }

    /// A write that may be repeated; what its condition found where it did not hold.
    pub(crate) async fn repeated(&self, write: &Write) -> Result<Option<Vec<Option<Failed>>>, StoreError> {
        let table = &self.store.table;
        match self.store.retrying(self.store.budget(), || table.write(write)).await {
            Ok(()) => Ok(None),
            Err(TableError::Condition(reasons)) => Ok(Some(reasons)),
            Err(error) => Err(trouble(error)),
        }
    }
}

/// The end of a REMOVE clause that forgets a declined content.
pub(crate) fn forget_content(shown: Sha256) -> String {
    let hex = shown.hex();
    format!(", #declined.#{hex}, #declined_at.#{hex}")
}

/// What the create of a session met: itself after a lost answer, an earlier request of its key, or its name.
fn met(
    session: &Session,
    idempotency: Option<&Idempotency>,
    reasons: &[Option<Failed>],
) -> Result<SessionOutcome, StoreError> {
    let failed = |index: usize| reasons.get(index).and_then(Option::as_ref);
    let found = failed(0).map(|failed| read_session(&failed.item)).transpose()?;
    let own = session.tokens.first().map(|token| token.id);
    let is_ours = |found: &Session| own.is_some_and(|id| found.tokens.iter().any(|token| token.id == id));
    if found.as_ref().is_some_and(is_ours) {
        return Ok(SessionOutcome::Stored);
    }
    match (idempotency.zip(failed(1)), found) {
        (Some((key, failed)), _) => match earlier(key, failed)? {
            Earlier::Made(id) => {
                let id = id.parse().map_err(|_| StoreError::Corrupt("idempotency: object".into()))?;
                Ok(SessionOutcome::Repeated(id))
            }
            Earlier::Other => Ok(SessionOutcome::Reused),
        },
        (None, Some(found)) => Ok(SessionOutcome::Exists(Box::new(found))),
        (None, None) => Err(StoreError::Corrupt("a session failed on no condition of its own".into())),
    }
}
