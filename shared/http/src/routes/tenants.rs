//! Tenants, by the operator.

use axum::Json;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use countersign_app::App;
use countersign_app::lifecycle::Deletion;
use countersign_app::records::Tenant;
use countersign_core::id::TenantId;
use countersign_core::policy::Policy;
use countersign_core::quota::Quota;
use countersign_wire::manage::{
    QuotaBody, TenantBody, TenantCreated, TenantDeletion, TenantFacts, TenantPage, TenantView,
};

use super::query::Query;
use crate::authority::ByOperator;
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
    let (tenant, key) = app.create_tenant(operator, wanted.id, Policy::of_new_tenant()).await?;
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

/// `PATCH /v1/tenants/{tenant}`
pub(super) async fn change(
    State(app): State<App>,
    ByOperator(operator): ByOperator,
    Path(id): Path<String>,
    ManagingBody(body): ManagingBody,
) -> Result<Json<TenantView>, ApiError> {
    let id = tenant_id(&id)?;
    app.tenant(operator, &id).await?;
    let wanted = QuotaBody::read(&body)?;
    let change = |quota: Quota| Quota {
        burst: wanted.burst.unwrap_or(quota.burst),
        per_minute: wanted.per_minute.unwrap_or(quota.per_minute),
        max_stored: wanted.max_stored.unwrap_or(quota.max_stored),
        max_open: wanted.max_open.unwrap_or(quota.max_open),
    };
    Ok(Json(tenant_view(&app.set_quota(operator, &id, change).await?)))
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
        quota: tenant.quota,
    })
}
