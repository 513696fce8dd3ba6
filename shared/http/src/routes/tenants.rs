//! Tenants, by the operator; approvers, by a key with the scope `manage`.

use axum::Json;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use countersign_app::App;
use countersign_app::lifecycle::Deletion;
use countersign_app::records::{Approver, Tenant};
use countersign_core::id::TenantId;
use countersign_wire::manage::{
    ApproverBody, ApproverPage, ApproverView, TenantBody, TenantCreated, TenantDeletion, TenantFacts,
    TenantPage, TenantView,
};

use super::elicitations::request_key;
use super::query::Query;
use crate::authority::{ByOperator, Key, Manage};
use crate::body::ManagingBody;
use crate::error::ApiError;
use crate::path::Path;

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
    let tenants = app.tenants(operator).await?;
    Ok(Json(TenantPage::of(tenants.iter().map(tenant_view).collect())))
}

/// `GET /v1/tenants/{tenant}`
pub(super) async fn read(
    State(app): State<App>,
    ByOperator(operator): ByOperator,
    Path(id): Path<String>,
) -> Result<Json<TenantView>, ApiError> {
    Ok(Json(tenant_view(&app.tenant(operator, &tenant_id(&id)?).await?)))
}

/// `POST /v1/tenants/{tenant}/suspend`
pub(super) async fn suspend(
    State(app): State<App>,
    ByOperator(operator): ByOperator,
    Path(id): Path<String>,
) -> Result<Json<TenantView>, ApiError> {
    Ok(Json(tenant_view(&app.set_suspended(operator, &tenant_id(&id)?, true).await?)))
}

/// `POST /v1/tenants/{tenant}/resume`
pub(super) async fn resume(
    State(app): State<App>,
    ByOperator(operator): ByOperator,
    Path(id): Path<String>,
) -> Result<Json<TenantView>, ApiError> {
    Ok(Json(tenant_view(&app.set_suspended(operator, &tenant_id(&id)?, false).await?)))
}

/// `DELETE /v1/tenants/{tenant}`: without `confirm` it answers the code that does it.
pub(super) async fn delete(
    State(app): State<App>,
    ByOperator(operator): ByOperator,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<(StatusCode, Json<TenantDeletion>), ApiError> {
    let query = Query::read(query.as_deref(), &["confirm"])?;
    let deletion = app.delete_tenant(operator, &tenant_id(&id)?, query.text("confirm")).await?;
    Ok(match deletion {
        Deletion::ToConfirm { code, until } => {
            (StatusCode::OK, Json(TenantDeletion::to_confirm(code, until)))
        }
        Deletion::Begun => (StatusCode::ACCEPTED, Json(TenantDeletion::begun())),
    })
}

fn tenant_id(id: &str) -> Result<TenantId, ApiError> {
    id.parse().map_err(|_| ApiError::not_found())
}

fn tenant_view(tenant: &Tenant) -> TenantView {
    TenantView::of(&TenantFacts {
        id: &tenant.id,
        name: &tenant.name,
        created_at: tenant.created_at,
        suspended: tenant.suspended,
        deleting: tenant.deleting,
    })
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
