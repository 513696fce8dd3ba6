//! People's sessions and devices, and the codes that were mailed to them.

use countersign_app::humans::{Device, HumanSession, MailedCode};
use countersign_app::ports::StoreError;

use super::attributes::Builder;
use crate::keys::{Keys, due_place, due_shard};
use crate::rows::{Reader, number, text, time};
use crate::table::Item;

pub(crate) fn session_row(keys: &Keys, one: &HumanSession) -> Item {
    Builder::new(&keys.human_session(one.approver, one.id))
        .set("id", text(one.id.to_string()))
        .set("approver", text(one.approver.to_string()))
        .set("created_at", time(one.created_at))
        .set("seen_at", time(one.seen_at))
        .set("expires_at", time(one.expires_at))
        .set("is_fresh", aws_sdk_dynamodb::types::AttributeValue::Bool(one.is_fresh))
        .set("label", text(&*one.label))
        .set("ttl", number(one.expires_at.seconds()))
        .build()
}

pub(crate) fn read_human_session(item: &Item) -> Result<HumanSession, StoreError> {
    let row = Reader::new(item, "human session");
    Ok(HumanSession {
        id: row.parsed("id")?,
        approver: row.parsed("approver")?,
        created_at: row.time("created_at")?,
        seen_at: row.time("seen_at")?,
        expires_at: row.time("expires_at")?,
        is_fresh: row.flag("is_fresh")?,
        label: row.text("label")?.to_owned(),
    })
}

pub(crate) fn device_row(keys: &Keys, one: &Device) -> Item {
    Builder::new(&keys.device(one.approver, one.id))
        .set("id", text(one.id.to_string()))
        .set("approver", text(one.approver.to_string()))
        .set("created_at", time(one.created_at))
        .set("used_at", time(one.used_at))
        .set("expires_at", time(one.expires_at))
        .set("label", text(&*one.label))
        .set("ttl", number(one.expires_at.seconds()))
        .build()
}

pub(crate) fn read_device(item: &Item) -> Result<Device, StoreError> {
    let row = Reader::new(item, "device");
    Ok(Device {
        id: row.parsed("id")?,
        approver: row.parsed("approver")?,
        created_at: row.time("created_at")?,
        used_at: row.time("used_at")?,
        expires_at: row.time("expires_at")?,
        label: row.text("label")?.to_owned(),
    })
}

/// A code; one that is somebody's is due to be mailed at once.
pub(crate) fn code_row(keys: &Keys, one: &MailedCode) -> Item {
    let key = keys.code(one.id);
    let due = one.approver.map(|_| text(due_place(one.created_at, &key)));
    let shard = due.as_ref().map(|_| text(due_shard(one.id.bits().bytes()[0] % crate::keys::SHARDS)));
    Builder::new(&key)
        .set("id", text(one.id.to_string()))
        .maybe("approver", one.approver.map(|id| text(id.to_string())))
        .maybe("elicitation", one.elicitation.map(|id| text(id.to_string())))
        .set("key_id", text(&*one.key_id))
        .set("created_at", time(one.created_at))
        .set("expires_at", time(one.expires_at))
        .set("tries", number(one.tries))
        .set("sends", number(one.sends))
        .set("is_spent", aws_sdk_dynamodb::types::AttributeValue::Bool(one.is_spent))
        .maybe("due_pk", shard)
        .maybe("due_sk", due)
        .set("ttl", number(one.expires_at.seconds()))
        .build()
}

pub(crate) fn read_code(item: &Item) -> Result<MailedCode, StoreError> {
    let row = Reader::new(item, "code");
    Ok(MailedCode {
        id: row.parsed("id")?,
        approver: row.maybe_parsed("approver")?,
        elicitation: row.maybe_parsed("elicitation")?,
        key_id: row.text("key_id")?.to_owned(),
        created_at: row.time("created_at")?,
        expires_at: row.time("expires_at")?,
        tries: row.number("tries")?,
        sends: row.number("sends")?,
        is_spent: row.flag("is_spent")?,
    })
}
