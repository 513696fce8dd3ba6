//! A session on an engine of its own, and what the fault tests ask of it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use countersign_app::Settings;
use countersign_app::authority::{Caller, Target};
use countersign_app::create::{CreateError, Created};
use countersign_app::poll::Poll;
use countersign_app::records::Wanted;
use countersign_app::respond::{Pressed, RespondError};
use countersign_core::ask::{Ask, RetryKey};
use countersign_core::elicitation::Elicitation;
use countersign_core::id::{ElicitationId, Front};
use countersign_core::seal::AskToken;
use countersign_core::session::{Session, SessionStatus};
use countersign_core::state::State;
use countersign_store::table::{Query, Table as _};
use countersign_testkit::{TestApp, fallback_ask, pressed};

/// An app with one session.
pub(crate) struct Scene {
    pub(crate) test: TestApp,
    pub(crate) caller: Caller,
    pub(crate) token: AskToken,
}

impl Scene {
    /// A session in which nothing was asked yet.
    pub(crate) async fn start() -> Self {
        Self::of(TestApp::start().await).await
    }

    /// The same on an app of the test's own.
    pub(crate) async fn of(mut test: TestApp) -> Self {
        // That limit runs by the machine's own clock: a busy machine must not decide a test.
        let unhurried = Settings { poll_store_limit: Duration::from_mins(1), ..(*test.app.settings).clone() };
        test.app.settings = Arc::new(unhurried);
        let caller = test.caller().await;
        let (_, token) = test.session().await;
        Self { test, caller, token }
    }

    /// A session and a question of it, which nobody was told of yet.
    pub(crate) async fn asked() -> (Self, ElicitationId) {
        let scene = Self::start().await;
        let created = scene.ask("r1", "Send it?").await.expect("a question");
        (scene, created.elicitation.id)
    }

    /// Asks on the fallback route.
    pub(crate) async fn ask(&self, request_id: &str, message: &str) -> Result<Created, CreateError> {
        let admission = self.test.app.admit_token(&self.token).await;
        let admission = admission.map_err(|_| CreateError::Unauthenticated)?;
        Box::pin(self.test.app.create(admission, Front::Fallback, fallback_ask(request_id, message))).await
    }

    /// Asks on the native route, in the same session.
    pub(crate) async fn ask_natively(
        &self,
        key: &str,
        more: impl FnOnce(&mut Ask),
    ) -> Result<Created, CreateError> {
        let mut ask = fallback_ask("unused", "Send it?");
        ask.retry_key = RetryKey::Idempotency(key.parse().expect("a good key"));
        more(&mut ask);
        let admission = self.test.app.admit_key(&self.test.key, Some(self.token.session)).await;
        let admission = admission.map_err(|_| CreateError::Unauthenticated)?;
        Box::pin(self.test.app.create(admission, Front::Native, ask)).await
    }

    /// Answers with nothing but the button.
    pub(crate) async fn press(
        &self,
        id: ElicitationId,
        button: Pressed,
    ) -> Result<Elicitation, RespondError> {
        let page = self.test.app.admit_decider(&self.test.key, &Target::Id(id)).await.expect("a good key");
        Box::pin(self.test.app.respond(page, pressed(button, None))).await
    }

    /// What the asker of `request_id` learns.
    pub(crate) async fn poll(&self, request_id: &str) -> State {
        match self.test.app.poll(&self.token, request_id).await {
            Poll::Known { state, .. } => state,
            other => panic!("{other:?}"),
        }
    }

    /// The row of a question.
    pub(crate) async fn row(&self, id: ElicitationId) -> Elicitation {
        let row = self.test.app.store.tenant(&self.token.tenant).elicitation(id).await;
        row.expect("a read").expect("a row")
    }

    /// The session as stored.
    pub(crate) async fn session(&self) -> Session {
        let wanted = Wanted { session: Some(self.token.session), ..Wanted::default() };
        let rows = self.test.app.store.tenant(&self.token.tenant).read(&wanted).await.expect("a read");
        rows.session.expect("the session")
    }

    /// What the session waits on, by its rows; its status must say the same.
    pub(crate) async fn open(&self) -> Vec<ElicitationId> {
        let session = self.session().await;
        let mut open: Vec<_> = session.open.iter().map(|one| one.elicitation).collect();
        open.sort();
        let status = session.status_at(self.test.now());
        let waits = session.open.iter().any(|one| self.test.now() < one.expires_at);
        assert_eq!(status == SessionStatus::NeedsInput, waits);
        open
    }

    /// The questions with that request-id.
    pub(crate) async fn rows_of(&self, request_id: &str) -> Vec<ElicitationId> {
        let store = self.test.app.store.tenant(&self.token.tenant);
        store.by_request_id(&request_id.parse().expect("a request-id")).await.expect("a read")
    }

    /// Entries of the audit log of the first day.
    pub(crate) async fn audited(&self) -> usize {
        let mut count = 0;
        for shard in 0..countersign_store::keys::SHARDS {
            let partition = format!("T#{}#A#2026-11-30#{shard}", self.token.tenant);
            let query = Query {
                index: None,
                condition: "#PK = :pk".into(),
                values: HashMap::from([(":pk".to_owned(), AttributeValue::S(partition))]),
                limit: None,
            };
            count += self.test.process.query(&query).await.expect("a read").len();
        }
        count
    }

    /// Ids of the notices that were sent.
    pub(crate) fn notices(&self) -> Vec<String> {
        self.test.channel.sent().into_iter().map(|notice| notice.id).collect()
    }

    /// Lets what is overdue in a minute come due, and sweeps.
    pub(crate) async fn sweep_later(&self, span: Duration) {
        self.test.clock.advance(span);
        let report = self.test.app.sweep().await.expect("a sweep");
        assert_eq!(report.troubled, 0, "{report:?}");
    }

    /// Entries that are due within a month.
    pub(crate) async fn due(&self) -> usize {
        let far = self.test.now().plus(Duration::from_hours(24 * 30));
        let mut count = 0;
        for shard in 0..countersign_store::keys::SHARDS {
            count += self.test.app.store.due(shard, far, None).await.expect("a read").entries.len();
        }
        count
    }
}
