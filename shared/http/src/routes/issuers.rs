//! Issuers of a tenant's own tokens (PROTOCOL.md section 2.5).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use countersign_app::App;
use countersign_app::authority::Caller;
use countersign_app::issuers::{RegisteredKey, RegisteredKeys, Registration};
use countersign_core::credential::Scope;
use countersign_core::id::IssuerId;
use countersign_core::secret::Secret;
use countersign_wire::issuer::{IssuerBody, IssuerFacts, IssuerPage, IssuerView, KeyBody, KeysBody};

use crate::authority::{Key, Manage};
use crate::body::ManagingBody;
use crate::error::ApiError;
use crate::path::Path;

/// What an issuer's tokens can give where nobody says: what people do, and no managing.
const SCOPES: [Scope; 2] = [Scope::Read, Scope::Decide];

/// `POST /v1/issuers`
pub(super) async fn register(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
    ManagingBody(body): ManagingBody,
) -> Result<(StatusCode, Json<IssuerView>), ApiError> {
    let body = IssuerBody::read(&body)?;
    let usual = || SCOPES.into_iter().filter(|scope| caller.has(*scope)).collect();
    let registration = Registration {
        iss: body.iss,
        keys: keys(body.keys)?,
        scopes_claim: body.scopes_claim,
        scopes: body.scopes.unwrap_or_else(usual),
        acr_code: body.acr_code,
        acr_passkey: body.acr_passkey,
        sso_url: body.sso_url,
        created_at: app.clock.now(),
    };
    let made = app.register_issuer(&caller, registration).await?;
    Ok((StatusCode::CREATED, Json(view(&app, &caller, &made))))
}

/// `GET /v1/issuers`
pub(super) async fn list(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
) -> Result<Json<IssuerPage>, ApiError> {
    let issuers = app.issuers(&caller).await?;
    Ok(Json(IssuerPage::of(issuers.iter().map(|one| view(&app, &caller, one)).collect())))
}

/// `GET /v1/issuers/{issuer}`
pub(super) async fn read(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
    Path(id): Path<String>,
) -> Result<Json<IssuerView>, ApiError> {
    let found = app.issuer(&caller, parsed(&id)?).await?;
    Ok(Json(view(&app, &caller, &found)))
}

/// `DELETE /v1/issuers/{issuer}`
pub(super) async fn remove(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    app.remove_issuer(&caller, parsed(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn parsed(id: &str) -> Result<IssuerId, ApiError> {
    id.parse().map_err(|_| ApiError::not_found())
}

fn keys(body: KeysBody) -> Result<RegisteredKeys, ApiError> {
    let algorithm =
        |name: &str| name.parse().map_err(|_| ApiError::invalid("/algorithm", "is no known algorithm"));
    let key = |one: KeyBody| {
        Ok::<_, ApiError>(RegisteredKey {
            kid: one.kid,
            algorithm: algorithm(one.algorithm)?,
            public_key: one.public_key,
        })
    };
    Ok(match body {
        KeysBody::Jwks { url, algorithm: name } => RegisteredKeys::Jwks { url, algorithm: algorithm(name)? },
        KeysBody::Static(list) => {
            RegisteredKeys::Static(list.into_iter().map(key).collect::<Result<_, _>>()?)
        }
        KeysBody::Shared(secret) => RegisteredKeys::Shared(Secret::new(secret.into_bytes())),
    })
}

fn view(app: &App, caller: &Caller, one: &Registration) -> IssuerView {
    let (jwks_url, keys): (Option<&str>, Vec<(Option<&str>, &'static str)>) = match &one.keys {
        RegisteredKeys::Jwks { url, algorithm } => (Some(url), vec![(None, algorithm.name())]),
        RegisteredKeys::Static(list) => {
            (None, list.iter().map(|key| (key.kid.as_deref(), key.algorithm.name())).collect())
        }
        RegisteredKeys::Shared(_) => (None, vec![(None, "HS256")]),
    };
    IssuerView::of(&IssuerFacts {
        id: &one.id(caller.tenant()).to_string(),
        iss: &one.iss,
        audience: &app.audience(caller.tenant()),
        jwks_url,
        keys: &keys,
        scopes_claim: one.scopes_claim.as_deref().unwrap_or("scope"),
        scopes: &one.scopes,
        acr_code: &one.acr_code,
        acr_passkey: &one.acr_passkey,
        sso_url: one.sso_url.as_deref(),
        created_at: one.created_at,
    })
}
