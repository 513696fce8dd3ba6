//! The use-cases on top of what a process brings.

use std::sync::Arc;

use countersign_app::events::Hooks;
use countersign_app::ports::{Channel, Clock, Entropy, Stopping, Trigger};
use countersign_app::{App, Settings};
use countersign_core::seal::KeyRing;
use countersign_identity::{FetchJwks, Verifier};
use countersign_store::DynamoStore;
use countersign_store::table::Table;
use countersign_store::vault::KeyWrap;

/// What a process brings.
pub struct Parts {
    /// Where rows lie.
    pub table: Arc<dyn Table>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Random bytes.
    pub entropy: Arc<dyn Entropy>,
    /// The keys that seal.
    pub keys: KeyRing,
    /// What wraps the tenants' data keys.
    pub wrap: Arc<dyn KeyWrap>,
    /// Where key sets of the tenants' own issuers come from.
    pub jwks: Arc<dyn FetchJwks>,
    /// The way to the tenants' own systems.
    pub hooks: Arc<dyn Hooks>,
    /// What makes notifying prompt.
    pub trigger: Arc<dyn Trigger>,
    /// The ways to reach a person.
    pub channels: Vec<Arc<dyn Channel>>,
    /// What the deployment decided.
    pub settings: Settings,
}

/// The use-cases over `parts`.
pub fn compose(parts: Parts) -> App {
    let Parts { table, clock, entropy, keys, wrap, jwks, hooks, trigger, channels, settings } = parts;
    App {
        store: Arc::new(DynamoStore::new(table, Arc::clone(&clock), Arc::clone(&entropy), wrap)),
        clock,
        entropy,
        keys: Arc::new(keys),
        tokens: Arc::new(Verifier::new(jwks)),
        trigger,
        channels,
        hooks,
        stopping: Stopping::default(),
        settings: Arc::new(settings),
    }
}
