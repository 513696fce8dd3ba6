//! What an outcome means, told to a language model (PROTOCOL.md section 2.4).
//!
//! Each text is true without knowing the question, says what to do next, and keeps apart what a person refused from
//! what nobody was asked.

use countersign_core::state::{ExpiryCause, State, Verdict};

/// For a question whose row cannot be read at the moment.
pub const PENDING_UNREAD: &str =
    "The question could not be looked up just now. That says nothing about the answer: wait and read again.";
/// For a question that has no row any more, past its deadline.
pub const EXPIRED_UNREAD: &str = "The time to answer is over and no answer is on record. This is not a refusal by a person, and not an approval \
     either: do not act on it, and report that no decision was received.";

/// What this state means and what to do next.
pub const fn model_hint(state: &State) -> &'static str {
    match state {
        State::Pending => "The question is waiting for a person to answer: wait and read again.",
        State::Decided(decision) => decided(&decision.verdict),
        State::Withdrawn { .. } => {
            "The question was withdrawn by the asker before a person decided. This is not a refusal, and not an \
             approval: do not act on it."
        }
        State::Expired(cause) => expired(*cause),
    }
}

const fn decided(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Accept(_) => {
            "A person approved. Their answer is in content: go by its values, and do exactly what was asked, once."
        }
        Verdict::Decline => {
            "A person declined. Do not retry, do not ask again in other words and do not work around it."
        }
        Verdict::Cancel => {
            "A person dismissed the question without answering it. There is no approval: do not act on it, and talk \
             to the user before you ask again."
        }
    }
}

const fn expired(cause: ExpiryCause) -> &'static str {
    match cause {
        ExpiryCause::NoReachableApprover => {
            "Nobody could be asked: no approver has a usable channel. This is not a refusal. The approval channel is \
             broken: report that, do not act and do not work around it."
        }
        ExpiryCause::Undelivered => {
            "Nobody was shown the question: every notification failed. This is not a refusal. The approval channel is \
             broken: report that, do not act and do not work around it."
        }
        ExpiryCause::AskerGone => {
            "The asker had stopped waiting before the question ended. This is not a refusal, and not an approval: do \
             not act on it; ask again only if it is still needed, and keep waiting then."
        }
        ExpiryCause::Clock => {
            "Nobody answered in time. This is not a refusal, and not an approval: do not act on it; ask again if it \
             is still needed."
        }
        ExpiryCause::BrokerError => {
            "The approval broker failed before anybody was asked. This is not a refusal. The approval channel is \
             broken: report that, do not act and do not work around it."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn only_a_decline_speaks_of_a_no_and_every_other_ending_by_no_person_says_that_it_is_none() {
        let by_nobody = fixtures::EXPIRY_CAUSES.into_iter().map(State::Expired);
        for state in by_nobody.chain([fixtures::withdrawn()]) {
            assert!(model_hint(&state).contains("This is not a refusal"), "{state:?}");
        }
        assert!(model_hint(&fixtures::declined()).contains("Do not retry"));
        for state in [State::Pending, fixtures::accepted(), fixtures::cancelled()] {
            assert!(!model_hint(&state).contains("refusal"), "{state:?}");
        }
    }

    #[test]
    fn no_hint_is_long() {
        for state in fixtures::states() {
            assert!(model_hint(&state).len() <= 240, "{state:?}");
        }
    }
}
