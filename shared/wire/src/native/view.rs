//! An elicitation as the native API shows it.

use std::time::Duration;

use countersign_core::delivery::{ChannelKind, Delivery};
use countersign_core::elicitation::Elicitation;
use countersign_core::id::ApproverId;
use countersign_core::state::{Decision, ExpiryCause, State};
use countersign_core::time::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use super::question::QuestionView;
use crate::hint;

/// One elicitation. Claims and receipts are not built yet, so their fields are never sent; `poll_after_ms` is the same
/// function of age whatever the status.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct View {
    id: String,
    reference: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    tier: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_by: Option<DecidedBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    collected_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    asker_last_seen_at: Option<String>,
    asker_gone: bool,
    created_at: String,
    expires_at: String,
    decide_by: String,
    poll_after_ms: u64,
    model_hint: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<QuestionView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deliveries: Option<Vec<DeliveryView>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct DecidedBy {
    #[serde(skip_serializing_if = "Option::is_none")]
    approver_id: Option<String>,
    name: String,
    method: &'static str,
}

impl DecidedBy {
    fn of(decision: &Decision) -> Self {
        Self {
            approver_id: decision.by.approver.map(|id| id.to_string()),
            name: decision.by.name.clone(),
            method: decision.by.method.word(),
        }
    }
}

impl View {
    /// The elicitation as it stands at `state`, read at `now`.
    pub fn of(elicitation: &Elicitation, state: &State, now: Timestamp) -> Self {
        let decision = decision(state);
        Self {
            id: elicitation.id.to_string(),
            reference: elicitation.reference.to_string(),
            session: elicitation.session.map(|id| id.to_string()),
            server: elicitation.server.clone(),
            tool: elicitation.tool.clone(),
            tier: elicitation.tier.word(),
            title: elicitation.title.clone(),
            status: state.status().word(),
            cause: state.cause(),
            content: state.answer().cloned(),
            reason: decision.and_then(|one| one.reason.clone()),
            decided_by: decision.map(DecidedBy::of),
            decided_at: decision.map(|one| one.at.to_string()),
            collected_at: elicitation.asker.collected_at.map(|at| at.to_string()),
            asker_last_seen_at: elicitation.asker.last_polled_at.map(|at| at.to_string()),
            asker_gone: asker_gone(elicitation, state, now),
            created_at: elicitation.created_at.to_string(),
            expires_at: elicitation.deadlines.expires_at.to_string(),
            decide_by: elicitation.deadlines.decide_by.to_string(),
            poll_after_ms: poll_after_ms(now.since(elicitation.created_at)),
            model_hint: hint::model_hint(state),
            question: None,
            deliveries: None,
        }
    }

    /// The same with what is asked.
    #[must_use]
    pub fn with_question(self, question: QuestionView) -> Self {
        Self { question: Some(question), ..self }
    }

    /// The same with what is known of telling people.
    #[must_use]
    pub fn with_deliveries(self, deliveries: Vec<DeliveryView>) -> Self {
        Self { deliveries: Some(deliveries), ..self }
    }
}

const fn decision(state: &State) -> Option<&Decision> {
    match state {
        State::Decided(decision) => Some(decision),
        State::Pending | State::Withdrawn { .. } | State::Expired(_) => None,
    }
}

/// A flag while pending, and true of an expiry by that cause. An asker that has its answer and reads no more is not
/// gone.
fn asker_gone(elicitation: &Elicitation, state: &State, now: Timestamp) -> bool {
    match state {
        State::Pending => elicitation.asker_gone(now),
        State::Expired(cause) => *cause == ExpiryCause::AskerGone,
        State::Decided(_) | State::Withdrawn { .. } => false,
    }
}

/// How long to wait before the next read of a question of this age, in milliseconds.
///
/// A reader that starts at once and obeys waits 1, 2, 3 and then 5 seconds; after a minute the wait grows with the age
/// (a twelfth of it), up to 30 seconds at six minutes. It never falls with age.
pub fn poll_after_ms(age: Duration) -> u64 {
    match age.as_millis() {
        0..1_000 => 1_000,
        1_000..3_000 => 2_000,
        3_000..6_000 => 3_000,
        millis => u64::try_from(millis / 12).unwrap_or(u64::MAX).clamp(5_000, 30_000),
    }
}

