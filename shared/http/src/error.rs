//! One table from what went wrong to what is answered.
//!
//! An [`ApiError`] has a face, which a person or a model reads, and a diary, which never leaves. Which of the two
//! error shapes it is told in depends on the route family alone and is decided in one place, [`ApiError::render`].

mod deciding;
mod issuers;
mod managing;
mod people;
mod seen;
mod signed;

use axum::Json;
use axum::http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use countersign_app::authority::AuthError;
use countersign_app::create::CreateError;
use countersign_app::list::ListError;
use countersign_app::ports::StoreError;
use countersign_app::respond::RespondError;
use countersign_app::sessions::SessionError;
use countersign_app::tenants::ManageError;
use countersign_core::json::BadJson;
use countersign_core::violation::Violation;
use countersign_wire::native::Winner;
use countersign_wire::problem::{MEDIA_TYPE, Problem};
use countersign_wire::{fallback, rejected};

use crate::pages::{self, ErrorPage};

/// Which of the two error shapes a route family speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `{error, message, messages, code}`: what the fallback protocol's clients know.
    Fallback,
    /// RFC 9457.
    Problem,
    /// HTML, for people.
    Page,
}

impl Shape {
    /// The shape of the family that `path` belongs to. A page that is asked for as JSON fails as JSON.
    pub fn of(path: &str, wants_json: bool) -> Self {
        if path.starts_with("/t/") || path.starts_with("/api/v1/") {
            Self::Fallback
        } else if pages::is_page(path) && !wants_json {
            Self::Page
        } else {
            Self::Problem
        }
    }
}

/// An error on its way out.
#[derive(Debug, Clone)]
pub struct ApiError(Box<Face>);

#[derive(Debug, Clone)]
struct Face {
    status: StatusCode,
    code: &'static str,
    title: &'static str,
    detail: String,
    violations: Vec<Violation>,
    winner: Option<Winner>,
    retry_after: Option<u32>,
    allow: Option<HeaderValue>,
    /// For the log only.
    logged: Option<String>,
}

impl ApiError {
    /// An error with its face.
    pub fn new(
        status: StatusCode,
        code: &'static str,
        title: &'static str,
        detail: impl Into<String>,
    ) -> Self {
        Self(Box::new(Face {
            status,
            code,
            title,
            detail: detail.into(),
            violations: vec![],
            winner: None,
            retry_after: None,
            allow: None,
            logged: None,
        }))
    }

    /// The same error in other words: a person has another need of them than a program.
    #[must_use]
    pub(crate) fn saying(self, title: &'static str, detail: &str) -> Self {
        self.with(|face| {
            face.title = title;
            detail.clone_into(&mut face.detail);
        })
    }

    /// The same error with what is wrong where.
    #[must_use]
    pub(crate) fn naming(self, violations: Vec<Violation>) -> Self {
        self.with(|face| face.violations = violations)
    }

    fn with(mut self, change: impl FnOnce(&mut Face)) -> Self {
        change(&mut self.0);
        self
    }

    /// Nothing is there, or nothing that this caller may know of: the bytes are the same.
    pub fn not_found() -> Self {
        let detail = "There is no such id, reference or path, or not with this key.";
        Self::new(StatusCode::NOT_FOUND, "not_found", "Not found", detail)
    }

