//! The whole app, with a tenant, a key and an approver in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use countersign_app::App;
use countersign_app::Settings;
use countersign_app::authority::Caller;
use countersign_app::ports::{Clock, Entropy, Stopping};
use countersign_app::respond::{Pressed, Response};
use countersign_app::sessions::{Opened, SessionWish};
use countersign_core::ask::{Ask, Content, Expiry, RetryKey};
use countersign_core::credential::ApiKey;
use countersign_core::elicitation::Tier;
use countersign_core::id::TenantId;
use countersign_core::json::Sha256;
use countersign_core::limits::{EXPIRY_DEFAULT, RETENTION_DEFAULT};
use countersign_core::policy::Policy;
use countersign_core::schema::Schema;
use countersign_core::seal::{AskToken, KeyRing, SealKey};
use countersign_core::state::Answer;
use countersign_core::time::Timestamp;
use countersign_embedded::engine::{Engine, TABLE, client_at};
use countersign_embedded::faults::{Faults, FaultyTable};
use countersign_identity::Verifier;
use countersign_store::DynamoStore;
use countersign_store::dynamo::DynamoTable;
use countersign_store::schema::ensure_table;
use countersign_store::table::Table;
use countersign_store::vault::RingWrap;
use serde_json::{Map, Value, json};

use crate::channel::RecordingChannel;
use crate::clock::MockClock;
use crate::crash::MortalTable;
use crate::entropy::SeededEntropy;
use crate::hooks::RecordingHooks;
use crate::jwks::PublishedKeys;
use crate::trigger::RecordingTrigger;

/// 2026-11-30T20:00:00Z: when every test begins.
pub const START: Timestamp = Timestamp::from_millis(1_796_068_800_000);

/// What seals in every test: the key's id and its secret.
pub const SEAL_KEY: (&str, [u8; 32]) = ("k1", [1; 32]);

/// An app on an engine of its own.
pub struct TestApp {
    /// The use-cases.
    pub app: App,
    /// The clock that they see.
    pub clock: Arc<MockClock>,
    /// Where events go.
    pub hooks: Arc<RecordingHooks>,
    /// The faults of the table.
    pub faults: Arc<Faults>,
    /// The process that can die.
    pub process: Arc<MortalTable>,
    /// What was committed.
    pub trigger: Arc<RecordingTrigger>,
    /// The notices that were sent.
    pub channel: Arc<RecordingChannel>,
    /// What issuers publish.
    pub jwks: Arc<PublishedKeys>,
    /// A key with every scope.
    pub key: ApiKey,
    /// The engine, for as long as this lives; `None` on a table of the test's own.
    pub engine: Option<Engine>,
}

impl TestApp {
    /// An app with the tenant `demo`, whose asker may decide, and one approver.
    pub async fn start() -> Self {
        Self::with_table(|table| table).await
    }

    /// The same, with something of the test's own around the table.
    pub async fn with_table(wrap: impl FnOnce(Arc<dyn Table>) -> Arc<dyn Table>) -> Self {
        let clock = Arc::new(MockClock::at(START));
        if let Some(table) = second_engine().await {
            return Self::over(wrap(Arc::new(table)), clock).await;
        }
        let engine = Engine::memory().await.expect("an engine in memory");
        let table = wrap(Arc::new(DynamoTable::new(engine.client(), TABLE)));
        Self { engine: Some(engine), ..Self::over(table, clock).await }
    }

    /// The same on a table of the test's own, which may hold the clock too, and without an engine.
    pub async fn over(table: Arc<dyn Table>, clock: Arc<MockClock>) -> Self {
        let entropy: Arc<dyn Entropy> = Arc::new(SeededEntropy::new(7));
        let faults = Arc::new(Faults::default());
        let process = Arc::new(MortalTable::new(Arc::new(FaultyTable::new(table, faults.clone()))));
        let trigger = Arc::new(RecordingTrigger::default());
        let channel = Arc::new(RecordingChannel::default());
        let key = ApiKey::mint(tenant(), entropy.bits130(), entropy.bits130());
        let keys = Arc::new(KeyRing::new(SealKey::new(SEAL_KEY.0, SEAL_KEY.1).expect("a key id"), vec![]));
        let wrap = Arc::new(RingWrap::new(&keys, entropy.clone()));
        let jwks = Arc::new(PublishedKeys::default());
        let hooks = Arc::new(RecordingHooks::default());
        let app = App {
            store: Arc::new(DynamoStore::new(process.clone(), clock.clone(), entropy.clone(), wrap)),
            clock: clock.clone(),
            entropy,
            keys,
            tokens: Arc::new(Verifier::new(jwks.clone())),
            trigger: trigger.clone(),
            channels: vec![channel.clone()],
            hooks: hooks.clone(),
            stopping: Stopping::default(),
            settings: Arc::new(settings()),
        };
        app.create_tenant_with(tenant(), Policy::of_one_person(), &key).await.expect("a tenant");
        app.add_approver_to(&tenant(), "You".into(), Some("you@localhost".into()))
            .await
            .expect("an approver");
        Self { app, clock, faults, process, trigger, channel, hooks, jwks, key, engine: None }
    }

