//! Tenants, by the operator.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use countersign_app::App;
use countersign_core::id::TenantId;
use countersign_core::policy::Policy;
use countersign_wire::manage::{TenantBody, TenantCreated, TenantPage};

use crate::authority::ByOperator;
use crate::body::ManagingBody;
use crate::error::ApiError;

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
    let ids: Vec<TenantId> = app.tenants(operator).await?;
    Ok(Json(TenantPage::of(&ids)))
}
