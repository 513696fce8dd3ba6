//! Key sets that issuers publish, kept so that neither an outage nor a flood of unknown keys reaches them.
//!
//! An identity provider that is down locks nobody out for up to [`crate::limits::JWKS_STALE`], and nobody can make us ask it
//! more than once per [`JWKS_REFRESH_MIN`] (RELIABILITY.md row 24).

mod entry;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use countersign_core::id::TenantId;
use countersign_core::time::Timestamp;
use futures_util::FutureExt as _;

use self::entry::{Entry, Flight, Next};
use crate::issuer::Jwks;
use crate::jwks::KeySet;
use crate::limits::{JWKS_REFRESH_MIN, JWKS_SETS_MAX};

/// A key set could not be fetched. The text is for the log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FetchFailed(pub String);

/// An issuer's keys are not to be had: it has not given a key set for longer than [`crate::limits::JWKS_STALE`], or never.
/// The text of the field is for the log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the keys of the token's issuer cannot be fetched now, try again in {} s", JWKS_REFRESH_MIN.as_secs())]
pub struct KeysUnavailable(pub FetchFailed);

/// Gets a key set from its URL.
#[async_trait]
pub trait FetchJwks: Send + Sync {
    /// The body of a 200 answer, of at most [`crate::limits::JWKS_BYTES`], within [`crate::limits::JWKS_LIMIT`],
    /// without following redirects and never from an address of ours.
    async fn fetch(&self, url: &str) -> Result<Vec<u8>, FetchFailed>;
}

/// Key sets by who uses them. The algorithm is part of the key, since a set holds only what is used for it.
type Source = (TenantId, Jwks);

pub(crate) struct JwksCache {
    port: Arc<dyn FetchJwks>,
    entries: Mutex<HashMap<Source, Entry>>,
}

impl JwksCache {
    pub(crate) fn new(port: Arc<dyn FetchJwks>) -> Self {
        Self { port, entries: Mutex::default() }
    }

    /// The set at `jwks`, after a refresh if it is old or lacks `kid` and one is due.
    pub(crate) async fn keys(
        &self,
        tenant: &TenantId,
        jwks: &Jwks,
        kid: Option<&str>,
        now: Timestamp,
    ) -> Result<Arc<KeySet>, KeysUnavailable> {
        let source = (tenant.clone(), jwks.clone());
        let flight = match self.next(&source, kid, now)? {
            Next::Use(keys) => return Ok(keys),
            Next::Await(flight) => flight,
        };
        let outcome = flight.outcome.clone().await;
        self.landed(&source, &flight, outcome, kid, now)
    }

    fn next(&self, source: &Source, kid: Option<&str>, now: Timestamp) -> Result<Next, KeysUnavailable> {
        let mut entries = self.lock();
        if !entries.contains_key(source) {
            make_room(&mut entries, now)?;
        }
        entries.entry(source.clone()).or_default().next(kid, now, || self.depart(source, now))
    }

    /// A fetch that whoever waits for it moves on: if one caller goes away, the others still get the answer.
    fn depart(&self, (_, jwks): &Source, now: Timestamp) -> Flight {
        let (port, jwks) = (Arc::clone(&self.port), jwks.clone());
        let fetch = async move {
            let bytes = port.fetch(jwks.url().as_str()).await?;
            let unusable = |reason| FetchFailed(format!("the key set {reason}"));
            KeySet::read(&bytes, jwks.algorithm()).map(Arc::new).map_err(unusable)
        };
        Flight { started: now, outcome: fetch.boxed().shared() }
    }

    fn landed(
        &self,
        source: &Source,
        flight: &Flight,
        outcome: Result<Arc<KeySet>, FetchFailed>,
        kid: Option<&str>,
        now: Timestamp,
    ) -> Result<Arc<KeySet>, KeysUnavailable> {
        let mut entries = self.lock();
        // Evicted while it was awaited: its answer still counts for who waited.
        let Some(entry) = entries.get_mut(source) else { return outcome.map_err(KeysUnavailable) };
        if entry.lands(flight) {
            if let Err(failure) = &outcome {
                let (tenant, jwks) = source;
                tracing::warn!(tenant.id = %tenant, jwks.url = jwks.url().as_str(), %failure, "JWKS refresh failed");
            }
            entry.keep(outcome, flight.started);
        }
        entry.note_missing(kid, now);
        entry.usable(now)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Source, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops the set that was unused for longest. One that was asked for within [`JWKS_REFRESH_MIN`] stays, or it
/// would be asked for again too soon.
fn make_room(entries: &mut HashMap<Source, Entry>, now: Timestamp) -> Result<(), KeysUnavailable> {
    if entries.len() < JWKS_SETS_MAX {
        return Ok(());
    }
    let idle =
        entries.iter().filter(|(_, entry)| entry.may_ask(now)).min_by_key(|(_, entry)| entry.used_at());
    let Some((oldest, _)) = idle else {
        return Err(KeysUnavailable(FetchFailed(format!("more than {JWKS_SETS_MAX} key sets in use"))));
    };
    let oldest = oldest.clone();
    entries.remove(&oldest);
    Ok(())
}
