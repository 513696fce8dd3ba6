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

/// What is read of any body, its cap notwithstanding: a client that is cut off while it sends never sees why.
const DRAIN: usize = 1024 * 1024;

/// The request with its whole body in memory. Every request is read to its end before anybody answers it: a
/// connection whose body was left unread cannot be used again, and whoever polls on it next would be cut off.
///
/// # Errors
/// 413 over 1 MiB, 400 where the body breaks off.
pub(crate) async fn whole(request: Request) -> Result<Request, ApiError> {
    let declared =
        request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if declared.is_some_and(|length: usize| length > DRAIN) {
        return Err(ApiError::too_large(DRAIN));
    }
    let (parts, body) = request.into_parts();
    let bytes = Limited::new(body, DRAIN).collect().await.map_err(|error| {
        if error.is::<http_body_util::LengthLimitError>() { ApiError::too_large(DRAIN) } else { broken_off() }
    })?;
    Ok(Request::from_parts(parts, Body::from(bytes.to_bytes())))
}

/// The body's bytes.
///
/// # Errors
/// 413 over `cap` bytes.
pub async fn read(request: Request, cap: usize) -> Result<Bytes, ApiError> {
    let bytes = request.into_body().collect().await.map_err(|_| broken_off())?.to_bytes();
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
