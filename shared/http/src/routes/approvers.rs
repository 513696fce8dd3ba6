//! Approvers, by a key with the scope `manage` (PROTOCOL.md section 2.5).

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use countersign_app::App;
use countersign_app::approvers::{ApproverPatch, NewApprover};
use countersign_app::records::{Approver, ExternalIds};
use countersign_core::id::ApproverId;
use countersign_wire::approver::{
    self as wire, ApproverBody, ApproverFacts, ApproverPage, ApproverPatchBody, ApproverView,
};

use super::elicitations::request_key;
use crate::authority::{Key, Manage};
use crate::body::ManagingBody;
use crate::error::ApiError;
use crate::path::Path;

/// `POST /v1/approvers`
pub(super) async fn add(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
    headers: HeaderMap,
    ManagingBody(body): ManagingBody,
) -> Result<(StatusCode, Json<ApproverView>), ApiError> {
    let key = request_key(&headers, &body)?;
    let ApproverBody { name, email, groups, external_ids } = ApproverBody::read(&body)?;
    let wire::ExternalIds { slack, telegram, sub } = external_ids;
    let new = NewApprover { name, email, groups, external_ids: ExternalIds { slack, telegram, sub } };
    let approver = app.add_approver(&caller, new, key.as_ref()).await?;
    Ok((StatusCode::CREATED, Json(view(&approver))))
}

/// `GET /v1/approvers`
pub(super) async fn list(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
) -> Result<Json<ApproverPage>, ApiError> {
    let approvers = app.approvers(&caller).await?;
    Ok(Json(ApproverPage::of(approvers.iter().map(view).collect())))
}

/// `GET /v1/approvers/{id}`
pub(super) async fn read(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
    Path(id): Path<String>,
) -> Result<Json<ApproverView>, ApiError> {
    Ok(Json(view(&app.approver(&caller, named(&id)?).await?)))
}

/// `PATCH /v1/approvers/{id}`
pub(super) async fn change(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
    Path(id): Path<String>,
    ManagingBody(body): ManagingBody,
) -> Result<Json<ApproverView>, ApiError> {
    let id = named(&id)?;
    let ApproverPatchBody { name, email, groups, slack, telegram, sub } = ApproverPatchBody::read(&body)?;
    let patch = ApproverPatch { name, email, groups, slack, telegram, sub };
    Ok(Json(view(&app.change_approver(&caller, id, &patch).await?)))
}

/// `DELETE /v1/approvers/{id}`
pub(super) async fn remove(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    app.remove_approver(&caller, named(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /v1/approvers/{id}/passkeys`
pub(super) async fn forget_passkeys(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    app.forget_passkeys(&caller, named(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn named(text: &str) -> Result<ApproverId, ApiError> {
    text.parse().map_err(|_| ApiError::not_found())
}

fn view(approver: &Approver) -> ApproverView {
    let facts = ApproverFacts {
        id: approver.id,
        name: &approver.name,
        email: approver.email.as_deref(),
        groups: &approver.groups,
        channels: &approver.channels(),
        created_at: approver.created_at,
    };
    let ExternalIds { slack, telegram, sub } = approver.external_ids.clone();
    ApproverView::of(facts, wire::ExternalIds { slack, telegram, sub })
}
