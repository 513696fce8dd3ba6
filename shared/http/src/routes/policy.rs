//! The tenant's policy, by a key with the scope `manage` (PROTOCOL.md section 2.5).

use axum::Json;
use axum::extract::{RawQuery, State};
use countersign_app::App;
use countersign_app::records::PolicyVersion;
use countersign_wire::policy::{PolicyBody, PolicyView};

use super::query::Query;
use crate::authority::{Key, Manage};
use crate::body::ManagingBody;
use crate::error::ApiError;

/// `GET /v1/policy`
pub(super) async fn read(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
    RawQuery(query): RawQuery,
) -> Result<Json<PolicyView>, ApiError> {
    let query = Query::read(query.as_deref(), &["version"])?;
    let version = query.number("version", 1..=u64::MAX)?;
    Ok(Json(view(&app.policy(&caller, version).await?)))
}

/// `PUT /v1/policy`
pub(super) async fn replace(
    State(app): State<App>,
    Key { caller, .. }: Key<Manage>,
    ManagingBody(body): ManagingBody,
) -> Result<Json<PolicyView>, ApiError> {
    let wanted = PolicyBody::read(&body)?;
    Ok(Json(view(&app.put_policy(&caller, &wanted.policy, wanted.version).await?)))
}

fn view(one: &PolicyVersion) -> PolicyView {
    PolicyView::of(&one.policy, one.version, one.updated_at)
}
