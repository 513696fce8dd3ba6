//! What endpoints are told (PROTOCOL.md section 2.6).

use std::time::Duration;

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
    data: Data,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Data {
    Question(Box<View>),
    Nothing {},
}

impl EventBody {
    /// The body of an event, as seen at `now`.
    pub fn of(kind: EventKind, happened_at: Timestamp, question: &Elicitation, now: Timestamp) -> Self {
        Self {
            kind: kind.word(),
            timestamp: happened_at.to_string(),
            data: Data::Question(Box::new(View::of(question, &question.state_at(now), now))),
        }
    }

    /// The body of a trial.
    pub fn test(now: Timestamp) -> Self {
        Self { kind: "endpoint.test", timestamp: now.to_string(), data: Data::Nothing {} }
    }
}

/// `POST /v1/endpoints/{endpoint}/test`: what came of it.
#[derive(Debug, Serialize)]
pub struct TriedView {
    delivered: bool,
    status: Option<u16>,
    error: Option<String>,
    took_ms: u64,
}

impl TriedView {
    /// An endpoint that answered with `status`.
    pub fn answered(status: u16, took: Duration) -> Self {
        Self {
            delivered: (200..300).contains(&status),
            status: Some(status),
            error: None,
            took_ms: millis(took),
        }
    }

    /// An endpoint that did not answer, for this reason.
    pub fn unreachable(error: String, took: Duration) -> Self {
        Self { delivered: false, status: None, error: Some(error), took_ms: millis(took) }
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
