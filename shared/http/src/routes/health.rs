//! Whether this process lives, and whether it can work.

use axum::Json;
use axum::extract::State;
use countersign_app::App;
use serde_json::{Value, json};

use crate::error::ApiError;

/// `GET /healthz`: asks nothing of the store.
pub(super) async fn live() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

/// `GET /readyz`: one cheap read.
pub(super) async fn ready(State(app): State<App>) -> Result<Json<Value>, ApiError> {
    app.store.ready().await?;
    Ok(Json(json!({ "status": "ready" })))
}
