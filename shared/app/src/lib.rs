//! What Countersign does, and the ports it needs for it.
//!
//! One file per use-case, one error enum per use-case. Nothing here names a vendor, a table or a protocol:
//! the store, the clock, randomness and the channels come in through [`ports`].

pub mod approvers;
pub mod audience;
pub mod authority;
pub mod codes;
pub mod create;
mod crowd;
pub mod deciding;
pub mod endpoints;
pub mod events;
pub mod humans;
pub mod idempotency;
pub mod inbound;
pub mod inbox;
pub mod issuers;
pub mod keys;
pub mod lifecycle;
pub mod list;
pub mod notify;
pub mod passkeys;
pub mod policies;
pub mod poll;
pub mod ports;
pub mod records;
pub mod respond;
pub mod sessions;
pub mod sso;
pub mod sweep;
pub mod tenants;

use std::sync::Arc;
use std::time::Duration;

use countersign_core::seal::KeyRing;
use countersign_identity::Verifier;

use events::Hooks;
use ports::{Channel, Clock, Entropy, Stopping, Store, Trigger};

/// What a deployment decides once.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where askers and people reach us, without a trailing slash. Never taken from a request.
    pub base_url: String,
    /// Where people's pages are. The base URL, but locally `http://localhost:PORT`: passkeys know no addresses.
    pub page_url: String,
    /// Where fallback askers poll; the base URL unless configured.
    pub poll_base_url: String,
    /// The wait of a question for which nobody named one.
    pub default_ttl: Duration,
    /// How long rows outlive their deadline.
    pub retention: Duration,
    /// Whether a native read may be held. Held time is billed on Lambda and free locally.
    pub hold_native_reads: bool,
    /// Whether endpoints may have plain http URLs, as tests on loopback need.
    pub plain_targets: bool,
    /// How long any request may take beyond what it is held for; past it nothing can be said of its outcome.
    pub request_limit: Duration,
    /// How long a poll waits for the store before it answers `pending`.
    pub poll_store_limit: Duration,
}

/// Every use-case, over its ports.
#[derive(Clone)]
pub struct App {
    /// Where rows lie.
    pub store: Arc<dyn Store>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Random bytes.
    pub entropy: Arc<dyn Entropy>,
    /// The keys that seal handles, tokens and cursors.
    pub keys: Arc<KeyRing>,
    /// What verifies the tokens of the tenants' own issuers, and keeps those issuers' keys.
    pub tokens: Arc<Verifier>,
    /// What makes notifying prompt after a commit.
    pub trigger: Arc<dyn Trigger>,
    /// The ways to reach a person.
    pub channels: Vec<Arc<dyn Channel>>,
    /// The way to a tenant's own systems.
    pub hooks: Arc<dyn Hooks>,
    /// Whether the process is about to end.
    pub stopping: Stopping,
    /// What the deployment decided.
    pub settings: Arc<Settings>,
}