    /// The path exists, the method does not; `allow` are those that do.
    pub fn method_not_allowed(allow: Option<HeaderValue>) -> Self {
        let known = allow.as_ref().and_then(|allow| allow.to_str().ok());
        let detail = match known {
            Some(methods) => format!("This path takes {methods} only."),
            None => "This path does not take that method.".to_owned(),
        };
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "Method not allowed", detail)
            .with(|face| face.allow = allow)
    }

    /// There is no outcome yet that could be acknowledged.
    pub fn not_settled() -> Self {
        let detail = "This question still waits for an answer: there is nothing to acknowledge yet. Read it again later.";
        Self::new(StatusCode::CONFLICT, "not_settled", "Not settled yet", detail)
    }

    /// The body is over `cap` bytes.
    pub fn too_large(cap: usize) -> Self {
        let detail = format!("The body may have at most {} KiB.", cap / 1024);
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", "The body is too large", detail)
    }

    /// No credential that is good here.
    pub fn unauthenticated() -> Self {
        let detail = "No usable API key. Send one as Authorization: Bearer … or as X-API-Key; this one is missing, \
                      wrong, expired or revoked.";
        Self::new(StatusCode::UNAUTHORIZED, "unauthenticated", "Not authenticated", detail)
    }

    /// An ask token that is not good here.
    pub fn bad_ask_url() -> Self {
        let detail = "This URL is wrong, expired or revoked, or its session is archived. Nobody is asked through it. \
                      Get new variables with POST /v1/sessions.";
        Self::new(StatusCode::UNAUTHORIZED, "unauthenticated", "Not authenticated", detail)
    }

    /// A request whose shape is refused at one place.
    pub fn invalid(pointer: &str, message: impl Into<String>) -> Self {
        rejected::Rejected::one(rejected::INVALID_REQUEST, pointer, message).into()
    }

    /// A fault of ours that a handler did not foresee.
    pub fn internal(logged: impl Into<String>) -> Self {
        let detail = "Something broke on our side. Nothing was decided by it. Try again.";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "Internal error", detail)
            .with(|face| face.logged = Some(logged.into()))
    }

    /// The HTTP status as the native API answers it.
    pub const fn status(&self) -> StatusCode {
        self.0.status
    }

    /// What the log may say of it beyond its code.
    pub fn logged(&self) -> Option<&str> {
        self.0.logged.as_deref()
    }

    /// The answer, in the shape of the route family.
    pub fn render(self, shape: Shape) -> Response {
        let face = *self.0;
        let mut response = match shape {
            Shape::Fallback => face.fallback(),
            Shape::Problem => face.problem(),
            Shape::Page => ErrorPage::of(face.status, face.title, &face.detail),
        };
        let headers = response.headers_mut();
        if face.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = face.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(allow) = face.allow {
            headers.insert(ALLOW, allow);
        }
        response
    }
}

impl Face {
    fn fallback(&self) -> Response {
        let status = match self.status {
            StatusCode::CONFLICT | StatusCode::GONE => StatusCode::UNPROCESSABLE_ENTITY,
            status => status,
        };
        let messages = if self.violations.is_empty() {
            vec![self.detail.clone()]
        } else {
            self.violations.iter().map(ToString::to_string).collect()
        };
        (status, Json(fallback::error(self.code, self.title, messages))).into_response()
    }

    fn problem(&self) -> Response {
        let problem = Problem::new(self.status.as_u16(), self.code, self.title, &*self.detail);
        let problem = problem.with_errors(&self.violations);
        let problem = match &self.winner {
            Some(winner) => problem.with_winner(winner.clone()),
            None => problem,
        };
        (self.status, [(CONTENT_TYPE, MEDIA_TYPE)], Json(problem)).into_response()
    }
}

impl IntoResponse for ApiError {
    /// A bare status that carries the error: the middleware knows the shape and writes the body.
    fn into_response(self) -> Response {
        let mut response = self.0.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<rejected::Rejected> for ApiError {
    fn from(rejected: rejected::Rejected) -> Self {
        let detail = rejected.to_string();
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, rejected.code, rejected.title(), detail)
            .with(|face| face.violations = rejected.violations)
    }
}

impl From<BadJson> for ApiError {
    fn from(error: BadJson) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "malformed_json", "The body is not usable JSON", error.to_string())
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        let detail = "The store did not answer in time. Nothing can be said about this request: repeat it.";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "Not available right now", detail).with(
            |face| {
                face.retry_after = Some(2);
                face.logged = Some(error.to_string());
            },
        )
    }
}

impl From<AuthError> for ApiError {
    fn from(error: AuthError) -> Self {
        match error {
            AuthError::Unauthenticated => Self::unauthenticated(),
            AuthError::Forbidden(scope) => {
                let detail = format!("This key lacks the scope `{scope}`. Use a key that has it.");
                Self::new(StatusCode::FORBIDDEN, "missing_scope", "The key may not do this", detail)
            }
            AuthError::NotAnApprover => RespondError::NotAnApprover.into(),
            AuthError::KeysUnavailable => Self::keys_unavailable(),
            AuthError::Store(error) => error.into(),
        }
    }
}

