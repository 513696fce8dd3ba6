//! API keys (PROTOCOL.md section 2.5).

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use countersign_app::App;
use countersign_app::keys::{Bounds, KeyRecord, KeyWish};
use countersign_core::id::ApiKeyId;
use countersign_wire::key::{KeyBody, KeyFacts, KeyPage, KeyView, RotateKeyBody};

use super::elicitations::request_key;
use crate::authority::{Key, Manage};
use crate::body::ManagingBody;
use crate::error::ApiError;
use crate::path::Path;

/// `POST /v1/keys`
pub(super) async fn create(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
    headers: HeaderMap,
    ManagingBody(body): ManagingBody,
) -> Result<(StatusCode, Json<KeyView>), ApiError> {
    let request = request_key(&headers, &body)?;
    let body = KeyBody::read(&body)?;
    let now = app.clock.now();
    let bounds = Bounds {
        tier_ceiling: body.tier_ceiling,
        servers: body.servers,
        namespaces: body.namespaces,
        expires_at: body.end.map(|end| end.from(now)),
    };
    if bounds.expires_at.is_some_and(|until| until <= now) {
        return Err(ApiError::invalid("/expires_at", "must lie in the future"));
    }
    let wish = KeyWish { name: body.name, scopes: body.scopes, bounds };
    let minted = app.create_key(&caller, wish, request.as_ref()).await?;
    let view = view(&minted.record).with_key(minted.key.map(|key| key.reveal()));
    Ok((StatusCode::CREATED, Json(view)))
}

/// `GET /v1/keys`
pub(super) async fn list(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
) -> Result<Json<KeyPage>, ApiError> {
    let keys = app.keys(&caller).await?;
    Ok(Json(KeyPage::of(keys.iter().map(view).collect())))
}

/// `GET /v1/keys/{key}`
pub(super) async fn read(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
    Path(id): Path<String>,
) -> Result<Json<KeyView>, ApiError> {
    Ok(Json(view(&app.key(&caller, parsed(&id)?).await?)))
}

/// `DELETE /v1/keys/{key}`
pub(super) async fn revoke(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    app.revoke_key(&caller, parsed(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /v1/keys/{key}/rotate`
pub(super) async fn rotate(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
    Path(id): Path<String>,
    ManagingBody(body): ManagingBody,
) -> Result<Json<KeyView>, ApiError> {
    let id = parsed(&id)?;
    app.key(&caller, id).await?;
    let wanted = RotateKeyBody::read(&body)?;
    let minted = app.rotate_key(&caller, id, wanted.overlap).await?;
    Ok(Json(view(&minted.record).with_key(minted.key.map(|key| key.reveal()))))
}

fn parsed(id: &str) -> Result<ApiKeyId, ApiError> {
    id.parse().map_err(|_| ApiError::not_found())
}

fn view(key: &KeyRecord) -> KeyView {
    KeyView::of(&KeyFacts {
        id: key.id,
        name: &key.name,
        principal: key.principal.as_str(),
        scopes: &key.scopes,
        tier_ceiling: key.bounds.tier_ceiling,
        servers: &key.bounds.servers,
        namespaces: &key.bounds.namespaces,
        created_at: key.created_at,
        expires_at: key.bounds.expires_at,
        previous_until: key.previous.as_ref().map(|(_, until)| *until),
        last_used_at: key.last_used_at,
        hashed_with: &key.hash.key_id,
    })
}
