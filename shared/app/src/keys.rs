//! API keys: made, listed without their secrets, rotated with overlap, revoked at once (PROTOCOL.md section 2.5).

use std::time::Duration;

use countersign_core::credential::{ApiKey, Scope};
use countersign_core::elicitation::Tier;
use countersign_core::id::{ApiKeyId, ApproverId, Principal};
use countersign_core::limits::LAST_USED_STEP;
use countersign_core::seal::KeyedHash;
use countersign_core::time::Timestamp;

use crate::App;
use crate::authority::{Caller, KEY_HASH_LABEL};
use crate::idempotency::RequestKey;
use crate::ports::StoreError;

/// API keys of one tenant: one transaction's worth, and more than a tenant has agents.
pub const MAX_KEYS: usize = 100;

/// An API key, without the key.
#[derive(Debug, Clone)]
pub struct KeyRecord {
    /// Its id.
    pub id: ApiKeyId,
    /// What people call it.
    pub name: String,
    /// Whom it stands for; stays over a rotation.
    pub principal: Principal,
    /// The approvers who have seen its secret as far as we know: behind whoever made it, or rotated it. They are one
    /// person with it where nobody may decide what they asked.
    pub people: Vec<ApproverId>,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// What it may do it to.
    pub bounds: Bounds,
    /// What is kept of its secret.
    pub hash: KeyedHash,
    /// What is kept of the secret before that one, and until when it is good.
    pub previous: Option<(KeyedHash, Timestamp)>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Its last use, as far as stored: one write per [`LAST_USED_STEP`].
    pub last_used_at: Option<Timestamp>,
}

/// What bounds a key beside its scopes. A key hands on no more than it has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The highest tier that it may ask for; `None` is any.
    pub tier_ceiling: Option<Tier>,
    /// The tool servers that it may ask for; none is any.
    pub servers: Vec<String>,
    /// The namespaces of nonces that it may use; none is any.
    pub namespaces: Vec<String>,
    /// From here on it is no key.
    pub expires_at: Option<Timestamp>,
}

impl Bounds {
    /// Whether what is bound by these is bound at least as much as by `outer`.
    pub fn are_within(&self, outer: &Self) -> bool {
        let rank = |tier: Tier| Tier::ALL.iter().position(|one| *one == tier);
        let tier = match (self.tier_ceiling, outer.tier_ceiling) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(inner), Some(outer)) => rank(inner) <= rank(outer),
        };
        let end = match (self.expires_at, outer.expires_at) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(inner), Some(outer)) => inner <= outer,
        };
        tier && end && is_part(&self.servers, &outer.servers) && is_part(&self.namespaces, &outer.namespaces)
    }

    /// Whether a question of that tier and server may be asked.
    pub fn admit(&self, tier: Tier, server: Option<&str>) -> bool {
        let inner = Self {
            tier_ceiling: Some(tier),
            servers: server.map(str::to_owned).into_iter().collect(),
            namespaces: self.namespaces.clone(),
            expires_at: self.expires_at,
        };
        inner.are_within(self)
    }
}

/// Whether `inner` is a part of `outer`, where an empty list is everything.
fn is_part(inner: &[String], outer: &[String]) -> bool {
    outer.is_empty() || (!inner.is_empty() && inner.iter().all(|one| outer.contains(one)))
}

/// What a new key is to be.
#[derive(Debug, Clone)]
pub struct KeyWish {
    /// What people call it.
    pub name: String,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// What bounds it.
    pub bounds: Bounds,
}

/// How the create of a key ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyOutcome {
    /// It is stored, now.
    Stored,
    /// The same Idempotency-Key and body made this one before.
    Repeated(ApiKeyId),
    /// The same Idempotency-Key came with another body.
    Reused,
}

/// A key as it was just made; `None` in place of the key itself where it was shown before.
#[derive(Debug, Clone)]
pub struct MintedKey {
    /// What is stored of it.
    pub record: KeyRecord,
    /// The key, to be shown once.
    pub key: Option<ApiKey>,
}

