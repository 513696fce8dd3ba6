//! Which attributes are sealed, and with what: answers and reasons in a question's row, secrets in an endpoint's.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use countersign_app::ports::StoreError;
use countersign_core::elicitation::Elicitation;
use countersign_core::id::ElicitationId;
use countersign_core::state::Decision;

use crate::rows::{Reader, answer_text, read_elicitation, text};
use crate::scoped::{TenantRows, trouble};
use crate::table::{Item, TableError, Write};
use crate::vault::Purpose;

/// The sealed words of a decision.
#[derive(Default)]
pub(crate) struct SealedWords {
    pub(crate) content: Option<AttributeValue>,
    pub(crate) reason: Option<AttributeValue>,
}

impl TenantRows {
    /// What of a decision is not stored in the open.
    pub(crate) async fn seal_words(
        &self,
        id: ElicitationId,
        decision: &Decision,
    ) -> Result<SealedWords, StoreError> {
        let mut words = SealedWords::default();
        if let Some(answer) = decision.verdict.answer() {
            let sealed = self.seal((Purpose::Answer, id), answer_text(answer).as_bytes()).await?;
            words.content = Some(AttributeValue::B(Blob::new(sealed)));
        }
        if let Some(reason) = &decision.reason {
            let sealed = self.seal((Purpose::Reason, id), reason.as_bytes()).await?;
            words.reason = Some(AttributeValue::B(Blob::new(sealed)));
        }
        Ok(words)
    }

    /// The question that an item is, its sealed attributes opened.
    pub(crate) async fn question(&self, item: &Item) -> Result<Elicitation, StoreError> {
        let sealed = [("content", Purpose::Answer), ("reason", Purpose::Reason)];
        let is_sealed = |name: &str| matches!(item.get(name), Some(AttributeValue::B(_)));
        if !sealed.iter().any(|(name, _)| is_sealed(name)) {
            return read_elicitation(item);
        }
        let mut opened = item.clone();
        let id = Reader::new(item, "elicitation").text("id")?;
        for (name, purpose) in sealed {
            if let Some(AttributeValue::B(value)) = item.get(name) {
                let plain = self.open((purpose, id), value.as_ref()).await?;
                let plain = String::from_utf8(plain).map_err(|_| StoreError::Corrupt(name.into()))?;
                opened.insert(name.to_owned(), text(plain));
            }
        }
        read_elicitation(&opened)
    }

    /// The same for an item that may not be there.
    pub(crate) async fn maybe_question(
        &self,
        item: Option<&Item>,
    ) -> Result<Option<Elicitation>, StoreError> {
        match item {
            Some(item) => self.question(item).await.map(Some),
            None => Ok(None),
        }
    }

    pub(crate) async fn seal(
        &self,
        (purpose, row): (Purpose, impl ToString + Send),
        plain: &[u8],
    ) -> Result<Vec<u8>, StoreError> {
        let row = row.to_string();
        let wrapped = self.data_key().await?;
        let vault = &self.store.vault;
        vault.seal(self.keys.tenant(), &wrapped, (purpose, &row), plain).await
    }

    pub(crate) async fn open(&self, place: (Purpose, &str), value: &[u8]) -> Result<Vec<u8>, StoreError> {
        self.store.vault.open(self.keys.tenant(), place, value).await
    }

    /// The tenant's data key, wrapped, as its row has it. A tenant that was made before there were any gets one now.
    async fn data_key(&self) -> Result<Vec<u8>, StoreError> {
        let tenant = self.keys.tenant();
        if let Some(wrapped) = self.store.vault.known(tenant) {
            return Ok(wrapped);
        }
        let row = self.get(self.keys.tenant_row()).await?;
        let row = row.ok_or_else(|| StoreError::Corrupt("a question without a tenant".into()))?;
        let wrapped = match Reader::new(&row, "tenant").maybe_bytes("data_key")? {
            Some(wrapped) => wrapped,
            None => self.give_data_key().await?,
        };
        self.store.vault.know(tenant, wrapped.clone());
        Ok(wrapped)
    }

    async fn give_data_key(&self) -> Result<Vec<u8>, StoreError> {
        let made = self.store.vault.new_data_key(self.keys.tenant()).await?;
        let update = "SET #data_key = if_not_exists(#data_key, :key)";
        let write = Write::update(self.keys.tenant_row(), update)
            .value(":key", AttributeValue::B(Blob::new(made)))
            .when("attribute_exists(#PK)");
        let table = &self.store.table;
        match self.store.retrying(self.store.budget(), || table.update(&write)).await {
            Ok(row) => {
                let kept = Reader::new(&row, "tenant").maybe_bytes("data_key")?;
                kept.ok_or_else(|| StoreError::Corrupt("tenant: data_key".into()))
            }
            Err(TableError::Condition(_)) => Err(StoreError::Corrupt("a question without a tenant".into())),
            Err(error) => Err(trouble(error)),
        }
    }
}
