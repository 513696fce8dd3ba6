//! Signing in and out: people's sessions and devices lie in their approver's partition, codes each in their own.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use countersign_app::humans::{HumanRow, HumanRows, HumanSession, MailedCode, SignIn, SignInBy};
use countersign_app::ports::StoreError;
use countersign_core::id::{ApproverId, CodeId, ElicitationId, HumanSessionId};
use countersign_core::json::Sha256;
use countersign_core::limits::DEVICE_TTL;
use countersign_core::time::Timestamp;

use crate::keys::{PASSKEY, due_place};
use crate::rows::{
    Reader, code_row, device_row, number, read_code, read_device, read_human_session, read_passkey,
    session_row, text, time,
};
use crate::scoped::{TenantRows, trouble};
use crate::table::{Item, Query, TableError, Write};

const YES: AttributeValue = AttributeValue::Bool(true);
const NO: AttributeValue = AttributeValue::Bool(false);

impl TenantRows {
    pub(crate) async fn write_code(&self, code: &MailedCode) -> Result<(), StoreError> {
        // The id is random: whoever finds the row there has written it and lost the answer.
        self.repeated(&Write::put(code_row(&self.keys, code)).when_new()).await.map(drop)
    }

    pub(crate) async fn read_code_row(&self, id: CodeId) -> Result<Option<MailedCode>, StoreError> {
        self.get(self.keys.code(id)).await?.as_ref().map(read_code).transpose()
    }

    /// In one attempt: a lost answer is a try that counts, never one that does not.
    pub(crate) async fn count_try(
        &self,
        id: CodeId,
        tries: u32,
        now: Timestamp,
    ) -> Result<Option<MailedCode>, StoreError> {
        let write = Write::update(self.keys.code(id), "ADD #tries :one")
            .value(":one", number(1))
            .value(":tries", number(tries))
            .value(":now", time(now))
            .value(":no", NO)
            .when("#tries < :tries AND #expires_at > :now AND #is_spent = :no");
        match self.store.table.update(&write).await {
            Ok(item) => read_code(&item).map(Some),
            Err(TableError::Condition(_)) => Ok(None),
            Err(error) => Err(trouble(error)),
        }
    }

    pub(crate) async fn begin_mail(&self, code: &MailedCode, lease: Timestamp) -> Result<bool, StoreError> {
        let key = self.keys.code(code.id);
        let place = due_place(lease, &key);
        let write = Write::update(key, "SET #due_sk = :place, #sends = :next")
            .value(":place", text(place))
            .value(":next", number(code.sends + 1))
            .value(":seen", number(code.sends))
            .value(":no", NO)
            .when("#sends = :seen AND #is_spent = :no");
        Ok(self.repeated(&write).await?.is_none())
    }

    pub(crate) async fn end_mail(&self, id: CodeId) -> Result<(), StoreError> {
        let write =
            Write::update(self.keys.code(id), "REMOVE #due_pk, #due_sk").when("attribute_exists(#PK)");
        self.repeated(&write).await.map(drop)
    }

    /// One transaction: what lets the person in is spent with the session that it gives.
    pub(crate) async fn write_sign_in(&self, sign_in: &SignIn) -> Result<bool, StoreError> {
        let session = &sign_in.session;
        let mut writes = vec![self.spend(sign_in), Write::put(session_row(&self.keys, session)).when_new()];
        writes.extend(sign_in.device.as_ref().map(|one| Write::put(device_row(&self.keys, one)).when_new()));
        writes.extend(
            sign_in.replaces.map(|(approver, id)| Write::delete(self.keys.human_session(approver, id))),
        );
        let forgets = sign_in.forgets.iter();
        writes.extend(forgets.map(|id| Write::delete(self.keys.device(session.approver, *id))));
        let table = &self.store.table;
        match self.store.retrying(self.store.budget(), || table.transact(&writes)).await {
            Ok(()) => Ok(true),
            // After a lost answer the session, whose id is random, is there.
            Err(TableError::Condition(_)) => {
                Ok(self.get(self.keys.human_session(session.approver, session.id)).await?.is_some())
            }
            Err(error) => Err(trouble(error)),
        }
    }

