//! Questions on the native API (PROTOCOL.md section 2.2).

use std::time::Duration;

use axum::Json;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use countersign_app::App;
use countersign_app::create::CreateError;
use countersign_app::idempotency::RequestKey;
use countersign_app::list::{Filter, PAGE_DEFAULT, PAGE_MAX};
use countersign_app::respond::{Pressed, Response};
use countersign_app::sessions::session_id;
use countersign_core::ask::RetryKey;
use countersign_core::credential::Scope;
use countersign_core::id::{ElicitationId, Front, IdempotencyKey};
use countersign_core::json::Sha256;
use countersign_core::limits::WAIT_MAX;
use countersign_wire::native::{CreateBody, Created, DeliveryView, Page, QuestionView, RespondBody, View};
use countersign_wire::submitted::{Action, Submitted};
use serde_json::{Map, Value};

use super::query::Query;
use crate::authority::{Ask, Decider, Key, NativeAsking, Read};
use crate::body::AskingBody;
use crate::error::ApiError;
use crate::headers::text;
use crate::path::Path;

/// `POST /v1/elicitations`
pub(super) async fn create(
    State(app): State<App>,
    headers: HeaderMap,
    NativeAsking(asking): NativeAsking,
) -> Result<(StatusCode, Json<Created>), ApiError> {
    let retry_key = idempotency_key(&headers)?.map_or(RetryKey::None, RetryKey::Idempotency);
    let body = CreateBody::read(&asking.body, retry_key)?;
    if body.session.is_some() && asking.admission.session().is_none() {
        return Err(CreateError::UnknownSession.into());
    }
    let created = app.create(asking.admission, Front::Native, body.into_ask()?).await?;
    let now = app.clock.now();
    // A repeat tells where the question stands: the id is the first answer's, the status is the truth.
    let view = View::of(&created.elicitation, &created.elicitation.state_at(now), now);
    let routes = created.routes.into_iter().map(|route| (route.approver, route.channels));
    Ok((StatusCode::CREATED, Json(Created::of(view, routes, created.elicitation.match_code.as_deref()))))
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, ApiError> {
    let bad = || ApiError::invalid("", "the Idempotency-Key header must be 1 to 255 printable characters");
    let text = text(headers, "idempotency-key").map_err(|_| bad())?;
    text.map(|text| text.parse().map_err(|_| bad())).transpose()
}

/// The Idempotency-Key and the hash of the body that it came with.
pub(super) fn request_key(
    headers: &HeaderMap,
    body: &Map<String, Value>,
) -> Result<Option<RequestKey>, ApiError> {
    let request_sha256 = Sha256::of_json(&Value::Object(body.clone()));
    Ok(idempotency_key(headers)?.map(|key| RequestKey { key, request_sha256 }))
}

/// `GET /v1/elicitations/{id}`
pub(super) async fn read(
    State(app): State<App>,
    Key { caller, .. }: Key<Read>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Json<View>, ApiError> {
    let query = Query::read(query.as_deref(), &["wait_seconds"])?;
    let wait = query.number("wait_seconds", 0..=WAIT_MAX.as_secs())?.unwrap_or(0);
    let id = app.find(&caller, &id).await?.ok_or_else(ApiError::not_found)?;
    let seen = app.view(&caller, id, Duration::from_secs(wait)).await?;
    let (elicitation, state) = seen.ok_or_else(ApiError::not_found)?;
    let view = View::of(&elicitation, &state, app.clock.now());
    if wait > 0 || !caller.has(Scope::Read) {
        return Ok(Json(view)); // an agent that polls pays for one read
    }
    let shown = app.shown(&caller, id).await?;
    let deliveries = shown.deliveries.iter().map(|(one, target)| DeliveryView::of(one, target.clone()));
    let view = view.with_deliveries(deliveries.collect());
    Ok(Json(match &shown.content {
        Some(content) => view.with_question(QuestionView::of(content)),
        None => view,
    }))
}

/// `GET /v1/elicitations`
pub(super) async fn list(
    State(app): State<App>,
    Key { caller, .. }: Key<Read>,
    RawQuery(query): RawQuery,
) -> Result<Json<Page>, ApiError> {
    let query = Query::read(query.as_deref(), &["status", "session", "cursor", "limit"])?;
    let filter = match (query.text("status"), query.text("session")) {
        (Some("pending"), None) => Filter::Pending,
        (None, Some(session)) => {
            Filter::Session(session_id(caller.tenant(), session).ok_or_else(ApiError::not_found)?)
        }
        _ => return Err(ApiError::invalid("", "exactly one of status=pending and session=… is needed")),
    };
    let limit = query.number("limit", 1..=PAGE_MAX as u64)?;
    let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(PAGE_DEFAULT);
    let page = app.list(&caller, filter, query.text("cursor"), limit).await?;
    let view = |one: &_| {
        View::of(one, &countersign_core::elicitation::Elicitation::state_at(one, page.now), page.now)
    };
    Ok(Json(Page::of(page.elicitations.iter().map(view).collect(), page.next)))
}

/// `POST /v1/elicitations/{id}/respond`
pub(super) async fn respond(
    State(app): State<App>,
    Decider(deciding): Decider,
    AskingBody(body): AskingBody,
) -> Result<Json<View>, ApiError> {
    let response = response_of(RespondBody::read(&body)?);
    let settled = app.respond(deciding, response).await?;
    let now = app.clock.now();
    Ok(Json(View::of(&settled, &settled.state_at(now), now)))
}

/// `POST /v1/elicitations/{id}/withdraw`
pub(super) async fn withdraw(
    State(app): State<App>,
    Key { caller, .. }: Key<Ask>,
    Path(id): Path<String>,
) -> Result<Json<View>, ApiError> {
    let id: ElicitationId = id.parse().map_err(|_| ApiError::not_found())?;
    let ended = app.withdraw(&caller, id).await?;
    let now = app.clock.now();
    Ok(Json(View::of(&ended, &ended.state_at(now), now)))
}

/// `POST /v1/elicitations/{id}/ack`
pub(super) async fn acknowledge(
    State(app): State<App>,
    Key { caller, .. }: Key<Ask>,
    Path(id): Path<String>,
) -> Result<Json<View>, ApiError> {
    let id: ElicitationId = id.parse().map_err(|_| ApiError::not_found())?;
    let (seen, state) = app.acknowledge(&caller, id).await?.ok_or_else(ApiError::not_found)?;
    if !state.is_terminal() {
        return Err(ApiError::not_settled());
    }
    Ok(Json(View::of(&seen, &state, app.clock.now())))
}

pub(super) fn response_of(submitted: Submitted) -> Response {
    let pressed = match submitted.action {
        Action::Accept => Pressed::Accept,
        Action::Decline => Pressed::Decline,
        Action::Cancel => Pressed::Cancel,
    };
    Response { pressed, content: submitted.content, reason: submitted.reason }
}