/// Why a key does not do as asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// There is no such key for this caller.
    #[error("there is no such key")]
    Unknown,
    /// It would be able to do what its maker cannot.
    #[error("a key cannot hand on what it does not have itself")]
    Beyond,
    /// The tenant has as many as it may have.
    #[error("{MAX_KEYS} keys exist already")]
    TooMany,
    /// Nobody could manage the tenant any more.
    #[error("it is the last key that manages the tenant")]
    LastManager,
    /// The same Idempotency-Key came with another body.
    #[error("the Idempotency-Key was used before with another body")]
    Reused,
    /// Somebody else changed it at the same time.
    #[error("the key kept changing")]
    Changed,
    /// The store did not take it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl App {
    /// Makes a key, which is shown once.
    ///
    /// # Errors
    /// See [`KeyError`].
    pub async fn create_key(
        &self,
        caller: &Caller,
        wish: KeyWish,
        request: Option<&RequestKey>,
    ) -> Result<MintedKey, KeyError> {
        let allowed =
            wish.scopes.iter().all(|scope| caller.has(*scope)) && wish.bounds.are_within(caller.bounds());
        if !allowed {
            return Err(KeyError::Beyond);
        }
        let store = self.store.tenant(caller.tenant());
        let idempotency = request.map(|request| self.idempotency(caller, "POST /v1/keys", request));
        let key = ApiKey::mint(caller.tenant().clone(), self.entropy.bits130(), self.entropy.bits130());
        let record = KeyRecord {
            id: key.id,
            name: wish.name,
            principal: Principal::api_key(key.id),
            people: caller.people().to_vec(),
            scopes: wish.scopes,
            bounds: wish.bounds,
            hash: self.keys.keyed_hash(KEY_HASH_LABEL, key.secret_bytes()),
            previous: None,
            created_at: self.clock.now(),
            last_used_at: None,
        };
        // A bound against runaway scripts, not a promise: two at once may both pass it.
        if store.keys().await?.len() >= MAX_KEYS {
            return Err(KeyError::TooMany);
        }
        match store.create_key(&record, idempotency.as_ref()).await? {
            KeyOutcome::Stored => Ok(MintedKey { record, key: Some(key) }),
            KeyOutcome::Reused => Err(KeyError::Reused),
            KeyOutcome::Repeated(id) => {
                let record = store.key(id).await?.ok_or(KeyError::Unknown)?;
                Ok(MintedKey { record, key: None })
            }
        }
    }

    /// The tenant's keys, oldest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn keys(&self, caller: &Caller) -> Result<Vec<KeyRecord>, StoreError> {
        let mut found = self.store.tenant(caller.tenant()).keys().await?;
        found.sort_by_key(|one| (one.created_at, one.id));
        Ok(found)
    }

    /// One key of the caller's tenant.
    ///
    /// # Errors
    /// [`KeyError::Unknown`] for another tenant's as for one that never was.
    pub async fn key(&self, caller: &Caller, id: ApiKeyId) -> Result<KeyRecord, KeyError> {
        self.store.tenant(caller.tenant()).key(id).await?.ok_or(KeyError::Unknown)
    }

    /// Ends a key, at once: every request looks at its row.
    ///
    /// # Errors
    /// See [`KeyError`].
    pub async fn revoke_key(&self, caller: &Caller, id: ApiKeyId) -> Result<(), KeyError> {
        let found = self.key(caller, id).await?;
        if found.scopes.iter().any(|scope| !caller.has(*scope)) {
            return Err(KeyError::Beyond); // or whoever manages could leave nobody who decides
        }
        if found.scopes.contains(&Scope::Manage) {
            let now = self.clock.now();
            let manages = |one: &KeyRecord| {
                one.id != id
                    && one.scopes.contains(&Scope::Manage)
                    && one.bounds.expires_at.is_none_or(|until| now < until)
            };
            if !self.keys(caller).await?.iter().any(manages) {
                return Err(KeyError::LastManager);
            }
        }
        Ok(self.store.tenant(caller.tenant()).remove_key(id).await?)
    }

    /// Makes a new secret for a key, which is shown once; the one before stays good for `overlap`.
    ///
    /// # Errors
    /// See [`KeyError`].
    pub async fn rotate_key(
        &self,
        caller: &Caller,
        id: ApiKeyId,
        overlap: Duration,
    ) -> Result<MintedKey, KeyError> {
        let found = self.key(caller, id).await?;
        let beyond =
            found.scopes.iter().any(|scope| !caller.has(*scope)) || !found.bounds.are_within(caller.bounds());
        if beyond {
            return Err(KeyError::Beyond);
        }
        let key = ApiKey::of(caller.tenant().clone(), id, self.entropy.bits130());
        let record = KeyRecord {
            hash: self.keys.keyed_hash(KEY_HASH_LABEL, key.secret_bytes()),
            previous: Some((found.hash.clone(), self.clock.now().plus(overlap))),
            people: together(&found.people, caller.people()),
            ..found.clone()
        };
        let stored = self.store.tenant(caller.tenant()).rotate_key(&record, &found.hash).await?;
        if stored { Ok(MintedKey { record, key: Some(key) }) } else { Err(KeyError::Changed) }
    }

    /// Whether the key's secret is the stored one, or the one before while that is good.
    pub(crate) fn is_genuine(&self, key: &ApiKey, record: &KeyRecord, now: Timestamp) -> bool {
        let is = |hash: &KeyedHash| self.keys.hash_matches(KEY_HASH_LABEL, key.secret_bytes(), hash);
        let is_current = is(&record.hash);
        let previous = record.previous.as_ref().filter(|(_, until)| now < *until);
        is_current | previous.is_some_and(|(hash, _)| is(hash))
    }

    /// Notes the use of a key, at most once in [`LAST_USED_STEP`]. Nothing hangs on it.
    pub(crate) async fn note_use(&self, key: &ApiKey, record: &KeyRecord, now: Timestamp) {
        if record.last_used_at.is_some_and(|at| now.since(at) < LAST_USED_STEP) {
            return;
        }
        if let Err(error) = self.store.tenant(&key.tenant).note_key_use(record.id, now).await {
            tracing::debug!(key.id = %record.id, "the use of a key was not noted: {error}");
        }
    }
}

