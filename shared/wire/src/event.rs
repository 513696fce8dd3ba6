//! What endpoints are told (PROTOCOL.md section 2.6).

use countersign_core::elicitation::Elicitation;
use countersign_core::endpoint::EventKind;
use countersign_core::time::Timestamp;
use serde::Serialize;

use crate::native::View;

/// `{type, timestamp, data}`: what happened, when, and how the question stands.
#[derive(Debug, Serialize)]
pub struct EventBody {
    #[serde(rename = "type")]
    kind: &'static str,
    timestamp: String,
    data: View,
}

impl EventBody {
    /// The body of an event, as seen at `now`.
    pub fn of(kind: EventKind, happened_at: Timestamp, question: &Elicitation, now: Timestamp) -> Self {
        Self {
            kind: kind.word(),
            timestamp: happened_at.to_string(),
            data: View::of(question, &question.state_at(now), now),
        }
    }
}
