//! What is there from the start: a tenant, somebody to ask, and a session to ask in.
//!
//! Each step asks for what is there before it adds anything, so that a start that was killed is completed by the next.

use std::time::Duration;

use countersign_app::App;
use countersign_app::authority::{AuthError, Caller};
use countersign_app::sessions::{Opened, SessionError, SessionWish};
use countersign_app::tenants::ManageError;
use countersign_core::id::TenantId;
use countersign_core::policy::Policy;
use countersign_core::session::Session;
use countersign_wire::fallback::ask_path;
use countersign_wire::session::Env;

use crate::credentials::Credentials;
use crate::error::StartError;

const TENANT: &str = "demo";
const SESSION: &str = "demo";
const APPROVER: (&str, &str) = ("you", "you@localhost");
/// The longest life of an ask token: variables that were pasted somewhere go on working.
const TOKEN_TTL: Duration = Duration::from_hours(365 * 24);

/// The session that the five variables belong to.
pub(crate) struct Demo {
    /// The session.
    pub(crate) session: Session,
    /// Its ask token.
    pub(crate) token: String,
    /// Whether the token was made just now.
    pub(crate) is_new: bool,
    /// The token of a link that signs the approver in once; only where nobody has ever signed in.
    pub(crate) signin: Option<String>,
}

impl Demo {
    /// The five variables.
    pub(crate) fn env(&self, app: &App) -> Env {
        let at = |base: &str| format!("{base}{}", self.path());
        let settings = &app.settings;
        let ttl = self.session.default_ttl.unwrap_or(settings.default_ttl);
        Env::new(at(&settings.base_url), at(&settings.poll_base_url), ttl, self.session.id)
    }

    /// The link that signs the approver in, once.
    pub(crate) fn signin_url(&self, app: &App) -> Option<String> {
        let tenant = tenant();
        let url = |token: &String| format!("{}/signin/{tenant}/link/{token}", app.settings.page_url);
        self.signin.as_ref().map(url)
    }

    /// Where its questions are asked, below a base URL.
    pub(crate) fn path(&self) -> String {
        ask_path(&self.token)
    }
}

/// The id of the tenant that is there from the start.
pub(crate) fn tenant() -> TenantId {
    #[expect(clippy::expect_used, reason = "four lower-case letters are a tenant id")]
    TENANT.parse().expect("a tenant id")
}

/// Makes what is missing.
pub(crate) async fn seed(app: &App, credentials: &mut Credentials) -> Result<Demo, StartError> {
    let key = &credentials.api_key;
    let policy = Policy::of_one_person();
    // That it exists already is what every later start finds; whether it is ours shows when the key is tried.
    if let Err(ManageError::Store(error)) = app.create_tenant_with(key.tenant.clone(), policy, key).await {
        return Err(error.into());
    }
    let caller = app.authenticate(key).await?;
    if app.approvers(&caller).await?.is_empty() {
        let (name, email) = APPROVER;
        app.add_approver_to(caller.tenant(), name.to_owned(), Some(email.to_owned())).await?;
    }
    if let Some(token) = credentials.ask_token()
        && let Some(session) = session_of(app, token).await?
    {
        return Ok(Demo { session, token: token.to_owned(), is_new: false, signin: None });
    }
    let Opened { session, token, .. } = open_session(app, &caller).await?;
    credentials.keep_ask_token(token.clone())?;
    let signin = signin_token(app, &caller).await?;
    Ok(Demo { session, token, is_new: true, signin })
}

/// A one-time link for the one approver, unless they have signed in before.
async fn signin_token(app: &App, caller: &Caller) -> Result<Option<String>, StartError> {
    let approvers = app.approvers(caller).await?;
    let [approver] = approvers.as_slice() else { return Ok(None) };
    let is_known = app.has_people(caller.tenant(), approver.id).await?;
    Ok((!is_known).then(|| app.new_signin_link(caller.tenant(), approver.id)))
}

/// The session that `token` may still ask in.
async fn session_of(app: &App, token: &str) -> Result<Option<Session>, StartError> {
    let Some(token) = app.open_ask_token(token) else { return Ok(None) };
    match app.admit_token(&token).await {
        Ok(admission) => Ok(admission.session().cloned()),
        Err(
            AuthError::Unauthenticated
            | AuthError::Forbidden(_)
            | AuthError::NotAnApprover
            | AuthError::KeysUnavailable,
        ) => Ok(None),
        Err(AuthError::Store(error)) => Err(error.into()),
    }
}

