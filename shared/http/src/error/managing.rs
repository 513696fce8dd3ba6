//! Errors of keys and of the tenants' life.

use axum::http::StatusCode;
use countersign_app::keys::{KeyError, MAX_KEYS};
use countersign_app::lifecycle::LifecycleError;
use countersign_core::quota::OverQuota;

use super::{ApiError, key_reused};

impl ApiError {
    /// A tenant that asks faster, or keeps more, than its quota allows.
    pub(super) fn over_quota(over: OverQuota) -> Self {
        let (detail, wait) = match over {
            OverQuota::Rate(wait) => {
                let seconds = wait.as_secs().max(1);
                let detail = format!(
                    "This tenant asks faster than its quota allows. Nobody was asked, and this is not a refusal. Try \
                     again in {seconds} s."
                );
                (detail, seconds)
            }
            OverQuota::Open => {
                let detail = "As many questions of this tenant wait for an answer as its quota allows. Nobody was asked, \
                              and this is not a refusal. Wait for answers, or withdraw some.";
                (detail.to_owned(), 60)
            }
            OverQuota::Stored => {
                let detail = "This tenant keeps as many questions as its quota allows. Nobody was asked, and this is not \
                              a refusal. Old ones go as their retention ends; tell your operator.";
                (detail.to_owned(), 3_600)
            }
        };
        Self::new(StatusCode::TOO_MANY_REQUESTS, "quota_exceeded", "The quota is used up", detail)
            .with(|face| face.retry_after = u32::try_from(wait).ok())
    }

    /// A key that may not ask for that tier or server.
    pub(super) fn beyond_key() -> Self {
        let detail =
            "This key may not ask for that tier or for that server. Nobody was asked. Use a key that may.";
        Self::new(StatusCode::FORBIDDEN, "beyond_key", "Beyond what the key may ask", detail)
    }
}

impl From<KeyError> for ApiError {
    fn from(error: KeyError) -> Self {
        match error {
            KeyError::Unknown => Self::not_found(),
            KeyError::Beyond => {
                let detail = "A key hands on no more than it has: scopes, tier_ceiling, servers, namespaces and end must \
                              lie within those of the key that makes it.";
                Self::new(StatusCode::FORBIDDEN, "beyond_own_rights", "More than the maker has", detail)
            }
            KeyError::TooMany => {
                let detail = format!("A tenant has at most {MAX_KEYS} keys. Revoke one first.");
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "too_many_keys", "Too many keys", detail)
            }
            KeyError::LastManager => {
                let detail = "This is the last key that may manage this tenant: without it nobody could. Make another \
                              one with the scope `manage` first.";
                Self::new(StatusCode::CONFLICT, "last_manager", "The last key that manages", detail)
            }
            KeyError::Reused => key_reused(),
            KeyError::Changed => {
                let detail = "The key was changed by somebody else at the same time. Read it, and try again.";
                Self::new(StatusCode::CONFLICT, "key_changed", "Changed meanwhile", detail)
            }
            KeyError::Store(error) => error.into(),
        }
    }
}

impl From<LifecycleError> for ApiError {
    fn from(error: LifecycleError) -> Self {
        match error {
            LifecycleError::Unknown => Self::not_found(),
            LifecycleError::Deleting => {
                let detail = "This tenant is being deleted. There is no way back.";
                Self::new(StatusCode::CONFLICT, "tenant_deleting", "The tenant is being deleted", detail)
            }
            LifecycleError::WrongCode => {
                let detail = "The code in `confirm` is wrong, of another tenant, or older than ten minutes. Nothing was \
                              deleted. Get a new one with the same request without `confirm`.";
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "wrong_confirmation", "Not confirmed", detail)
            }
            LifecycleError::Store(error) => error.into(),
        }
    }
}
