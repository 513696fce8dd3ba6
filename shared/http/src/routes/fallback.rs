//! The fallback protocol (PROTOCOL.md section 1).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use countersign_app::App;
use countersign_app::create::Created;
use countersign_app::poll::Poll;
use countersign_core::id::{Front, RequestId};
use countersign_core::seal::PollHandle;
use countersign_wire::fallback::{self, AskBody, Polled, RespondBody};

use super::elicitations::response_of;
use crate::authority::{Asker, Decider, FallbackKeyAsking, Poller, TokenAsking};
use crate::body::AskingBody;
use crate::error::ApiError;
use crate::path::Path;

type CreatedAnswer = (StatusCode, Json<fallback::Created>);

/// `POST /t/{token}/api/v1/elicitations`
pub(super) async fn create(
    State(app): State<App>,
    Path(token): Path<String>,
    TokenAsking(asking): TokenAsking,
) -> Result<CreatedAnswer, ApiError> {
    let body = AskBody::read(&asking.body)?;
    if body.session.as_deref().is_some_and(|named| !asking.admission.names_its_session(named)) {
        return Err(ApiError::session_mismatch());
    }
    let ask = body.into_ask()?;
    let created = app.create(asking.admission, Front::Fallback, ask).await;
    let created = created.map_err(ApiError::of_fallback_create)?;
    let polls_at = format!("{}{}", app.settings.poll_base_url, fallback::ask_path(&token));
    Ok(answer(&created, &polls_at))
}

/// `POST /api/v1/elicitations`, by API key
pub(super) async fn create_by_key(
    State(app): State<App>,
    FallbackKeyAsking(asking): FallbackKeyAsking,
) -> Result<CreatedAnswer, ApiError> {
    let body = AskBody::read(&asking.body)?;
    let mut admission = asking.admission;
    if let Some(named) = body.session.as_deref().filter(|named| !admission.names_its_session(named)) {
        let name = named.parse().map_err(|_| ApiError::session_mismatch())?;
        admission = app.ensure_session(admission, name).await.map_err(ApiError::of_fallback_create)?;
    }
    let ask = body.into_ask()?;
    let created = app.create(admission, Front::Fallback, ask).await;
    let created = created.map_err(ApiError::of_fallback_create)?;
    let polls_at = format!("{}/api/v1/elicitations", app.settings.poll_base_url);
    Ok(answer(&created, &polls_at))
}

fn answer(created: &Created, polls_at: &str) -> CreatedAnswer {
    let handle = created.elicitation.poll_handle.as_deref().unwrap_or_default();
    let reachable = created.routes.iter().any(|route| !route.channels.is_empty());
    let match_code = created.elicitation.match_code.as_deref();
    let body =
        fallback::created(&created.elicitation, &format!("{polls_at}/{handle}"), reachable, match_code);
    (StatusCode::CREATED, Json(body))
}

/// `GET /t/{token}/api/v1/elicitations/{id}`
pub(super) async fn poll(
    State(app): State<App>,
    Asker(token): Asker,
    Path((_, id)): Path<(String, String)>,
) -> Result<Json<Polled>, ApiError> {
    learned(app.poll(&token, &id).await)
}

/// `GET /api/v1/elicitations/{id}`, by API key
pub(super) async fn poll_by_key(
    State(app): State<App>,
    poller: Poller,
    Path(id): Path<String>,
) -> Result<Json<Polled>, ApiError> {
    let caller = match poller {
        Poller::Verified(caller) => caller,
        Poller::Unverified(tenant) => {
            let handle = PollHandle::open(&id, &app.keys).filter(|handle| handle.tenant == tenant);
            handle.ok_or_else(|| ApiError::from(unreadable()))?;
            return learned(Poll::Unread { request_id: None });
        }
    };
    match app.poll_own(&caller, &id).await {
        Ok(poll) => learned(poll),
        Err(_) => learned(Poll::Unread { request_id: id.parse::<RequestId>().ok() }),
    }
}

fn unreadable() -> countersign_app::ports::StoreError {
    countersign_app::ports::StoreError::Unavailable("the key cannot be looked up".into())
}

fn learned(poll: Poll) -> Result<Json<Polled>, ApiError> {
    match poll {
        Poll::Known { elicitation, state } => Ok(Json(fallback::polled(&elicitation, &state))),
        Poll::Unread { request_id } => Ok(Json(fallback::pending_unread(request_id.as_ref()))),
        Poll::UnreadExpired { expires_at } => Ok(Json(fallback::expired_unread(expires_at))),
        Poll::Unknown => Err(ApiError::not_found()),
    }
}

/// `PATCH /api/v1/elicitations/{id}/respond`
pub(super) async fn respond(
    State(app): State<App>,
    Decider(deciding): Decider,
    AskingBody(body): AskingBody,
) -> Result<Json<Polled>, ApiError> {
    let response = response_of(RespondBody::read(&body)?);
    let settled = app.respond(deciding, response).await?;
    let state = settled.state_at(app.clock.now());
    Ok(Json(fallback::polled(&settled, &state)))
}
