//! Endpoints: a tenant's own systems, told of events and trusted to pass on answers.

use std::time::Duration;

use countersign_core::credential::Scope;
use countersign_core::endpoint::{ActorKind, EndpointId, EventKind};
use countersign_core::signature::SigningSecret;
use countersign_core::time::Timestamp;

use crate::App;
use crate::authority::Caller;
use crate::idempotency::RequestKey;
use crate::ports::StoreError;
use crate::records::Idempotency;

/// Endpoints of one tenant.
pub const MAX_ENDPOINTS: usize = 20;
/// Secrets of one direction that are good at once.
pub const MAX_SECRETS: usize = 5;

/// An endpoint as stored.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Its id.
    pub id: EndpointId,
    /// Where events go.
    pub url: Option<String>,
    /// Which events.
    pub events: Vec<EventKind>,
    /// Nothing goes out or comes in.
    pub disabled: bool,
    /// Since when it has taken no event; `None` where the last one was taken.
    pub failing_since: Option<Timestamp>,
    /// Signed requests come in.
    pub inbound: bool,
    /// How they may name the person who answered.
    pub actor_kinds: Vec<ActorKind>,
    /// What we sign with, the newest last.
    pub secrets: Vec<KeptSecret>,
    /// What the tenant's own gateway signs with, the newest last.
    pub inbound_secrets: Vec<KeptSecret>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Grows with each write.
    pub revision: u64,
}

/// A signing secret and its end.
#[derive(Debug, Clone)]
pub struct KeptSecret {
    /// The secret. It lies in no row in the open.
    pub secret: SigningSecret,
    /// From here on it is good no more; `None` for the newest.
    pub until: Option<Timestamp>,
}

impl KeptSecret {
    /// Whether it is good at `now`.
    pub fn is_active(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}

/// How the create of an endpoint ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndpointOutcome {
    /// It is stored, now.
    Stored,
    /// The same Idempotency-Key and body made this one before.
    Repeated(EndpointId),
    /// The same Idempotency-Key came with another body.
    Reused,
}

/// What is to be, or to change; `None` leaves it as it is.
#[derive(Debug, Clone, Default)]
pub struct EndpointWish {
    /// Where events go.
    pub url: Option<String>,
    /// Which events.
    pub events: Option<Vec<EventKind>>,
    /// Whether signed requests come in, and how they may name the person.
    pub inbound: Option<(bool, Vec<ActorKind>)>,
    /// Whether nothing goes out or comes in.
    pub disabled: Option<bool>,
}

/// An endpoint with the secrets that were just made for it.
#[derive(Debug, Clone)]
pub struct Minted {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// What we sign with, if it was made now.
    pub secret: Option<SigningSecret>,
    /// What the tenant's gateway signs with, if it was made now.
    pub inbound_secret: Option<SigningSecret>,
    /// An earlier call made it: its secrets were shown then, and are not again.
    pub repeated: bool,
}

/// Which of an endpoint's secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// What we sign with.
    Outgoing,
    /// What the tenant's own gateway signs with.
    Inbound,
}

