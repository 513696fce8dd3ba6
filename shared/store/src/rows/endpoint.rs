//! Endpoints.

use std::collections::HashMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use countersign_app::endpoints::{Endpoint, SealedSecret};
use countersign_app::ports::StoreError;
use countersign_core::endpoint::EndpointId;

use super::attributes::{Builder, Reader, number, text, time, words};
use crate::keys::Keys;
use crate::table::Item;

/// The item of an endpoint.
pub(crate) fn endpoint_item(keys: &Keys, endpoint: &Endpoint) -> Item {
    let secrets = |list: &[SealedSecret]| AttributeValue::L(list.iter().map(secret_map).collect());
    Builder::new(&keys.endpoint(&endpoint.id))
        .set("id", text(endpoint.id.to_string()))
        .maybe("url", endpoint.url.as_deref().map(text))
        .set("events", words(endpoint.events.iter().map(|kind| kind.word())))
        .set("disabled", AttributeValue::Bool(endpoint.disabled))
        .set("inbound", AttributeValue::Bool(endpoint.inbound))
        .set("actor_kinds", words(endpoint.actor_kinds.iter().map(|kind| kind.word())))
        .set("secrets", secrets(&endpoint.secrets))
        .set("inbound_secrets", secrets(&endpoint.inbound_secrets))
        .set("created_at", time(endpoint.created_at))
        .set("revision", number(endpoint.revision))
        .build()
}

fn secret_map(secret: &SealedSecret) -> AttributeValue {
    let sealed = AttributeValue::B(Blob::new(secret.sealed.clone()));
    AttributeValue::M(Builder::bare().set("sealed", sealed).maybe("until", secret.until.map(time)).build())
}

/// The endpoint that an item is.
pub(crate) fn read_endpoint(item: &Item) -> Result<Endpoint, StoreError> {
    let row = Reader::new(item, "endpoint");
    Ok(Endpoint {
        id: row.parsed::<EndpointId>("id")?,
        url: row.maybe_owned("url")?,
        events: row.words("events")?,
        disabled: row.flag("disabled")?,
        inbound: row.flag("inbound")?,
        actor_kinds: row.words("actor_kinds")?,
        secrets: read_secrets(item, &row, "secrets")?,
        inbound_secrets: read_secrets(item, &row, "inbound_secrets")?,
        created_at: row.time("created_at")?,
        revision: row.number("revision")?,
    })
}

fn read_secrets(item: &Item, row: &Reader<'_>, name: &str) -> Result<Vec<SealedSecret>, StoreError> {
    let Some(AttributeValue::L(list)) = item.get(name) else { return Err(row.corrupt(name)) };
    let secret = |value: &AttributeValue| {
        let map: &HashMap<_, _> = value.as_m().map_err(|_| row.corrupt(name))?;
        let Some(AttributeValue::B(sealed)) = map.get("sealed") else { return Err(row.corrupt(name)) };
        let until = Reader::new(map, "endpoint secret").maybe_time("until")?;
        Ok(SealedSecret { sealed: sealed.clone().into_inner(), until })
    };
    list.iter().map(secret).collect()
}
