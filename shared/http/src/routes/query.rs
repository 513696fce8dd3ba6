//! Query strings, read as strictly as bodies.

use std::ops::RangeInclusive;

use axum::extract::Query as AxumQuery;
use axum::http::Uri;

use crate::error::ApiError;

/// The parameters of one request.
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    /// Reads `text`; each parameter must be one of `known`, and named once.
    pub(super) fn read(text: Option<&str>, known: &[&str]) -> Result<Self, ApiError> {
        let malformed = || ApiError::invalid("", "the query string is malformed");
        let uri: Uri = format!("/?{}", text.unwrap_or_default()).parse().map_err(|_| malformed())?;
        let AxumQuery(pairs) =
            AxumQuery::<Vec<(String, String)>>::try_from_uri(&uri).map_err(|_| malformed())?;
        for (index, (name, _)) in pairs.iter().enumerate() {
            if !known.contains(&name.as_str()) {
                let message = format!("unknown query parameter; known are {}", known.join(", "));
                return Err(ApiError::invalid("", message));
            }
            if pairs[..index].iter().any(|(earlier, _)| earlier == name) {
                return Err(ApiError::invalid(&format!("/{name}"), "must be given once"));
            }
        }
        Ok(Self(pairs))
    }

    /// The value of a parameter.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The whole number of a parameter.
    pub(super) fn number(&self, name: &str, range: RangeInclusive<u64>) -> Result<Option<u64>, ApiError> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let number = text.parse().ok().filter(|number| range.contains(number));
        let wanted = format!("must be a whole number from {} to {}", range.start(), range.end());
        number.map(Some).ok_or_else(|| ApiError::invalid(&format!("/{name}"), wanted))
    }
}