    /// The caller behind the key.
    pub async fn caller(&self) -> Caller {
        self.app.authenticate(&self.key).await.expect("a good key")
    }

    /// A new session with its ask token.
    pub async fn session(&self) -> (Opened, AskToken) {
        let caller = self.caller().await;
        let opened = self.app.open_session(&caller, SessionWish::default()).await.expect("a session");
        let token = self.app.open_ask_token(&opened.token).expect("our own token");
        (opened, token)
    }

    /// Plans and delivers what was committed since the last call.
    pub async fn drain(&self) {
        for (tenant, id) in self.trigger.take() {
            self.app.notify(&tenant, id).await.expect("a notice");
        }
        for (tenant, id) in self.trigger.take_codes() {
            self.app.mail_code(&tenant, id).await.expect("a code");
        }
    }

    /// The present.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

/// A table of its own on another engine, where the environment names one: `infra/engine/suite.py` runs the store's tests
/// so.
async fn second_engine() -> Option<DynamoTable> {
    static TABLES: AtomicU32 = AtomicU32::new(0);
    #[expect(clippy::disallowed_methods, reason = "which engine the tests run on is not theirs to say")]
    let address = std::env::var("COUNTERSIGN_TEST_DYNAMODB").ok()?;
    let client = client_at(address.parse().expect("an address and a port"));
    let name = format!("countersign-{}-{}", std::process::id(), TABLES.fetch_add(1, Ordering::Relaxed));
    ensure_table(&client, &name).await.expect("a table");
    Some(DynamoTable::new(client, &name))
}

fn tenant() -> TenantId {
    "demo".parse().expect("a tenant id")
}

fn settings() -> Settings {
    Settings {
        base_url: "http://127.0.0.1:8787".into(),
        page_url: "http://localhost:8787".into(),
        poll_base_url: "http://127.0.0.1:8787".into(),
        default_ttl: EXPIRY_DEFAULT,
        retention: RETENTION_DEFAULT,
        hold_native_reads: true,
        plain_targets: false,
        request_limit: Duration::from_mins(10),
        poll_store_limit: Duration::from_mins(1), // a slow machine must not pass for a store that is down
    }
}

/// A fallback question with one required boolean, `confirm`.
pub fn fallback_ask(request_id: &str, message: &str) -> Ask {
    let schema =
        json!({"type": "object", "properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"]});
    ask(RetryKey::Request(request_id.parse().expect("a request-id")), message, &schema)
}

/// A native question, yes or no.
pub fn native_ask(message: &str) -> Ask {
    ask(RetryKey::None, message, &json!({}))
}

fn ask(retry_key: RetryKey, message: &str, schema: &Value) -> Ask {
    Ask {
        retry_key,
        server: None,
        tool: Some("send_email".into()),
        tier: Tier::Write,
        title: None,
        content: Content {
            message: message.into(),
            context: None,
            consequence: None,
            irreversible: false,
            warnings: vec![],
            details: vec![],
            preview: None,
            schema: Schema::parse(schema).expect("a good schema"),
            binding: None,
            meta: Map::new(),
        },
        expiry: Expiry::Default,
        poll_interval: None,
        supersedes: None,
        audience: None,
        require_reachable: false,
        request_sha256: Sha256::of(message.as_bytes()),
    }
}

/// A response without a reason.
pub fn pressed(pressed: Pressed, content: Option<Answer>) -> Response {
    Response { pressed, content, reason: None }
}
