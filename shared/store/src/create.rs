//! One transaction stores a question with its session's block.

use std::collections::HashMap;

use countersign_app::ports::StoreError;
use countersign_app::records::{Block, CreateOutcome, NewElicitation};
use countersign_core::retry::Budget;

use crate::rows::{elicitation_item, number, read_session, text, time, write_content};
use crate::scoped::{TenantRows, trouble};
use crate::sessions::forget_content;
use crate::table::{Failed, Item, TableError, Write};

impl TenantRows {
    pub(crate) async fn create_rows(
        &self,
        new: &NewElicitation,
        budget: Budget,
    ) -> Result<CreateOutcome, StoreError> {
        let mut writes = vec![
            Write::put(elicitation_item(&self.keys, new)).when_new(),
            Write::put(self.reference_item(new)).when_new(),
            Write::put(write_content(&self.keys, new)),
        ];
        let session_at = writes.len();
        writes.extend(new.block.as_ref().map(|block| self.block_write(new, block)));
        writes.extend(self.request_item(new).map(Write::put));
        let table = &self.store.table;
        // A repeat after a lost answer meets its own row: `Exists`, which the use-case knows as its own.
        match self.store.retrying(budget, || table.transact(&writes)).await {
            Ok(()) => Ok(CreateOutcome::Stored),
            Err(TableError::Condition(reasons)) => self.refused(&reasons, session_at).await,
            Err(error) => Err(trouble(error)),
        }
    }

    fn reference_item(&self, new: &NewElicitation) -> Item {
        let key = self.keys.reference(&new.elicitation.reference);
        self.lookup(&key.pk, &key.sk, new)
    }

    fn request_item(&self, new: &NewElicitation) -> Option<Item> {
        let request_id = new.elicitation.request_id.as_ref()?;
        Some(self.lookup(&self.keys.request(request_id), &new.elicitation.id.to_string(), new))
    }

    #[expect(clippy::unused_self, reason = "keys are the tenant's")]
    fn lookup(&self, pk: &str, sk: &str, new: &NewElicitation) -> Item {
        HashMap::from([
            ("PK".to_owned(), text(pk)),
            ("SK".to_owned(), text(sk)),
            ("elicitation".to_owned(), text(new.elicitation.id.to_string())),
            ("ttl".to_owned(), number(new.keep_until.seconds())),
        ])
    }

    /// The session's part: it must not be archived, must list the token, and must have room.
    ///
    /// Entries past their deadline do not count. They were counted on a read, so each must be there still:
    /// a sweep in between makes the condition fail, and the create reads again.
    fn block_write(&self, new: &NewElicitation, block: &Block) -> Write {
        let id = new.elicitation.id;
        let used = block.token.map(|token| format!(", #tokens.#{token}.#last_used_at = :now"));
        let listed = block.token.map(|token| format!(" AND attribute_exists(#tokens.#{token})"));
        let counted: String =
            block.overdue.iter().map(|id| format!(" AND attribute_exists(#open.#{id})")).collect();
        let restart = if block.restart_declines { ", #declines = :none" } else { "" };
        let forget: String = block.forget.iter().map(|one| forget_content(*one)).collect();
        let update = format!(
            "SET #open.#{id} = :deadline{}{restart} REMOVE #lost{forget} ADD #revision :one",
            used.unwrap_or_default()
        );
        // A decline since the session was read may have muted it: then the create reads again.
        let condition = format!(
            "attribute_exists(#PK) AND attribute_not_exists(#archived_at) AND size(#open) < :room \
             AND #answers = :answers{}{counted}",
            listed.unwrap_or_default()
        );
        let write = Write::update(self.keys.session(block.session), update)
            .when(condition)
            .value(":answers", number(block.answers))
            .value(":deadline", time(new.elicitation.deadlines.expires_at))
            .value(":room", number(block.max_open + block.overdue.len()))
            .value(":one", number(1));
        let write = if block.restart_declines { write.value(":none", number(0)) } else { write };
        match block.token {
            Some(_) => write.value(":now", time(new.elicitation.created_at)),
            None => write,
        }
    }

    async fn refused(
        &self,
        reasons: &[Option<Failed>],
        session_at: usize,
    ) -> Result<CreateOutcome, StoreError> {
        let failed = |index: usize| reasons.get(index).and_then(Option::as_ref);
        if let Some(state) = failed(0) {
            return Ok(CreateOutcome::Exists(Box::new(self.question(&state.item).await?)));
        }
        if failed(1).is_some() {
            return Ok(CreateOutcome::ReferenceTaken);
        }
        match failed(session_at) {
            Some(session) if session.item.is_empty() => Ok(CreateOutcome::SessionRefused(None)),
            Some(session) => Ok(CreateOutcome::SessionRefused(Some(Box::new(read_session(&session.item)?)))),
            None => Err(StoreError::Corrupt("a create failed on no condition of its own".into())),
        }
    }
}
