//! The answers that the fallback client understands: five actions, and everything else in `_meta`.

use countersign_core::elicitation::Elicitation;
use countersign_core::id::RequestId;
use countersign_core::state::{State, Status};
use countersign_core::time::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::hint;

/// `201` to a create. No `Debug`: the poll URL holds the ask token.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct Created {
    #[serde(rename = "requestId")]
    request_id: String,
    action: &'static str,
    /// Always null; the key is part of the shape.
    content: (),
    #[serde(rename = "_meta")]
    meta: CreatedMeta,
}

#[derive(Clone, PartialEq, Eq, Serialize)]
struct CreatedMeta {
    #[serde(rename = "com.pulsemcp/request-id")]
    request_id: Option<String>,
    #[serde(rename = "com.pulsemcp/poll-url")]
    poll_url: String,
    #[serde(rename = "com.pulsemcp/expires-at")]
    expires_at: String,
    #[serde(rename = "com.countersign/elicitation-id")]
    elicitation_id: String,
    #[serde(rename = "com.countersign/reference")]
    reference: String,
    #[serde(rename = "com.countersign/match-code", skip_serializing_if = "Option::is_none")]
    match_code: Option<String>,
    #[serde(rename = "com.countersign/reachable")]
    reachable: bool,
}

/// The answer to a create, and to its retries: `requestId` is the sealed handle, which the client polls with.
pub fn created(
    elicitation: &Elicitation,
    poll_url: &str,
    reachable: bool,
    match_code: Option<&str>,
) -> Created {
    let id = elicitation.id.to_string();
    Created {
        request_id: elicitation.poll_handle.clone().unwrap_or_else(|| id.clone()),
        action: Status::Pending.word(),
        content: (),
        meta: CreatedMeta {
            request_id: elicitation.request_id.as_ref().map(ToString::to_string),
            poll_url: poll_url.to_owned(),
            expires_at: elicitation.deadlines.expires_at.to_string(),
            elicitation_id: id,
            reference: elicitation.reference.to_string(),
            match_code: match_code.map(str::to_owned),
            reachable,
        },
    }
}

/// `200` to a poll, and to a decision.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Polled {
    action: &'static str,
    /// Null unless accepted; the key is always there.
    content: Option<Map<String, Value>>,
    #[serde(rename = "_meta")]
    meta: PolledMeta,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
struct PolledMeta {
    #[serde(rename = "com.pulsemcp/request-id", skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    #[serde(rename = "com.pulsemcp/responded-at", skip_serializing_if = "Option::is_none")]
    responded_at: Option<String>,
    #[serde(rename = "com.countersign/cause", skip_serializing_if = "Option::is_none")]
    cause: Option<&'static str>,
    #[serde(rename = "com.countersign/model-hint")]
    model_hint: &'static str,
    #[serde(rename = "com.countersign/reference", skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
}

/// The answer to a poll of a question that stands at `state`.
pub fn polled(elicitation: &Elicitation, state: &State) -> Polled {
    Polled {
        action: state.status().word(),
        content: state.answer().cloned(),
        meta: PolledMeta {
            request_id: elicitation.request_id.as_ref().map(ToString::to_string),
            responded_at: state.ended_at(&elicitation.deadlines).map(|at| at.to_string()),
            cause: state.cause(),
            model_hint: hint::model_hint(state),
            reference: Some(elicitation.reference.to_string()),
        },
    }
}

/// The answer to a poll whose row cannot be read now. Any error would end the approval: the client does not retry.
pub fn pending_unread(request_id: Option<&RequestId>) -> Polled {
    Polled {
        action: Status::Pending.word(),
        content: None,
        meta: PolledMeta {
            request_id: request_id.map(ToString::to_string),
            model_hint: hint::PENDING_UNREAD,
            ..PolledMeta::default()
        },
    }
}

/// The answer to a poll whose handle opens, whose deadline has passed and whose row is gone. Why it ended is not
/// known, so no cause is named.
pub fn expired_unread(expires_at: Timestamp) -> Polled {
    Polled {
        action: Status::Expired.word(),
        content: None,
        meta: PolledMeta {
            responded_at: Some(expires_at.to_string()),
            model_hint: hint::EXPIRED_UNREAD,
            ..PolledMeta::default()
        },
    }
}
