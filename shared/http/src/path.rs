//! Path parameters. What cannot be read names nothing: it is answered like any other unknown path.

use axum::extract::{FromRequestParts, Path as AxumPath};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::error::ApiError;

/// The parameters of the path, percent-decoded.
pub(crate) struct Path<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = AxumPath::<T>::from_request_parts(parts, state).await;
        path.map(|AxumPath(params)| Self(params)).map_err(|_| ApiError::not_found())
    }
}
