//! One key set in the cache: when to ask for it, when to believe it.

use std::collections::VecDeque;
use std::sync::Arc;

use countersign_core::time::Timestamp;
use futures_util::future::{BoxFuture, Shared};

use super::{FetchFailed, KeysUnavailable};
use crate::jwks::KeySet;
use crate::limits::{JWKS_FRESH, JWKS_REFRESH_MIN, JWKS_STALE, KID_MISSING_FOR, KIDS_MISSING_MAX};

/// A fetch under way.
#[derive(Clone)]
pub(super) struct Flight {
    pub(super) started: Timestamp,
    pub(super) outcome: Shared<BoxFuture<'static, Result<Arc<KeySet>, FetchFailed>>>,
}

/// What a caller does next.
pub(super) enum Next {
    Use(Arc<KeySet>),
    Await(Flight),
}

/// What is known of one key set.
#[derive(Default)]
pub(super) struct Entry {
    /// The last good set, and when the fetch that brought it began.
    loaded: Option<(Arc<KeySet>, Timestamp)>,
    /// When the last fetch began, whatever came of it.
    attempted_at: Option<Timestamp>,
    flight: Option<Flight>,
    failure: Option<FetchFailed>,
    /// Kids that a refresh did not bring, and until when they cause no other one; oldest first.
    missing: VecDeque<(String, Timestamp)>,
    used_at: Option<Timestamp>,
}

impl Entry {
    /// Decides, and calls `depart` if a fetch is to begin.
    pub(super) fn next(
        &mut self,
        kid: Option<&str>,
        now: Timestamp,
        depart: impl FnOnce() -> Flight,
    ) -> Result<Next, KeysUnavailable> {
        self.used_at = self.used_at.max(Some(now));
        if !self.wants_refresh(kid, now) {
            return self.usable(now).map(Next::Use);
        }
        if self.may_ask(now) {
            // Also takes the place of a fetch that everybody had left before it ended.
            self.attempted_at = Some(now);
            self.flight = Some(depart());
        }
        match &self.flight {
            Some(flight) => Ok(Next::Await(flight.clone())),
            None => self.usable(now).map(Next::Use),
        }
    }

    fn wants_refresh(&self, kid: Option<&str>, now: Timestamp) -> bool {
        let Some((keys, loaded_at)) = &self.loaded else { return true };
        let is_noted = |kid: &str| self.missing.iter().any(|(name, until)| name == kid && now < *until);
        let lacks = !keys.knows(kid) && !kid.is_some_and(is_noted);
        now.since(*loaded_at) >= JWKS_FRESH || lacks
    }

    /// Whether a fetch may begin.
    pub(super) fn may_ask(&self, now: Timestamp) -> bool {
        self.attempted_at.is_none_or(|at| now.since(at) >= JWKS_REFRESH_MIN)
    }

    pub(super) const fn used_at(&self) -> Option<Timestamp> {
        self.used_at
    }

    /// Ends `flight`; `false` if another caller did, or it was replaced.
    pub(super) fn lands(&mut self, flight: &Flight) -> bool {
        let is_current = self.flight.as_ref().is_some_and(|one| one.outcome.ptr_eq(&flight.outcome));
        if is_current {
            self.flight = None;
        }
        is_current
    }

    /// Keeps what a fetch brought. A failure leaves the good set alone.
    pub(super) fn keep(&mut self, outcome: Result<Arc<KeySet>, FetchFailed>, started: Timestamp) {
        match outcome {
            Ok(keys) => self.loaded = Some((keys, started)),
            Err(failure) => self.failure = Some(failure),
        }
    }

    /// Remembers that a refresh was made for `kid` in vain.
    pub(super) fn note_missing(&mut self, kid: Option<&str>, now: Timestamp) {
        let (Some(kid), Some((keys, _))) = (kid, &self.loaded) else { return };
        if keys.knows(Some(kid)) {
            return;
        }
        self.missing.retain(|(name, until)| name != kid && now < *until);
        if self.missing.len() >= KIDS_MISSING_MAX {
            self.missing.pop_front();
        }
        self.missing.push_back((kid.to_owned(), now.plus(KID_MISSING_FOR)));
    }

    /// The last good set, unless it is too old.
    pub(super) fn usable(&self, now: Timestamp) -> Result<Arc<KeySet>, KeysUnavailable> {
        match &self.loaded {
            Some((keys, loaded_at)) if now.since(*loaded_at) < JWKS_STALE => Ok(Arc::clone(keys)),
            _ => {
                let failure = self.failure.clone();
                Err(KeysUnavailable(failure.unwrap_or_else(|| FetchFailed("not fetched yet".into()))))
            }
        }
    }
}
