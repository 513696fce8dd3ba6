//! Extractors that carry authority. What a handler may do stands in its arguments.

use std::marker::PhantomData;

use axum::extract::{FromRef, FromRequest, FromRequestParts, Request};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use countersign_app::App;
use countersign_app::authority::{Admission, AuthError, Bearer, Caller, Deciding, Operator, Target};
use countersign_app::sessions::session_id;
use countersign_core::credential::{Presented, Scope};
use countersign_core::id::TenantId;
use countersign_core::json::{self, BadJson};
use countersign_core::limits::BODY_ASKING;
use countersign_core::seal::AskToken;
use countersign_core::secret::Secret;
use serde_json::{Map, Value};

use crate::Http;
use crate::body;
use crate::error::ApiError;
use crate::headers::text;
use crate::path::Path;

impl FromRef<Http> for App {
    fn from_ref(http: &Http) -> Self {
        http.app.clone()
    }
}

/// What the request presents as `Authorization: Bearer` or, without one, as `X-API-Key`.
fn presented_text(headers: &HeaderMap) -> Option<String> {
    Some(match text(headers, AUTHORIZATION.as_str()).ok()? {
        Some(value) => {
            let (scheme, credential) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| credential.trim().to_owned())?
        }
        None => text(headers, "x-api-key").ok()??.trim().to_owned(),
    })
}

fn presented(headers: &HeaderMap) -> Option<Presented> {
    Presented::read(&presented_text(headers)?)
}

/// What callers of the native API present: an API key, or a token of their own issuer. What looks like neither is
/// refused here, before anything is read.
fn bearer(headers: &HeaderMap) -> Result<Bearer, ApiError> {
    match presented(headers) {
        Some(Presented::ApiKey(key)) => Ok(Bearer::Key(key)),
        Some(Presented::Operator(_)) => Err(ApiError::unauthenticated()),
        None => {
            let text = presented_text(headers).filter(|text| looks_like_token(text));
            text.map(|text| Bearer::Token(Secret::new(text))).ok_or_else(ApiError::unauthenticated)
        }
    }
}

fn looks_like_token(text: &str) -> bool {
    text.split('.').count() == 3 && text.split('.').all(|part| !part.is_empty())
}

/// The ask token of the path, whose seal is good. Says nothing of revocation: polls outlive it.
pub struct Asker(pub AskToken);

impl FromRequestParts<Http> for Asker {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, http: &Http) -> Result<Self, ApiError> {
        let Path(params) = Path::<Vec<(String, String)>>::from_request_parts(parts, http).await?;
        let token = params.iter().find(|(name, _)| name == "token").map(|(_, token)| token.as_str());
        let opened = token.and_then(|token| http.app.open_ask_token(token));
        opened.map(Self).ok_or_else(ApiError::bad_ask_url)
    }
}

/// Leave to ask, and what is asked, in the order of checks of PROTOCOL.md section 0: 413, 401, then 400.
pub struct Asking {
    /// The leave.
    pub admission: Admission,
    /// The body.
    pub body: Map<String, Value>,
}

impl Asking {
    /// By the ask token of the path.
    async fn by_token(mut request: Request, http: &Http) -> Result<Self, ApiError> {
        let (mut parts, content) = request.into_parts();
        let asker = Asker::from_request_parts(&mut parts, http).await;
        request = Request::from_parts(parts, content);
        let bytes = body::read(request, BODY_ASKING).await?;
        let admission = http.app.admit_token(&asker?.0).await.map_err(|error| match error {
            AuthError::Unauthenticated => ApiError::bad_ask_url(),
            other => other.into(),
        })?;
        Ok(Self { admission, body: json::read_object(&bytes)? })
    }

    /// By API key, in the session that `named` finds in the body.
    async fn by_key(request: Request, http: &Http, named: SessionOf) -> Result<Self, ApiError> {
        let bearer = bearer(request.headers());
        let bytes = body::read(request, BODY_ASKING).await?;
        let bearer = bearer?;
        let tenant = http.app.tenant_of(&bearer).ok_or_else(ApiError::unauthenticated)?;
        let body: Result<Map<String, Value>, BadJson> = json::read_object(&bytes);
        let session = body.as_ref().ok().and_then(named).and_then(|text| session_id(&tenant, text));
        let admission = http.app.admit_bearer(&bearer, session).await?;
        Ok(Self { admission, body: body? })
    }
}

type SessionOf = fn(&Map<String, Value>) -> Option<&str>;

/// [`Asking`] by the ask token of the path.
pub struct TokenAsking(pub Asking);

/// [`Asking`] by API key on the bare fallback route.
pub struct FallbackKeyAsking(pub Asking);

/// [`Asking`] by API key on the native API.
pub struct NativeAsking(pub Asking);

impl FromRequest<Http> for TokenAsking {
    type Rejection = ApiError;

    async fn from_request(request: Request, http: &Http) -> Result<Self, ApiError> {
        Asking::by_token(request, http).await.map(Self)
    }
}

