//! Tenants, by the operator; approvers, by a key with the scope `manage`.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use countersign_app::App;
use countersign_app::records::Approver;
use countersign_core::id::TenantId;
use countersign_wire::manage::{
    ApproverBody, ApproverPage, ApproverView, TenantBody, TenantCreated, TenantPage,
};

use super::elicitations::request_key;
use crate::authority::{ByOperator, Key, Manage};
use crate::body::ManagingBody;
use crate::error::ApiError;

/// `POST /v1/tenants`
pub(super) async fn create(
    State(app): State<App>,
    ByOperator(operator): ByOperator,
    ManagingBody(body): ManagingBody,
) -> Result<(StatusCode, Json<TenantCreated>), ApiError> {
    let wanted = TenantBody::read(&body)?;
    // New tenants do not let an asker decide its own question.
    let (tenant, key) = app.create_tenant(operator, wanted.id, false).await?;
    Ok((StatusCode::CREATED, Json(TenantCreated::of(&tenant.id, &tenant.name, key.reveal()))))
}

/// `GET /v1/tenants`
pub(super) async fn list(
    State(app): State<App>,
    ByOperator(operator): ByOperator,
) -> Result<Json<TenantPage>, ApiError> {
    let ids: Vec<TenantId> = app.tenants(operator).await?;
    Ok(Json(TenantPage::of(&ids)))
}

/// `POST /v1/approvers`
pub(super) async fn add_approver(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
    headers: HeaderMap,
    ManagingBody(body): ManagingBody,
) -> Result<(StatusCode, Json<ApproverView>), ApiError> {
    let key = request_key(&headers, &body)?;
    let wanted = ApproverBody::read(&body)?;
    let approver = match &key {
        Some(key) => app.add_approver_once(&caller, wanted.name, wanted.email, key).await?,
        None => app.add_approver(&caller, wanted.name, wanted.email).await?,
    };
    Ok((StatusCode::CREATED, Json(view(&approver))))
}

/// `GET /v1/approvers`
pub(super) async fn approvers(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
) -> Result<Json<ApproverPage>, ApiError> {
    let approvers = app.approvers(&caller).await?;
    Ok(Json(ApproverPage::of(approvers.iter().map(view).collect())))
}

fn view(approver: &Approver) -> ApproverView {
    let channels = approver.channels();
    ApproverView::of(approver.id, &approver.name, approver.email.as_deref(), &channels, approver.created_at)
}
