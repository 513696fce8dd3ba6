//! What is answered where approvers, the policy or an audience are refused.

use axum::http::StatusCode;
use countersign_app::approvers::ApproverError;
use countersign_app::audience::AudienceError;
use countersign_app::policies::PolicyError;
use countersign_core::violation::Violation;
use countersign_wire::rejected;

use super::{ApiError, key_reused};

impl From<ApproverError> for ApiError {
    fn from(error: ApproverError) -> Self {
        match error {
            ApproverError::Unknown => Self::not_found(),
            ApproverError::Reused => key_reused(),
            ApproverError::ExternalIdTaken(kind) => {
                let pointer = format!("/external_ids/{}", kind.word());
                let detail = format!(
                    "Another approver of this tenant has this id: {pointer}. Take it from them first."
                );
                let violation = Violation::new(pointer, "is another approver's");
                Self::new(StatusCode::CONFLICT, "external_id_taken", "The external id is taken", detail)
                    .with(|face| face.violations = vec![violation])
            }
            ApproverError::Store(error) => error.into(),
        }
    }
}

impl From<PolicyError> for ApiError {
    fn from(error: PolicyError) -> Self {
        match error {
            PolicyError::Unknown => Self::not_found(),
            PolicyError::Changed { in_force } => {
                let detail = format!(
                    "Version {in_force} of the policy is in force, not the one you read. Nothing was changed. Read it \
                     again and send your change on top of it."
                );
                Self::new(StatusCode::CONFLICT, "policy_changed", "The policy has changed", detail)
            }
            PolicyError::Store(error) => error.into(),
        }
    }
}

impl From<AudienceError> for ApiError {
    fn from(error: AudienceError) -> Self {
        match error {
            AudienceError::NotAllowed => {
                let violation = Violation::new("/audience", "must be left out");
                let detail = "The policy of this tenant does not let an asker choose who is asked. Nobody was asked. \
                              Leave audience out.";
                let status = StatusCode::UNPROCESSABLE_ENTITY;
                Self::new(status, "audience_not_allowed", "The asker may not choose who is asked", detail)
                    .with(|face| face.violations = vec![violation])
            }
            AudienceError::Unknown(places) => {
                let message = "must be an approver of this tenant, or a group that one belongs to";
                let violation = |at| Violation::new(format!("/audience/{at}"), message);
                let violations = places.into_iter().map(violation).collect();
                rejected::Rejected { code: rejected::INVALID_REQUEST, violations }.into()
            }
        }
    }
}