async fn open_session(app: &App, caller: &Caller) -> Result<Opened, SessionError> {
    let wish =
        SessionWish { name: SESSION.parse().ok(), token_ttl: Some(TOKEN_TTL), ..SessionWish::default() };
    match app.open_session(caller, wish.clone()).await {
        // Its user has ended or filled it: another one, with a name of its own.
        Err(SessionError::Archived | SessionError::TooManyTokens) => {
            app.open_session(caller, SessionWish { name: None, ..wish }).await
        }
        opened => opened,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use countersign_runtime::{OsEntropy, Parts, compose};
    use countersign_testkit::TestApp;
    use countersign_testkit::crash::Die;

    use std::sync::Arc;

    use countersign_outbound::Reach;
    use countersign_runtime::{GuardedHooks, GuardedJwks};
    use countersign_store::vault::RingWrap;

    use super::*;

    fn open(folder: &Path) -> Credentials {
        Credentials::open(folder, "local".parse().unwrap(), &OsEntropy).unwrap()
    }

    /// `test`'s table under the keys of `credentials`.
    fn app(test: &TestApp, credentials: &Credentials) -> App {
        compose(Parts {
            table: test.process.clone(),
            clock: test.clock.clone(),
            entropy: test.app.entropy.clone(),
            keys: credentials.keys.clone(),
            jwks: Arc::new(GuardedJwks::new(Reach::Public)),
            hooks: Arc::new(GuardedHooks::new(Reach::Public)),
            wrap: Arc::new(RingWrap::new(&credentials.keys, test.app.entropy.clone())),
            trigger: test.trigger.clone(),
            channels: vec![],
            settings: (*test.app.settings).clone(),
        })
    }

    async fn start(test: &TestApp, folder: &Path) -> Result<(Demo, App), StartError> {
        let mut credentials = open(folder);
        let app = app(test, &credentials);
        Ok((seed(&app, &mut credentials).await?, app))
    }

    #[tokio::test]
    async fn every_start_finds_what_the_first_made() {
        let (test, folder) = (TestApp::start().await, tempfile::tempdir().unwrap());
        let (first, _) = start(&test, folder.path()).await.unwrap();
        let (again, app) = start(&test, folder.path()).await.unwrap();
        assert!(first.is_new && !again.is_new);
        assert_eq!((again.token, again.session.id), (first.token, first.session.id));
        let caller = app.authenticate(&open(folder.path()).api_key).await.unwrap();
        assert_eq!(app.approvers(&caller).await.unwrap().len(), 1);
    }

    #[tokio::test]
    async fn a_first_start_that_dies_anywhere_is_completed_by_the_next() {
        for die in [Die::Before, Die::After] {
            for call in 0.. {
                let (test, folder) = (TestApp::start().await, tempfile::tempdir().unwrap());
                let started = Box::pin(start(&test, folder.path()));
                let died = test.process.dying_at(call, die, started).await.is_none();
                let (demo, app) = start(&test, folder.path()).await.unwrap();
                let caller = app.authenticate(&open(folder.path()).api_key).await.unwrap();
                assert_eq!(app.approvers(&caller).await.unwrap().len(), 1, "{die:?} at call {call}");
                let token = app.open_ask_token(&demo.token).unwrap();
                assert!(app.admit_token(&token).await.is_ok(), "{die:?} at call {call}");
                if !died {
                    assert!(call > 4, "it died {call} times only");
                    break;
                }
            }
        }
    }

    #[tokio::test]
    async fn a_token_that_is_over_is_replaced() {
        let (test, folder) = (TestApp::start().await, tempfile::tempdir().unwrap());
        let (first, app) = start(&test, folder.path()).await.unwrap();
        test.clock.advance(TOKEN_TTL);
        let (second, _) = start(&test, folder.path()).await.unwrap();
        assert_eq!(second.session.id, first.session.id);
        assert!(second.is_new && second.token != first.token);

        let caller = app.authenticate(&open(folder.path()).api_key).await.unwrap();
        app.archive(&caller, SESSION).await.unwrap();
        let (third, _) = start(&test, folder.path()).await.unwrap();
        assert!(third.session.id != first.session.id && third.is_new);
        let (fourth, _) = start(&test, folder.path()).await.unwrap();
        assert_eq!(fourth.token, third.token);
    }

    #[tokio::test]
    async fn keys_of_another_database_are_refused() {
        let (test, folder) = (TestApp::start().await, tempfile::tempdir().unwrap());
        start(&test, folder.path()).await.unwrap();
        let other = tempfile::tempdir().unwrap();
        let error = start(&test, other.path()).await.err().unwrap();
        assert!(matches!(error, StartError::ForeignCredentials), "{error}");
    }
}
