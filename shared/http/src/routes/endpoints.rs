//! Endpoints (PROTOCOL.md section 2.5) and what comes in through them, signed (section 2.6).

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use countersign_app::App;
use countersign_app::authority::Caller;
use countersign_app::endpoints::{Direction, Endpoint, EndpointWish, Minted};
use countersign_app::events::HookReply;
use countersign_core::endpoint::EndpointId;
use countersign_core::json;
use countersign_core::limits::BODY_ASKING;
use countersign_core::signature::Signed;
use countersign_wire::endpoint::{
    EndpointBody, EndpointFacts, EndpointPage, EndpointView, InboundBody, RotateBody, WhichSecret,
};
use countersign_wire::event::TriedView;
use countersign_wire::native::View;

use super::elicitations::{request_key, response_of};
use crate::authority::{Key, Manage, named};
use crate::body::{ManagingBody, read as read_body};
use crate::error::ApiError;
use crate::headers::text;
use crate::path::Path;

/// `POST /v1/endpoints`
pub(super) async fn create(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
    headers: HeaderMap,
    ManagingBody(body): ManagingBody,
) -> Result<(StatusCode, Json<EndpointView>), ApiError> {
    let key = request_key(&headers, &body)?;
    let wish = wish(EndpointBody::read(&body)?);
    let minted = app.create_endpoint(&caller, wish, key.as_ref()).await?;
    Ok((StatusCode::CREATED, Json(with_secrets(&app, minted))))
}

/// `GET /v1/endpoints`
pub(super) async fn list(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
) -> Result<Json<EndpointPage>, ApiError> {
    let endpoints = app.endpoints(&caller).await?;
    Ok(Json(EndpointPage::of(endpoints.iter().map(|one| view(&app, one)).collect())))
}

/// `GET /v1/endpoints/{endpoint}`
pub(super) async fn read(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
    Path(id): Path<String>,
) -> Result<Json<EndpointView>, ApiError> {
    let endpoint = app.endpoint(&caller, &parsed(&id)?).await?;
    Ok(Json(view(&app, &endpoint)))
}

/// `PATCH /v1/endpoints/{endpoint}`
pub(super) async fn change(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
    Path(id): Path<String>,
    ManagingBody(body): ManagingBody,
) -> Result<Json<EndpointView>, ApiError> {
    let id = parsed(&id)?;
    app.endpoint(&caller, &id).await?;
    let endpoint = app.change_endpoint(&caller, &id, wish(EndpointBody::read_change(&body)?)).await?;
    Ok(Json(view(&app, &endpoint)))
}

/// `DELETE /v1/endpoints/{endpoint}`
pub(super) async fn remove(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    app.remove_endpoint(&caller, &parsed(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /v1/endpoints/{endpoint}/enable`
pub(super) async fn enable(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
    Path(id): Path<String>,
) -> Result<Json<EndpointView>, ApiError> {
    switch(&app, &caller, &id, false).await
}

/// `POST /v1/endpoints/{endpoint}/disable`
pub(super) async fn disable(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
    Path(id): Path<String>,
) -> Result<Json<EndpointView>, ApiError> {
    switch(&app, &caller, &id, true).await
}

/// `POST /v1/endpoints/{endpoint}/test`
pub(super) async fn test(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
    Path(id): Path<String>,
) -> Result<Json<TriedView>, ApiError> {
    let tried = app.try_endpoint(&caller, &parsed(&id)?).await?;
    Ok(Json(match tried.reply {
        HookReply::Answered { status, .. } => TriedView::answered(status, tried.took),
        HookReply::Unreachable(error) => TriedView::unreachable(error, tried.took),
    }))
}

/// `POST /v1/endpoints/{endpoint}/rotate`
pub(super) async fn rotate(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
    Path(id): Path<String>,
    ManagingBody(body): ManagingBody,
) -> Result<Json<EndpointView>, ApiError> {
    let id = parsed(&id)?;
    app.endpoint(&caller, &id).await?;
    let wanted = RotateBody::read(&body)?;
    let direction = match wanted.which {
        WhichSecret::Outgoing => Direction::Outgoing,
        WhichSecret::Inbound => Direction::Inbound,
    };
    let minted = app.rotate_endpoint(&caller, &id, direction, wanted.overlap).await?;
    Ok(Json(with_secrets(&app, minted)))
}

/// `POST /v1/inbound/{endpoint}`: signed by the tenant's own gateway. Nothing of the body is looked at before its
/// signature is.
pub(super) async fn inbound(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
    request: Request,
) -> Result<Json<View>, ApiError> {
    let bytes = read_body(request, BODY_ASKING).await?;
    let id: EndpointId = id.parse().map_err(|_| ApiError::unsigned())?;
    let header = |name| text(&headers, name).ok().flatten().ok_or_else(ApiError::unsigned);
    let [webhook_id, timestamp, signature] =
        [header("webhook-id")?, header("webhook-timestamp")?, header("webhook-signature")?];
    let message = Signed { id: &webhook_id, timestamp: &timestamp, signature: &signature, body: &bytes };
    let inbound = app.verify_inbound(&id, &message).await?;
    let body = InboundBody::read(&json::read_object(&bytes)?)?;
    let target = named(&app, &body.elicitation);
    let actor = (body.actor_kind, body.actor_id.as_str());
    let deciding = app.admit_inbound(inbound, &target, actor).await?.ok_or_else(ApiError::not_found)?;
    let settled = app.respond(deciding, response_of(body.submitted)).await?;
    let now = app.clock.now();
    Ok(Json(View::of(&settled, &settled.state_at(now), now)))
}

async fn switch(
    app: &App,
    caller: &Caller,
    id: &str,
    disabled: bool,
) -> Result<Json<EndpointView>, ApiError> {
    let wish = EndpointWish { disabled: Some(disabled), ..EndpointWish::default() };
    let endpoint = app.change_endpoint(caller, &parsed(id)?, wish).await?;
    Ok(Json(view(app, &endpoint)))
}

fn parsed(id: &str) -> Result<EndpointId, ApiError> {
    id.parse().map_err(|_| ApiError::not_found())
}

fn wish(body: EndpointBody) -> EndpointWish {
    let inbound = body.inbound.map(|rule| (rule.enabled, rule.actor_kinds));
    EndpointWish { url: body.url, events: body.events, inbound, disabled: None }
}

fn view(app: &App, endpoint: &Endpoint) -> EndpointView {
    EndpointView::of(&EndpointFacts {
        id: &endpoint.id,
        url: endpoint.url.as_deref(),
        events: &endpoint.events,
        disabled: endpoint.disabled,
        inbound: endpoint.inbound,
        actor_kinds: &endpoint.actor_kinds,
        created_at: endpoint.created_at,
        base_url: &app.settings.base_url,
    })
}

fn with_secrets(app: &App, minted: Minted) -> EndpointView {
    let view = view(app, &minted.endpoint);
    let view = if minted.repeated { view.repeated() } else { view };
    // The secret for signed requests is only of use where they come in; it is made all the same, so that turning them
    // on later needs no other call than a rotation.
    let inbound = minted.inbound_secret.filter(|_| minted.endpoint.inbound);
    view.with_secrets(minted.secret.map(|one| one.reveal()), inbound.map(|one| one.reveal()))
}
