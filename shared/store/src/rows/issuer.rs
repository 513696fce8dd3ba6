//! Issuers.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use countersign_app::issuers::{RegisteredKey, RegisteredKeys, Registration};
use countersign_app::ports::StoreError;
use countersign_core::secret::Secret;
use countersign_identity::Algorithm;

use super::attributes::{Builder, Reader, text, time, words};
use crate::keys::Keys;
use crate::table::Item;

/// The item of an issuer; `sealed` is its shared secret, where it has one.
pub(crate) fn issuer_item(keys: &Keys, one: &Registration, sealed: Option<Vec<u8>>) -> Item {
    let listed = |list: &[String]| words(list.iter().map(String::as_str));
    let item = Builder::new(&keys.issuer(one.id(keys.tenant())))
        .set("iss", text(&*one.iss))
        .maybe("scopes_claim", one.scopes_claim.as_deref().map(text))
        .set("scopes", words(one.scopes.iter().map(|scope| scope.word())))
        .set("acr_code", listed(&one.acr_code))
        .set("acr_passkey", listed(&one.acr_passkey))
        .maybe("sso_url", one.sso_url.as_deref().map(text))
        .set("created_at", time(one.created_at))
        .maybe("shared_secret", sealed.map(|sealed| AttributeValue::B(Blob::new(sealed))));
    match &one.keys {
        RegisteredKeys::Jwks { url, algorithm } => {
            item.set("jwks_url", text(&**url)).set("algorithm", text(algorithm.name())).build()
        }
        RegisteredKeys::Static(list) => {
            item.set("keys", AttributeValue::L(list.iter().map(key_map).collect())).build()
        }
        RegisteredKeys::Shared(_) => item.build(),
    }
}

fn key_map(key: &RegisteredKey) -> AttributeValue {
    let map = Builder::bare()
        .maybe("kid", key.kid.as_deref().map(text))
        .set("algorithm", text(key.algorithm.name()))
        .set("public_key", text(&*key.public_key));
    AttributeValue::M(map.build())
}

/// The issuer that an item is; `secret` is its opened secret, where it has one.
pub(crate) fn read_issuer(item: &Item, secret: Option<Vec<u8>>) -> Result<Registration, StoreError> {
    let row = Reader::new(item, "issuer");
    let keys = match (row.maybe_text("jwks_url")?, item.get("keys"), secret) {
        (Some(url), None, None) => {
            RegisteredKeys::Jwks { url: url.to_owned(), algorithm: row.parsed::<Algorithm>("algorithm")? }
        }
        (None, Some(AttributeValue::L(list)), None) => {
            let key = |value: &AttributeValue| {
                let map = value.as_m().map_err(|_| row.corrupt("keys"))?;
                let key = Reader::new(map, "issuer key");
                Ok::<_, StoreError>(RegisteredKey {
                    kid: key.maybe_owned("kid")?,
                    algorithm: key.parsed("algorithm")?,
                    public_key: key.text("public_key")?.to_owned(),
                })
            };
            RegisteredKeys::Static(list.iter().map(key).collect::<Result<_, _>>()?)
        }
        (None, None, Some(secret)) => RegisteredKeys::Shared(Secret::new(secret)),
        _ => return Err(row.corrupt("keys")),
    };
    Ok(Registration {
        iss: row.text("iss")?.to_owned(),
        keys,
        scopes_claim: row.maybe_owned("scopes_claim")?,
        scopes: row.words("scopes")?,
        acr_code: row.words("acr_code")?,
        acr_passkey: row.words("acr_passkey")?,
        sso_url: row.maybe_owned("sso_url")?,
        created_at: row.time("created_at")?,
    })
}
