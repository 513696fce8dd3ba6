//! Errors of issuers and their tokens.

use axum::http::StatusCode;
use countersign_app::issuers::{IssuerError, MAX_ISSUERS};
use countersign_wire::rejected;

use super::ApiError;

impl ApiError {
    /// The keys of a token's issuer cannot be had: nothing is said of the token.
    pub(super) fn keys_unavailable() -> Self {
        let detail = "The keys of this token's issuer cannot be fetched right now, so nothing can be said of the token. Try \
                      again in a minute.";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "issuer_unavailable", "Issuer not reachable", detail)
            .with(|face| face.retry_after = Some(60))
    }
}

impl From<IssuerError> for ApiError {
    fn from(error: IssuerError) -> Self {
        match error {
            IssuerError::Unknown => Self::not_found(),
            IssuerError::Exists => {
                let detail = "An issuer that calls itself so is registered already. Delete it first, or register this one \
                              under its own name.";
                Self::new(StatusCode::CONFLICT, "issuer_exists", "The issuer exists", detail)
            }
            IssuerError::Beyond => {
                let detail = "The tokens of an issuer can do no more than the key that registers it: leave out of `scopes` \
                              what this key lacks.";
                Self::new(StatusCode::FORBIDDEN, "beyond_own_rights", "More than the maker has", detail)
            }
            IssuerError::TooMany => {
                let detail = format!("A tenant has at most {MAX_ISSUERS} issuers. Delete one first.");
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "too_many_issuers", "Too many issuers", detail)
            }
            IssuerError::Unusable(violation) => {
                rejected::Rejected { code: rejected::INVALID_REQUEST, violations: vec![violation] }.into()
            }
            IssuerError::Store(error) => error.into(),
        }
    }
}
