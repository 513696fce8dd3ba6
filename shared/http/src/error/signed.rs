//! Errors of endpoints and of what comes in through them.

use axum::http::StatusCode;
use countersign_app::authority::AuthError;
use countersign_app::endpoints::{EndpointError, MAX_ENDPOINTS, MAX_SECRETS};
use countersign_app::inbound::InboundError;
use countersign_app::respond::RespondError;
use countersign_core::credential::Scope;

use super::{ApiError, key_reused};

impl ApiError {
    /// A request that no endpoint signed. Which of its parts is wrong is for the sender's own tools to find out.
    pub fn unsigned() -> Self {
        let detail = "Not signed by an endpoint that takes requests: check the endpoint's id and that its inbound is \
                      enabled, the inbound_secret, the clock (within five minutes), and webhook-id, webhook-timestamp \
                      and webhook-signature over the very bytes of the body.";
        Self::new(StatusCode::UNAUTHORIZED, "unauthenticated", "Not authenticated", detail)
    }

    /// A signed request whose id was spent.
    pub(super) fn replayed() -> Self {
        let detail = "This webhook-id was used for an answer before. Nothing was done again. Read the elicitation to \
                      see where it stands.";
        Self::new(StatusCode::CONFLICT, "webhook_replayed", "Used before", detail)
    }
}

impl From<InboundError> for ApiError {
    fn from(error: InboundError) -> Self {
        match error {
            InboundError::Unsigned => Self::unsigned(),
            InboundError::Replayed => Self::replayed(),
            InboundError::NotAnApprover => RespondError::NotAnApprover.into(),
            InboundError::Store(error) => error.into(),
        }
    }
}

impl From<EndpointError> for ApiError {
    fn from(error: EndpointError) -> Self {
        let unprocessable = StatusCode::UNPROCESSABLE_ENTITY;
        match error {
            EndpointError::Unknown => Self::not_found(),
            EndpointError::TooMany => {
                let detail = format!("A tenant has at most {MAX_ENDPOINTS} endpoints. Delete one first.");
                Self::new(unprocessable, "too_many_endpoints", "Too many endpoints", detail)
            }
            EndpointError::TooManySecrets => {
                let detail = format!(
                    "{MAX_SECRETS} secrets of this endpoint are good already. Wait for one to end, or rotate with \
                     overlap_seconds 0, which ends them all."
                );
                Self::new(unprocessable, "too_many_secrets", "Too many active secrets", detail)
            }
            EndpointError::Beyond => AuthError::Forbidden(Scope::Decide).into(),
            EndpointError::NotHttps => Self::invalid("/url", "must start with https://"),
            EndpointError::Reused => key_reused(),
            EndpointError::Changed => {
                let detail =
                    "The endpoint was changed by somebody else at the same time. Read it, and try again.";
                Self::new(StatusCode::CONFLICT, "endpoint_changed", "Changed meanwhile", detail)
            }
            EndpointError::Store(error) => error.into(),
        }
    }
}
