//! The body row: what a person is shown, written once, as one JSON text so that key order stays.

use aws_sdk_dynamodb::types::AttributeValue;
use countersign_app::ports::StoreError;
use countersign_core::ask::{Binding, Content, Detail, Origin};
use countersign_core::json::Sha256;
use countersign_core::schema::Schema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::attributes::{Builder, Reader, number, text};
use crate::keys::Keys;
use crate::table::Item;
use countersign_app::records::NewElicitation;

#[derive(Serialize, Deserialize)]
struct BodyRow {
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    consequence: Option<String>,
    #[serde(default)]
    irreversible: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    details: Vec<DetailRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preview: Option<String>,
    schema: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    binding: Option<BindingRow>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    meta: Map<String, Value>,
}

#[derive(Serialize, Deserialize)]
struct DetailRow {
    label: String,
    value: String,
    from_caller: bool,
}

#[derive(Serialize, Deserialize)]
struct BindingRow {
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args_sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preview_sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gate: Option<String>,
}

/// The item of a question's content. It stands in its session's list for as long as it lives.
pub(crate) fn write_content(keys: &Keys, new: &NewElicitation) -> Item {
    let one = &new.elicitation;
    let body = serde_json::to_string(&body_row(&new.content)).unwrap_or_default();
    Builder::new(&keys.body(one.id))
        .set("body", text(body))
        .maybe("list_pk", one.session.map(|session| text(keys.session_list(session))))
        .maybe("list_sk", one.session.map(|_| text(Keys::list_place(one.created_at, one.id))))
        .set("ttl", number(new.keep_until.seconds()))
        .build()
}

fn body_row(content: &Content) -> BodyRow {
    let detail = |one: &Detail| DetailRow {
        label: one.label.clone(),
        value: one.value.clone(),
        from_caller: one.origin == Origin::Caller,
    };
    let binding = |one: &Binding| BindingRow {
        resource_key: one.resource_key.clone(),
        args: one.args.clone(),
        args_sha256: one.args_sha256.map(Sha256::hex),
        preview_sha256: one.preview_sha256.map(Sha256::hex),
        gate: one.gate.clone(),
    };
    BodyRow {
        message: content.message.clone(),
        context: content.context.clone(),
        consequence: content.consequence.clone(),
        irreversible: content.irreversible,
        warnings: content.warnings.clone(),
        details: content.details.iter().map(detail).collect(),
        preview: content.preview.clone(),
        schema: content.schema.source().clone(),
        binding: content.binding.as_ref().map(binding),
        meta: content.meta.clone(),
    }
}

/// The content that an item is.
pub(crate) fn read_content(item: &Item) -> Result<Content, StoreError> {
    let row = Reader::new(item, "body");
    let Some(AttributeValue::S(body)) = item.get("body") else { return Err(row.corrupt("body")) };
    let body: BodyRow = serde_json::from_str(body).map_err(|_| row.corrupt("body"))?;
    let hash = |hex: Option<String>| hex.as_deref().and_then(Sha256::from_hex);
    let detail = |one: DetailRow| Detail {
        label: one.label,
        value: one.value,
        origin: if one.from_caller { Origin::Caller } else { Origin::Server },
    };
    let binding = |one: BindingRow| Binding {
        resource_key: one.resource_key,
        args: one.args,
        args_sha256: hash(one.args_sha256),
        preview_sha256: hash(one.preview_sha256),
        gate: one.gate,
    };
    Ok(Content {
        message: body.message,
        context: body.context,
        consequence: body.consequence,
        irreversible: body.irreversible,
        warnings: body.warnings,
        details: body.details.into_iter().map(detail).collect(),
        preview: body.preview,
        schema: Schema::parse(&body.schema).map_err(|_| row.corrupt("schema"))?,
        binding: body.binding.map(binding),
        meta: body.meta,
    })
}