/// What became of telling one person on one channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeliveryView {
    channel: &'static str,
    target_masked: String,
    status: &'static str,
    at: String,
}

impl DeliveryView {
    /// The delivery; `target_masked` is the address as [`countersign_core::text::mask_address`] shows it.
    pub fn of(delivery: &Delivery, target_masked: String) -> Self {
        Self {
            channel: delivery.key.channel.word(),
            target_masked,
            status: delivery.status.word(),
            at: delivery.at.to_string(),
        }
    }
}

/// `201` to a create: the view, and who can be reached.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Created {
    #[serde(flatten)]
    view: View,
    reachable: Reachable,
    #[serde(skip_serializing_if = "Option::is_none")]
    match_code: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Reachable {
    any: bool,
    approvers: Vec<ReachableApprover>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct ReachableApprover {
    approver_id: String,
    channels: Vec<&'static str>,
}

impl Created {
    /// The created elicitation and its approvers, each with the channels that can reach them.
    pub fn of(
        view: View,
        approvers: impl IntoIterator<Item = (ApproverId, Vec<ChannelKind>)>,
        match_code: Option<&str>,
    ) -> Self {
        let shown = |(id, channels): (ApproverId, Vec<ChannelKind>)| ReachableApprover {
            approver_id: id.to_string(),
            channels: channels.into_iter().map(ChannelKind::word).collect(),
        };
        let approvers: Vec<_> = approvers.into_iter().map(shown).collect();
        let any = approvers.iter().any(|one| !one.channels.is_empty());
        Self { view, reachable: Reachable { any, approvers }, match_code: match_code.map(str::to_owned) }
    }
}

/// The decision that came first, for those who came second.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Winner {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_by: Option<DecidedBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_at: Option<String>,
}

impl Winner {
    /// How it was settled; only a person's decision has a `decided_by`.
    pub fn of(state: &State) -> Self {
        let decision = decision(state);
        Self {
            status: state.status().word(),
            decided_by: decision.map(DecidedBy::of),
            decided_at: decision.map(|one| one.at.to_string()),
        }
    }
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Page {
    elicitations: Vec<View>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Page {
    /// These views; `next_cursor` leads on where there are more.
    pub const fn of(elicitations: Vec<View>, next_cursor: Option<String>) -> Self {
        Self { elicitations, next_cursor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn a_reader_that_obeys_waits_one_two_three_and_five_seconds() {
        let mut age = Duration::ZERO;
        let mut waits = Vec::new();
        for _ in 0..5 {
            let wait = poll_after_ms(age);
            waits.push(wait);
            age += Duration::from_millis(wait);
        }
        assert_eq!(waits, [1_000, 2_000, 3_000, 5_000, 5_000]);
    }

    #[test]
    fn the_wait_never_falls_and_ends_at_thirty_seconds() {
        let waits: Vec<u64> = (0..400).map(|second| poll_after_ms(Duration::from_secs(second))).collect();
        assert!(waits.is_sorted());
        assert_eq!((waits[60], waits[120], waits[360]), (5_000, 10_000, 30_000));
        assert_eq!(poll_after_ms(Duration::MAX), 30_000);
    }

    #[track_caller]
    fn gone(state: &State, minutes: u64, want: bool) {
        let elicitation = fixtures::elicitation();
        let now = elicitation.created_at.plus(Duration::from_mins(minutes));
        assert_eq!(asker_gone(&elicitation, state, now), want, "{state:?} after {minutes} min");
    }

    #[test]
    fn an_asker_is_gone_only_while_pending_or_as_the_cause() {
        gone(&State::Pending, 1, false);
        gone(&State::Pending, 10, true);
        gone(&fixtures::accepted(), 10, false);
        gone(&State::Expired(ExpiryCause::AskerGone), 10, true);
        gone(&State::Expired(ExpiryCause::Clock), 10, false);
    }
}