impl From<CreateError> for ApiError {
    fn from(error: CreateError) -> Self {
        let unprocessable = StatusCode::UNPROCESSABLE_ENTITY;
        match error {
            CreateError::Unauthenticated => Self::bad_ask_url(),
            CreateError::SessionArchived => archived(),
            CreateError::UnknownSession => {
                let violation =
                    Violation::new("/session", "must be the id or name of a session of this key's");
                let detail = "There is no such session for this key. Create it with POST /v1/sessions.";
                Self::new(unprocessable, "unknown_session", "Unknown session", detail)
                    .with(|face| face.violations = vec![violation])
            }
            CreateError::BeyondKey => Self::beyond_key(),
            CreateError::Reused => key_reused(),
            CreateError::TenantSuspended => {
                let detail =
                    "This tenant is suspended: it may not ask. Nobody was asked. Tell your operator.";
                Self::new(StatusCode::FORBIDDEN, "tenant_suspended", "The tenant is suspended", detail)
            }
            CreateError::Audience(error) => error.into(),
            CreateError::Muted(mute) => deciding::muted(mute),
            CreateError::TooManyOpen { limit } => {
                let detail = format!(
                    "{limit} questions of this session wait for an answer already. Nobody was asked. Wait for an \
                     answer or withdraw one."
                );
                Self::new(unprocessable, "too_many_open", "Too many open questions", detail)
            }
            CreateError::ApproversFull { limit } => {
                let detail = format!(
                    "Everybody who could answer this has {limit} questions to answer already. Nobody was asked. Wait \
                     for an answer or withdraw one."
                );
                Self::new(unprocessable, "too_many_open", "Too many open questions", detail)
            }
            CreateError::OverQuota(over) => Self::over_quota(over),
            CreateError::NoRoute => {
                let detail = "The policy leaves nobody who could be asked this. Nobody was asked, and this is not a \
                              refusal. Add an approver with a mail address, or to a group of the audience.";
                Self::new(unprocessable, "no_route", "There is nobody to ask", detail)
            }
            CreateError::Unreachable => {
                let detail = "Nobody can be reached right now. Nobody was asked, and this is not a refusal.";
                Self::new(StatusCode::CONFLICT, "unreachable", "Nobody can be reached", detail)
            }
            CreateError::UnknownSuperseded => {
                Self::invalid("/supersedes", "must be the id of a question of yours")
            }
            CreateError::Store(error) => error.into(),
        }
    }
}

impl ApiError {
    /// The same error on the fallback routes, whose clients know other words for two of them.
    #[must_use]
    pub fn of_fallback_create(error: CreateError) -> Self {
        match error {
            CreateError::Reused => {
                let detail =
                    "This request-id was used before with another body. Nobody was asked. Use a new one.";
                let status = StatusCode::UNPROCESSABLE_ENTITY;
                Self::new(status, "request_id_reused", "The request-id was used before", detail)
            }
            CreateError::UnknownSession => Self::session_mismatch(),
            other => other.into(),
        }
    }

    /// A fallback body that names a session other than its credential's.
    pub fn session_mismatch() -> Self {
        let detail = "The session-id in _meta names another session than this URL. Nobody was asked. Use the five \
                      variables of one session together.";
        Self::new(StatusCode::FORBIDDEN, "session_mismatch", "Another session", detail)
    }
}

fn key_reused() -> ApiError {
    let detail = "This Idempotency-Key was used before with another body. Use a new key for a new request.";
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    ApiError::new(status, "idempotency_key_reused", "The Idempotency-Key was used before", detail)
}

fn archived() -> ApiError {
    let detail = "The session is archived. Create another one under a new name.";
    ApiError::new(StatusCode::CONFLICT, "session_archived", "The session is archived", detail)
}

impl From<SessionError> for ApiError {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Unknown => Self::not_found(),
            SessionError::NameTaken => {
                let detail = "Another key made a session of this name. Choose another name.";
                Self::new(StatusCode::CONFLICT, "session_name_taken", "The name is taken", detail)
            }
            SessionError::Archived => archived(),
            SessionError::Audience(error) => error.into(),
            SessionError::Reused => key_reused(),
            SessionError::TooManyTokens => {
                let detail = format!("{error}. Revoke one first.");
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "too_many_tokens", "Too many ask tokens", detail)
            }
            SessionError::Store(error) => error.into(),
        }
    }
}

impl From<ListError> for ApiError {
    fn from(error: ListError) -> Self {
        match error {
            ListError::BadCursor => Self::invalid("/cursor", "must be a next_cursor of this very list"),
            ListError::Store(error) => error.into(),
        }
    }
}

impl From<ManageError> for ApiError {
    fn from(error: ManageError) -> Self {
        match error {
            ManageError::Exists => {
                let detail = "There is a tenant of this name already. Choose another name.";
                Self::new(StatusCode::CONFLICT, "tenant_exists", "The tenant exists", detail)
            }
            ManageError::Store(error) => error.into(),
        }
    }
}