    fn spend(&self, sign_in: &SignIn) -> Write {
        match sign_in.by {
            SignInBy::Code(id) => {
                Write::update(self.keys.code(id), "SET #is_spent = :yes REMOVE #due_pk, #due_sk")
                    .value(":yes", YES)
                    .value(":no", NO)
                    .when("#is_spent = :no")
            }
            SignInBy::Once(nonce) => self.spend_nonce(&nonce),
            SignInBy::Device(id) => {
                let now = sign_in.session.created_at;
                let until = now.plus(DEVICE_TTL);
                Write::update(self.keys.device(sign_in.session.approver, id), "SET #used_at = :now")
                    .value(":now", time(now))
                    .value(":until", time(until))
                    .when("attribute_exists(#PK) AND #expires_at > :now AND #expires_at <= :until")
            }
        }
    }

    pub(crate) async fn read_human_rows(&self, approver: ApproverId) -> Result<HumanRows, StoreError> {
        let query = Query {
            index: None,
            condition: "#PK = :pk".into(),
            values: HashMap::from([(":pk".to_owned(), text(self.keys.humans(approver)))]),
            limit: None,
        };
        let mut rows = HumanRows::default();
        for item in &self.query(&query).await? {
            let kind = Reader::new(item, "human").text("SK")?;
            if kind.starts_with("S#") {
                rows.sessions.push(read_human_session(item)?);
            } else if kind.starts_with(PASSKEY) {
                rows.passkeys.push(read_passkey(item)?);
            } else {
                rows.devices.push(read_device(item)?);
            }
        }
        Ok(rows)
    }

    pub(crate) async fn delete_human(&self, approver: ApproverId, what: HumanRow) -> Result<(), StoreError> {
        let key = match what {
            HumanRow::Session(id) => self.keys.human_session(approver, id),
            HumanRow::Device(id) => self.keys.device(approver, id),
        };
        self.repeated(&Write::delete(key)).await.map(drop)
    }

    pub(crate) async fn note_presence(
        &self,
        approver: ApproverId,
        id: HumanSessionId,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let write = Write::update(self.keys.human_session(approver, id), "SET #seen_at = :now")
            .value(":now", time(now))
            .when("attribute_exists(#PK) AND #seen_at < :now");
        self.once(&write).await.map(drop)
    }

    /// In one attempt: a count that may have happened twice is the safe side.
    pub(crate) async fn count_one(
        &self,
        id: Sha256,
        limit: u32,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let write = Write::update(self.keys.rate(id), "SET #ttl = :ttl ADD #count :one")
            .value(":ttl", number(until.seconds()))
            .value(":one", number(1))
            .value(":limit", number(limit))
            .when("attribute_not_exists(#count) OR #count < :limit");
        self.once(&write).await
    }

    pub(crate) async fn read_wrong_codes(
        &self,
        id: ElicitationId,
        approver: ApproverId,
    ) -> Result<u32, StoreError> {
        let item = self.get(self.keys.wrong_codes(id, approver)).await?;
        Ok(item
            .map_or(Ok(None), |item| Reader::new(&item, "wrong codes").maybe_number("count"))?
            .unwrap_or(0))
    }

    pub(crate) async fn add_wrong_code(
        &self,
        id: ElicitationId,
        approver: ApproverId,
        limit: u32,
    ) -> Result<Option<u32>, StoreError> {
        let keep_until = self.store.now().plus(countersign_core::limits::EXPIRY_MAX);
        let write = Write::update(self.keys.wrong_codes(id, approver), "SET #ttl = :ttl ADD #count :one")
            .value(":ttl", number(keep_until.seconds()))
            .value(":one", number(1))
            .value(":limit", number(limit))
            .when("attribute_not_exists(#count) OR #count < :limit");
        match self.store.table.update(&write).await {
            Ok(item) => Reader::new(&item, "wrong codes").number("count").map(Some),
            Err(TableError::Condition(_)) => Ok(None),
            Err(error) => Err(trouble(error)),
        }
    }

    /// In one attempt: one that was not taken back costs its person a try.
    pub(crate) async fn forgive_wrong_code(
        &self,
        id: ElicitationId,
        approver: ApproverId,
    ) -> Result<(), StoreError> {
        let write = Write::update(self.keys.wrong_codes(id, approver), "ADD #count :less")
            .value(":less", number(-1))
            .value(":none", number(0))
            .when("#count > :none");
        self.once(&write).await.map(drop)
    }
}

/// Whether an item is of a person's.
pub(crate) fn human_of(item: Option<&Item>) -> Result<Option<HumanSession>, StoreError> {
    item.map(read_human_session).transpose()
}