/// Why an endpoint does not do as asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// There is no such endpoint for this caller.
    #[error("there is no such endpoint")]
    Unknown,
    /// The tenant has as many as it may have.
    #[error("{MAX_ENDPOINTS} endpoints exist already")]
    TooMany,
    /// As many secrets as may be are good at once.
    #[error("{MAX_SECRETS} secrets are good already")]
    TooManySecrets,
    /// What comes in through it decides, and the caller may not.
    #[error("an endpoint that passes on answers takes the scope decide")]
    Beyond,
    /// Only https may be called.
    #[error("the URL must be https")]
    NotHttps,
    /// The same Idempotency-Key came with another body.
    #[error("the Idempotency-Key was used before with another body")]
    Reused,
    /// Somebody else changed it at the same time.
    #[error("the endpoint kept changing")]
    Changed,
    /// The store did not take it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl App {
    /// Makes an endpoint. Its secrets are shown once.
    ///
    /// # Errors
    /// See [`EndpointError`].
    pub async fn create_endpoint(
        &self,
        caller: &Caller,
        wish: EndpointWish,
        request: Option<&RequestKey>,
    ) -> Result<Minted, EndpointError> {
        check_inbound(caller, &wish)?;
        self.check_target(wish.url.as_deref())?;
        let store = self.store.tenant(caller.tenant());
        let key: Option<Idempotency> = request.map(|key| self.idempotency(caller, "POST /v1/endpoints", key));
        let id = EndpointId { tenant: caller.tenant().clone(), bits: self.entropy.bits130() };
        let secret = self.new_signing_secret();
        let inbound_secret = self.new_signing_secret();
        let (inbound, actor_kinds) = wish.inbound.unwrap_or_default();
        let endpoint = Endpoint {
            url: wish.url,
            events: wish.events.unwrap_or_default(),
            disabled: wish.disabled.unwrap_or(false),
            failing_since: None,
            inbound,
            actor_kinds,
            secrets: vec![KeptSecret { secret: secret.clone(), until: None }],
            inbound_secrets: vec![KeptSecret { secret: inbound_secret.clone(), until: None }],
            created_at: self.clock.now(),
            revision: 1,
            id,
        };
        // A bound against runaway scripts, not a promise: two at once may both pass it.
        if store.endpoints().await?.len() >= MAX_ENDPOINTS {
            return Err(EndpointError::TooMany);
        }
        match store.create_endpoint(&endpoint, key.as_ref()).await? {
            EndpointOutcome::Stored => Ok(Minted {
                endpoint,
                secret: Some(secret),
                inbound_secret: Some(inbound_secret),
                repeated: false,
            }),
            EndpointOutcome::Reused => Err(EndpointError::Reused),
            EndpointOutcome::Repeated(id) => {
                let endpoint = store.endpoint(&id).await?.ok_or(EndpointError::Unknown)?;
                Ok(Minted { endpoint, secret: None, inbound_secret: None, repeated: true })
            }
        }
    }

    /// The tenant's endpoints, oldest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn endpoints(&self, caller: &Caller) -> Result<Vec<Endpoint>, StoreError> {
        let mut found = self.store.tenant(caller.tenant()).endpoints().await?;
        found.sort_by_key(|one| (one.created_at, one.id.bits));
        Ok(found)
    }

    /// One endpoint of the caller's tenant.
    ///
    /// # Errors
    /// [`EndpointError::Unknown`] for another tenant's as for one that never was.
    pub async fn endpoint(&self, caller: &Caller, id: &EndpointId) -> Result<Endpoint, EndpointError> {
        if id.tenant != *caller.tenant() {
            return Err(EndpointError::Unknown);
        }
        self.store.tenant(caller.tenant()).endpoint(id).await?.ok_or(EndpointError::Unknown)
    }

    /// Changes what `wish` names.
    ///
    /// # Errors
    /// See [`EndpointError`].
    pub async fn change_endpoint(
        &self,
        caller: &Caller,
        id: &EndpointId,
        wish: EndpointWish,
    ) -> Result<Endpoint, EndpointError> {
        check_inbound(caller, &wish)?;
        self.check_target(wish.url.as_deref())?;
        let mut endpoint = self.endpoint(caller, id).await?;
        endpoint.url = wish.url.or(endpoint.url);
        endpoint.events = wish.events.unwrap_or(endpoint.events);
        endpoint.disabled = wish.disabled.unwrap_or(endpoint.disabled);
        if wish.disabled == Some(false) {
            endpoint.failing_since = None; // it begins anew
        }
        if let Some((enabled, kinds)) = wish.inbound {
            (endpoint.inbound, endpoint.actor_kinds) = (enabled, kinds);
        }
        self.replace(endpoint).await
    }

    /// Makes a new secret for one direction; the old ones stay good for `overlap`.
    ///
    /// # Errors
    /// See [`EndpointError`].
    pub async fn rotate_endpoint(
        &self,
        caller: &Caller,
        id: &EndpointId,
        direction: Direction,
        overlap: Duration,
    ) -> Result<Minted, EndpointError> {
        if direction == Direction::Inbound && !caller.has(Scope::Decide) {
            return Err(EndpointError::Beyond);
        }
        let mut endpoint = self.endpoint(caller, id).await?;
        let now = self.clock.now();
        let made = self.new_signing_secret();
        let secrets = match direction {
            Direction::Outgoing => &mut endpoint.secrets,
            Direction::Inbound => &mut endpoint.inbound_secrets,
        };
        let last = now.plus(overlap);
        for old in secrets.iter_mut() {
            old.until = Some(old.until.map_or(last, |until| until.min(last)));
        }
        secrets.retain(|one| one.is_active(now));
        if secrets.len() >= MAX_SECRETS {
            return Err(EndpointError::TooManySecrets);
        }
        secrets.push(KeptSecret { secret: made.clone(), until: None });
        let endpoint = self.replace(endpoint).await?;
        let (secret, inbound_secret) = match direction {
            Direction::Outgoing => (Some(made), None),
            Direction::Inbound => (None, Some(made)),
        };
        Ok(Minted { endpoint, secret, inbound_secret, repeated: false })
    }

    /// Removes an endpoint: nothing signed by it is taken from then on.
    ///
    /// # Errors
    /// See [`EndpointError`].
    pub async fn remove_endpoint(&self, caller: &Caller, id: &EndpointId) -> Result<(), EndpointError> {
        self.endpoint(caller, id).await?;
        Ok(self.store.tenant(caller.tenant()).remove_endpoint(id).await?)
    }

    async fn replace(&self, mut endpoint: Endpoint) -> Result<Endpoint, EndpointError> {
        endpoint.revision += 1;
        let stored = self.store.tenant(&endpoint.id.tenant).replace_endpoint(&endpoint).await?;
        if stored { Ok(endpoint) } else { Err(EndpointError::Changed) }
    }

    fn new_signing_secret(&self) -> SigningSecret {
        let mut random = [0; SigningSecret::BYTES];
        self.entropy.fill(&mut random);
        SigningSecret::mint(random)
    }

    fn check_target(&self, url: Option<&str>) -> Result<(), EndpointError> {
        let is_good = url.is_none_or(|url| url.starts_with("https://") || self.settings.plain_targets);
        if is_good { Ok(()) } else { Err(EndpointError::NotHttps) }
    }
}

/// Whoever holds the secret of an endpoint that passes on answers can decide: so must whoever makes it one.
fn check_inbound(caller: &Caller, wish: &EndpointWish) -> Result<(), EndpointError> {
    let opens = wish.inbound.as_ref().is_some_and(|(enabled, _)| *enabled);
    if opens && !caller.has(Scope::Decide) { Err(EndpointError::Beyond) } else { Ok(()) }
}
