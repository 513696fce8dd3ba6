//! What is answered where a decision is refused, and where people are not asked again yet.

use axum::http::StatusCode;
use countersign_app::respond::RespondError;
use countersign_core::declines::Mute;
use countersign_core::elicitation::Elicitation;
use countersign_core::state::State;
use countersign_wire::native::Winner;
use countersign_wire::rejected;

use super::ApiError;

impl From<RespondError> for ApiError {
    fn from(error: RespondError) -> Self {
        match error {
            RespondError::Unknown => Self::not_found(),
            RespondError::NotAnApprover => {
                let detail = "You are not among those who may answer this question. Nothing was stored. Ask whoever \
                              manages this tenant's approvers and policy.";
                Self::new(
                    StatusCode::FORBIDDEN,
                    "not_an_approver",
                    "Not an approver of this question",
                    detail,
                )
            }
            RespondError::AssuranceTooLow { needed } => {
                let detail = format!(
                    "This question must be answered with `{needed}` or stronger. Nothing was stored. Sign in again \
                     that way and answer then."
                );
                Self::new(StatusCode::FORBIDDEN, "assurance_too_low", "A stronger sign-in is needed", detail)
            }
            RespondError::FreshSignInNeeded => {
                let detail = "A remembered device is too little to approve what cannot be undone or leaves. Nothing \
                              was stored. Sign in with a mailed code and answer then.";
                Self::new(StatusCode::FORBIDDEN, "assurance_too_low", "A stronger sign-in is needed", detail)
            }
            RespondError::SelfApproval => {
                let detail = "The caller asked this question, with this or another credential, and this tenant does \
                              not let an asker decide. Somebody else has to answer.";
                Self::new(StatusCode::FORBIDDEN, "self_approval", "An asker may not decide", detail)
            }
            RespondError::AlreadySettled(winner) => already_settled(&winner),
            RespondError::TooLate => {
                let detail =
                    "The time to decide is over. Nothing was stored; the asker is told that nobody answered.";
                Self::new(StatusCode::GONE, "too_late", "Too late", detail)
            }
            RespondError::Spent => Self::replayed(),
            RespondError::InvalidContent(violations) => {
                let violations = violations.into_iter().map(|one| one.under("/content")).collect();
                rejected::Rejected { code: rejected::INVALID_CONTENT, violations }.into()
            }
            RespondError::Store(error) => error.into(),
        }
    }
}

fn already_settled(winner: &Elicitation) -> ApiError {
    let status = winner.stored.status();
    let detail = match &winner.stored {
        State::Decided(decision) => {
            format!("It is settled already: {status} by {} at {}.", decision.by.name, decision.at)
        }
        State::Withdrawn { at } => {
            format!("It is settled already: {status}, withdrawn by the asker at {at}.")
        }
        State::Pending | State::Expired(_) => format!("It is settled already: {status}."),
    };
    ApiError::new(StatusCode::CONFLICT, "already_settled", "Settled already", detail)
        .with(|face| face.winner = Some(Winner::of(&winner.stored)))
}

/// People said no, and are not asked again yet.
pub(super) fn muted(mute: Mute) -> ApiError {
    let detail = match mute {
        Mute::Content(until) => format!(
            "A person declined this same question a short while ago. Nobody was asked again. Take the answer as no; \
             it may be asked again from {until}."
        ),
        Mute::Reported(until) => format!(
            "A person reported a question of this session, so it is muted. Nobody was asked, and nobody said no to this \
             one. Stop and tell whoever runs you; it may ask again from {until}."
        ),
        Mute::Session(until) => format!(
            "People declined several questions of this session in a row, so it is muted. Nobody was asked. Stop and \
             report this; it may ask again from {until}."
        ),
    };
    ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "muted", "Not asked again yet", detail)
}
