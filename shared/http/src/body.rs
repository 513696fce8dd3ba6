//! Bodies: capped, read strictly, once.

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_LENGTH;
use countersign_core::json;
use countersign_core::limits::{BODY_ASKING, BODY_MANAGING};
use http_body_util::{BodyExt, Limited};
use serde_json::{Map, Value};

use crate::error::ApiError;

/// What is read of a body over its cap before it is refused: a client that is cut off while it sends never sees why.
const DRAIN: usize = 1024 * 1024;

/// The body's bytes.
///
/// # Errors
/// 413 over `cap` bytes, 400 where it breaks off.
pub async fn read(request: Request, cap: usize) -> Result<Bytes, ApiError> {
    let declared =
        request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if declared.is_some_and(|length: usize| length > DRAIN) {
        return Err(ApiError::too_large(cap));
    }
    let bytes = Limited::new(request.into_body(), DRAIN).collect().await.map_err(|error| {
        if error.is::<http_body_util::LengthLimitError>() { ApiError::too_large(cap) } else { broken_off() }
    })?;
    let bytes = bytes.to_bytes();
    if bytes.len() > cap { Err(ApiError::too_large(cap)) } else { Ok(bytes) }
}

fn broken_off() -> ApiError {
    let detail = "The connection ended before the body did.";
    ApiError::new(StatusCode::BAD_REQUEST, "incomplete_body", "The body is incomplete", detail)
}

/// A JSON object of an asking route, 64 KiB at most.
pub struct AskingBody(pub Map<String, Value>);

/// A JSON object of a managing route, 256 KiB at most. An empty body is an empty object.
pub struct ManagingBody(pub Map<String, Value>);

impl<S: Send + Sync> FromRequest<S> for AskingBody {
    type Rejection = ApiError;

    async fn from_request(request: Request<Body>, _: &S) -> Result<Self, ApiError> {
        let bytes = read(request, BODY_ASKING).await?;
        Ok(Self(object(&bytes)?))
    }
}

impl<S: Send + Sync> FromRequest<S> for ManagingBody {
    type Rejection = ApiError;

    async fn from_request(request: Request<Body>, _: &S) -> Result<Self, ApiError> {
        let bytes = read(request, BODY_MANAGING).await?;
        Ok(Self(object(&bytes)?))
    }
}

fn object(bytes: &[u8]) -> Result<Map<String, Value>, ApiError> {
    if bytes.is_empty() { Ok(Map::new()) } else { Ok(json::read_object(bytes)?) }
}