impl FromRequest<Http> for FallbackKeyAsking {
    type Rejection = ApiError;

    async fn from_request(request: Request, http: &Http) -> Result<Self, ApiError> {
        let named: SessionOf = |body| body.get("_meta")?.get("com.pulsemcp/session-id")?.as_str();
        Asking::by_key(request, http, named).await.map(Self)
    }
}

impl FromRequest<Http> for NativeAsking {
    type Rejection = ApiError;

    async fn from_request(request: Request, http: &Http) -> Result<Self, ApiError> {
        let named: SessionOf = |body| body.get("session")?.as_str();
        Asking::by_key(request, http, named).await.map(Self)
    }
}

/// Which scopes let a caller in; one of them is enough.
pub trait Door {
    /// The scopes. The first is named to whoever has none.
    const SCOPES: &'static [Scope];
}

/// `ask`.
pub struct Ask;
/// `ask` for its own, or `read`.
pub struct Read;
/// `ask` for its own, or `manage`.
pub struct Drive;
/// `ask` for its own, `read`, or `manage`.
pub struct Look;
/// `manage`.
pub struct Manage;

impl Door for Ask {
    const SCOPES: &'static [Scope] = &[Scope::Ask];
}
impl Door for Read {
    const SCOPES: &'static [Scope] = &[Scope::Read, Scope::Ask];
}
impl Door for Drive {
    const SCOPES: &'static [Scope] = &[Scope::Ask, Scope::Manage];
}
impl Door for Look {
    const SCOPES: &'static [Scope] = &[Scope::Read, Scope::Ask, Scope::Manage];
}
impl Door for Manage {
    const SCOPES: &'static [Scope] = &[Scope::Manage];
}

/// A verified API key that passes the door.
pub struct Key<D: Door> {
    /// The caller behind it.
    pub caller: Caller,
    door: PhantomData<D>,
}

impl<D: Door> FromRequestParts<Http> for Key<D> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, http: &Http) -> Result<Self, ApiError> {
        let caller = http.app.authenticate_bearer(&bearer(&parts.headers)?).await?;
        if D::SCOPES.iter().any(|scope| caller.has(*scope)) {
            Ok(Self { caller, door: PhantomData })
        } else {
            Err(AuthError::Forbidden(D::SCOPES[0]).into())
        }
    }
}

/// Who polls on the bare fallback route. A handle that opens is answered whatever the store does, so a key that
/// cannot be looked up is told from one that is wrong.
pub enum Poller {
    /// The key is good and may ask or read.
    Verified(Caller),
    /// The key has the look of one of this tenant's, and the store does not answer.
    Unverified(TenantId),
}

impl FromRequestParts<Http> for Poller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, http: &Http) -> Result<Self, ApiError> {
        let bearer = bearer(&parts.headers)?;
        match http.app.authenticate_bearer(&bearer).await {
            Ok(caller) if caller.has(Scope::Ask) || caller.has(Scope::Read) => Ok(Self::Verified(caller)),
            Ok(_) => Err(AuthError::Forbidden(Scope::Ask).into()),
            Err(AuthError::Store(_) | AuthError::KeysUnavailable) => {
                let tenant = http.app.tenant_of(&bearer).ok_or_else(ApiError::unauthenticated)?;
                Ok(Self::Unverified(tenant))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Leave to decide the question of the path, which exists, by a key with the scope `decide`.
pub struct Decider(pub Deciding);

impl FromRequestParts<Http> for Decider {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, http: &Http) -> Result<Self, ApiError> {
        let bearer = bearer(&parts.headers)?;
        let path = Path::<String>::from_request_parts(parts, http).await;
        let target = path.map_or(Target::Nothing, |Path(id)| target(http, parts.uri.path(), &id));
        let deciding = http.app.admit_deciding(&bearer, &target).await?;
        deciding.found().then_some(Self(deciding)).ok_or_else(ApiError::not_found)
    }
}

/// On the native API a person may name the question by its reference; on the fallback route such a text is a request-id.
fn target(http: &Http, path: &str, id: &str) -> Target {
    match named(&http.app, id) {
        Target::Request(_) if path.starts_with("/v1/") => Target::Nothing,
        Target::Reference(_) if !path.starts_with("/v1/") => http.app.target(id),
        target => target,
    }
}

/// The question that a person or their gateway may name by id, reference or the asker's request-id.
pub(crate) fn named(app: &App, id: &str) -> Target {
    match (app.target(id), id.parse()) {
        (Target::Request(_), Ok(reference)) => Target::Reference(reference),
        (target, _) => target,
    }
}

/// The operator of this deployment.
pub struct ByOperator(pub Operator);

impl FromRequestParts<Http> for ByOperator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, http: &Http) -> Result<Self, ApiError> {
        match presented(&parts.headers) {
            Some(Presented::Operator(key)) => Ok(Self(Operator::verify(&http.operator, &key)?)),
            Some(Presented::ApiKey(_)) | None => Err(ApiError::unauthenticated()),
        }
    }
}
