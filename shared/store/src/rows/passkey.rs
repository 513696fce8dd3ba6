//! Passkeys.

use aws_sdk_dynamodb::types::AttributeValue;
use countersign_app::passkeys::{Credential, Passkey, PasskeyAlgorithm};
use countersign_app::ports::StoreError;

use super::attributes::Builder;
use crate::keys::Keys;
use crate::rows::{Reader, number, text, time};
use crate::table::Item;

pub(crate) fn passkey_row(keys: &Keys, one: &Passkey) -> Item {
    let credential = &one.credential;
    Builder::new(&keys.passkey(one.approver, one.name()))
        .set("approver", text(one.approver.to_string()))
        .set("credential", bytes(&credential.id))
        .set("algorithm", number(credential.algorithm.cose()))
        .set("public_key", bytes(&credential.public_key))
        .set("count", number(credential.count))
        .set("is_synced", AttributeValue::Bool(credential.is_synced))
        .set("created_at", time(one.created_at))
        .maybe("used_at", one.used_at.map(time))
        .set("label", text(&*one.label))
        .build()
}

pub(crate) fn read_passkey(item: &Item) -> Result<Passkey, StoreError> {
    let row = Reader::new(item, "passkey");
    let algorithm = row.number("algorithm").map(PasskeyAlgorithm::of_cose)?;
    Ok(Passkey {
        approver: row.parsed("approver")?,
        credential: Credential {
            id: bytes_of(&row, "credential")?,
            algorithm: algorithm.ok_or_else(|| row.corrupt("algorithm"))?,
            public_key: bytes_of(&row, "public_key")?,
            count: row.number("count")?,
            is_synced: row.flag("is_synced")?,
        },
        created_at: row.time("created_at")?,
        used_at: row.maybe_time("used_at")?,
        label: row.text("label")?.to_owned(),
    })
}

fn bytes_of(row: &Reader<'_>, name: &str) -> Result<Vec<u8>, StoreError> {
    row.maybe_bytes(name)?.ok_or_else(|| row.corrupt(name))
}

fn bytes(of: &[u8]) -> AttributeValue {
    AttributeValue::B(of.to_vec().into())
}
