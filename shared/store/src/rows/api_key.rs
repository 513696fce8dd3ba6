//! API keys.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use countersign_app::keys::{Bounds, KeyRecord};
use countersign_app::ports::StoreError;
use countersign_core::elicitation::Tier;
use countersign_core::id::Principal;
use countersign_core::seal::KeyedHash;
use countersign_core::time::Timestamp;

use super::attributes::{Builder, PEOPLE, Reader, people, text, time, words};
use crate::keys::Keys;
use crate::table::Item;

/// The item of an API key.
pub(crate) fn key_item(keys: &Keys, key: &KeyRecord) -> Item {
    let listed = |list: &[String]| words(list.iter().map(String::as_str));
    Builder::new(&keys.api_key(key.id))
        .set("id", text(key.id.to_string()))
        .set("name", text(&*key.name))
        .set("principal", text(key.principal.as_str()))
        .set(PEOPLE, people(&key.people))
        .set("scopes", words(key.scopes.iter().map(|scope| scope.word())))
        .maybe("tier_ceiling", key.bounds.tier_ceiling.map(|tier| text(tier.word())))
        .set("servers", listed(&key.bounds.servers))
        .set("namespaces", listed(&key.bounds.namespaces))
        .maybe("expires_at", key.bounds.expires_at.map(time))
        .set("hash", hash_map(&key.hash))
        .maybe("previous", key.previous.as_ref().map(previous_map))
        .set("created_at", time(key.created_at))
        .maybe("last_used_at", key.last_used_at.map(time))
        .build()
}

/// A keyed hash, as an attribute.
pub(crate) fn hash_map(hash: &KeyedHash) -> AttributeValue {
    AttributeValue::M(hash_builder(hash).build())
}

/// A keyed hash with its end, as an attribute.
pub(crate) fn previous_map((hash, until): &(KeyedHash, Timestamp)) -> AttributeValue {
    AttributeValue::M(hash_builder(hash).set("until", time(*until)).build())
}

fn hash_builder(hash: &KeyedHash) -> Builder {
    let mac = AttributeValue::B(Blob::new(hash.mac.clone()));
    Builder::bare().set("key_id", text(&*hash.key_id)).set("mac", mac)
}

/// The API key that an item is.
pub(crate) fn read_key(item: &Item) -> Result<KeyRecord, StoreError> {
    let row = Reader::new(item, "key");
    let tier = row.maybe_text("tier_ceiling")?;
    let tier = tier.map(|word| Tier::from_word(word).ok_or_else(|| row.corrupt("tier_ceiling")));
    let previous = row.maybe_map("previous")?.map(|map| {
        let until = Reader::new(map, "key.previous").time("until")?;
        Ok::<_, StoreError>((read_hash(map)?, until))
    });
    Ok(KeyRecord {
        id: row.parsed("id")?,
        name: row.text("name")?.to_owned(),
        principal: Principal::stored(row.text("principal")?),
        people: row.people()?,
        scopes: row.words("scopes")?,
        bounds: Bounds {
            tier_ceiling: tier.transpose()?,
            servers: row.words("servers")?,
            namespaces: row.words("namespaces")?,
            expires_at: row.maybe_time("expires_at")?,
        },
        hash: read_hash(row.map("hash")?)?,
        previous: previous.transpose()?,
        created_at: row.time("created_at")?,
        last_used_at: row.maybe_time("last_used_at")?,
    })
}

fn read_hash(map: &Item) -> Result<KeyedHash, StoreError> {
    let hash = Reader::new(map, "key hash");
    let mac = hash.maybe_bytes("mac")?.ok_or_else(|| hash.corrupt("mac"))?;
    Ok(KeyedHash { key_id: hash.text("key_id")?.to_owned(), mac })
}