/// All of both, each once.
pub(crate) fn together(some: &[ApproverId], others: &[ApproverId]) -> Vec<ApproverId> {
    let new = others.iter().filter(|one| !some.contains(one));
    some.iter().chain(new).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(tier: Option<Tier>, servers: &[&str], until: Option<i64>) -> Bounds {
        Bounds {
            tier_ceiling: tier,
            servers: servers.iter().map(|one| (*one).to_owned()).collect(),
            namespaces: vec![],
            expires_at: until.map(Timestamp::from_millis),
        }
    }

    #[test]
    fn what_is_handed_on_is_never_more_than_what_is_there() {
        let outer = bounds(Some(Tier::Commit), &["mail", "books"], Some(100));
        assert!(outer.are_within(&outer) && outer.are_within(&Bounds::default()));
        assert!(bounds(Some(Tier::Read), &["mail"], Some(99)).are_within(&outer));
        for more in [
            bounds(None, &["mail"], Some(99)),
            bounds(Some(Tier::External), &["mail"], Some(99)),
            bounds(Some(Tier::Read), &[], Some(99)),
            bounds(Some(Tier::Read), &["bank"], Some(99)),
            bounds(Some(Tier::Read), &["mail"], None),
            bounds(Some(Tier::Read), &["mail"], Some(101)),
        ] {
            assert!(!more.are_within(&outer), "{more:?}");
        }
    }

    #[test]
    fn a_bound_key_asks_up_to_its_ceiling_and_for_its_servers() {
        let key = bounds(Some(Tier::Write), &["mail"], None);
        assert!(key.admit(Tier::Read, Some("mail")) && key.admit(Tier::Write, Some("mail")));
        assert!(!key.admit(Tier::Commit, Some("mail")));
        assert!(!key.admit(Tier::Read, Some("books")) && !key.admit(Tier::Read, None));
        assert!(Bounds::default().admit(Tier::External, None));
    }
}
