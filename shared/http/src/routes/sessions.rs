//! Sessions (PROTOCOL.md section 2.1).

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use countersign_app::App;
use countersign_app::sessions::{Opened, Opening, SessionSeen, SessionWish};
use countersign_wire::fallback::ask_path;
use countersign_wire::session::{
    Env, Gate, SessionBody, SessionCreated, SessionRepeated, SessionView, TokenBody, TokenGrant,
};

use super::elicitations::request_key;
use crate::authority::{Ask, Drive, Key, Look, Manage};
use crate::body::ManagingBody;
use crate::error::ApiError;
use crate::path::Path;

/// `POST /v1/sessions`
pub(super) async fn open(
    State(app): State<App>,
    Key { caller, .. }: Key<Ask>,
    headers: HeaderMap,
    ManagingBody(body): ManagingBody,
) -> Result<Response, ApiError> {
    let key = request_key(&headers, &body)?;
    let body = SessionBody::read(&body)?;
    let wish = SessionWish {
        name: body.name,
        title: body.title,
        surface: body.surface,
        default_ttl: body.default_ttl,
        audience: body.audience,
        token_ttl: body.ask_token_ttl,
    };
    let opening = match &key {
        Some(key) => app.open_session_once(&caller, wish, key).await?,
        None => Opening::Opened(Box::new(app.open_session(&caller, wish).await?)),
    };
    match opening {
        Opening::Opened(opened) => {
            let status = if opened.is_new { StatusCode::CREATED } else { StatusCode::OK };
            Ok((status, Json(created(&app, &opened))).into_response())
        }
        Opening::Repeated(seen) => {
            let again = SessionRepeated::of(&seen.session, Gate::Working, seen.now);
            Ok((StatusCode::CREATED, Json(again)).into_response())
        }
    }
}

/// `POST /v1/sessions/{session}/tokens`
pub(super) async fn add_token(
    State(app): State<App>,
    Key { caller, .. }: Key<Drive>,
    Path(session): Path<String>,
    ManagingBody(body): ManagingBody,
) -> Result<(StatusCode, Json<SessionCreated>), ApiError> {
    let body = TokenBody::read(&body)?;
    let opened = app.add_token(&caller, &session, body.ask_token_ttl).await?;
    Ok((StatusCode::CREATED, Json(created(&app, &opened))))
}

fn created(app: &App, opened: &Opened) -> SessionCreated {
    let at = |base: &str| format!("{base}{}", ask_path(&opened.token));
    let (asks_at, polls_at) = (at(&app.settings.base_url), at(&app.settings.poll_base_url));
    let env = Env::new(asks_at, polls_at, opened.default_ttl, opened.session.id);
    let grant = TokenGrant { token: &opened.token, id: opened.token_id };
    SessionCreated::of(&opened.session, grant, env, Gate::Working, app.clock.now())
}

/// `DELETE /v1/sessions/{session}/tokens/{token_id}`
pub(super) async fn revoke_token(
    State(app): State<App>,
    Key { caller, .. }: Key<Drive>,
    Path((session, token)): Path<(String, String)>,
) -> Result<StatusCode, ApiError> {
    let token = token.parse().map_err(|_| ApiError::not_found())?;
    app.revoke_token(&caller, &session, token).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /v1/sessions/{session}`
pub(super) async fn read(
    State(app): State<App>,
    Key { caller, .. }: Key<Look>,
    Path(session): Path<String>,
) -> Result<Json<SessionView>, ApiError> {
    Ok(Json(view(&app.session(&caller, &session).await?)))
}

/// `POST /v1/sessions/{session}/resume`
pub(super) async fn resume(
    State(app): State<App>,
    Key { caller, .. }: Key<Drive>,
    Path(session): Path<String>,
) -> Result<Json<SessionView>, ApiError> {
    Ok(Json(view(&app.resume(&caller, &session).await?)))
}

/// `POST /v1/sessions/{session}/archive`
pub(super) async fn archive(
    State(app): State<App>,
    Key { caller, .. }: Key<Drive>,
    Path(session): Path<String>,
) -> Result<Json<SessionView>, ApiError> {
    Ok(Json(view(&app.archive(&caller, &session).await?)))
}

/// `POST /v1/sessions/{session}/unmute`
pub(super) async fn unmute(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
    Path(session): Path<String>,
) -> Result<Json<SessionView>, ApiError> {
    Ok(Json(view(&app.unmute(&caller, &session).await?)))
}

fn view(seen: &SessionSeen) -> SessionView {
    let last_seen = seen.open.iter().filter_map(|one| one.asker.last_polled_at).max();
    SessionView::of(&seen.session, last_seen, Gate::Working, seen.now)
}
