//! Endpoints.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use countersign_app::endpoints::Endpoint;
use countersign_app::ports::StoreError;
use countersign_core::endpoint::EndpointId;
use countersign_core::time::Timestamp;

use super::attributes::{Builder, Reader, number, text, time, words};
use crate::keys::Keys;
use crate::table::Item;

/// A signing secret as it lies in a row.
pub(crate) struct SealedSecret {
    pub(crate) sealed: Vec<u8>,
    pub(crate) until: Option<Timestamp>,
}

/// The secrets of an endpoint, each sealed.
pub(crate) struct SealedSecrets {
    pub(crate) outgoing: Vec<SealedSecret>,
    pub(crate) inbound: Vec<SealedSecret>,
}

/// The item of an endpoint.
pub(crate) fn endpoint_item(keys: &Keys, endpoint: &Endpoint, sealed: &SealedSecrets) -> Item {
    let secrets = |list: &[SealedSecret]| AttributeValue::L(list.iter().map(secret_map).collect());
    Builder::new(&keys.endpoint(&endpoint.id))
        .set("id", text(endpoint.id.to_string()))
        .maybe("url", endpoint.url.as_deref().map(text))
        .set("events", words(endpoint.events.iter().map(|kind| kind.word())))
        .set("disabled", AttributeValue::Bool(endpoint.disabled))
        .maybe("failing_since", endpoint.failing_since.map(time))
        .set("inbound", AttributeValue::Bool(endpoint.inbound))
        .set("actor_kinds", words(endpoint.actor_kinds.iter().map(|kind| kind.word())))
        .set("secrets", secrets(&sealed.outgoing))
        .set("inbound_secrets", secrets(&sealed.inbound))
        .set("created_at", time(endpoint.created_at))
        .set("revision", number(endpoint.revision))
        .build()
}

fn secret_map(secret: &SealedSecret) -> AttributeValue {
    let sealed = AttributeValue::B(Blob::new(secret.sealed.clone()));
    AttributeValue::M(Builder::bare().set("sealed", sealed).maybe("until", secret.until.map(time)).build())
}

/// The endpoint that an item is, without its secrets, and those.
pub(crate) fn read_endpoint(item: &Item) -> Result<(Endpoint, SealedSecrets), StoreError> {
    let row = Reader::new(item, "endpoint");
    let endpoint = Endpoint {
        id: row.parsed::<EndpointId>("id")?,
        url: row.maybe_owned("url")?,
        events: row.words("events")?,
        disabled: row.flag("disabled")?,
        failing_since: row.maybe_time("failing_since")?,
        inbound: row.flag("inbound")?,
        actor_kinds: row.words("actor_kinds")?,
        secrets: vec![],
        inbound_secrets: vec![],
        created_at: row.time("created_at")?,
        revision: row.number("revision")?,
    };
    let secrets = SealedSecrets {
        outgoing: read_secrets(item, &row, "secrets")?,
        inbound: read_secrets(item, &row, "inbound_secrets")?,
    };
    Ok((endpoint, secrets))
}

fn read_secrets(item: &Item, row: &Reader<'_>, name: &str) -> Result<Vec<SealedSecret>, StoreError> {
    let Some(AttributeValue::L(list)) = item.get(name) else { return Err(row.corrupt(name)) };
    let secret = |value: &AttributeValue| {
        let map = value.as_m().map_err(|_| row.corrupt(name))?;
        let one = Reader::new(map, "endpoint secret");
        let sealed = one.maybe_bytes("sealed")?.ok_or_else(|| one.corrupt("sealed"))?;
        Ok(SealedSecret { sealed, until: one.maybe_time("until")? })
    };
    list.iter().map(secret).collect()
}
