//! Telling a tenant's own systems: one event, one endpoint, one attempt chain (PROTOCOL.md section 2.6).

use std::time::Duration;

use crate::delivery::DeliveryStatus;
use crate::elicitation::Elicitation;
use crate::endpoint::EventKind;
use crate::id::{Bits130, ElicitationId};
use crate::retry::jittered;
use crate::state::State;
use crate::time::Timestamp;

/// Waits before the attempts, each counted from the failure before it, without jitter.
pub const EVENT_SCHEDULE: [Duration; 8] = [
    Duration::ZERO,
    Duration::from_secs(5),
    Duration::from_mins(5),
    Duration::from_mins(30),
    Duration::from_hours(2),
    Duration::from_hours(5),
    Duration::from_hours(10),
    Duration::from_hours(10),
];

/// How long to wait before the attempt after `attempts_done` others; `None` is giving up. What the endpoint asks for with
/// `Retry-After` counts between once and twice the plan.
pub fn next_event_attempt(
    attempts_done: u32,
    retry_after: Option<Duration>,
    random: u64,
) -> Option<Duration> {
    let planned = *EVENT_SCHEDULE.get(usize::try_from(attempts_done).ok()?)?;
    Some(retry_after.map_or_else(|| jittered(planned, random), |wish| wish.clamp(planned, planned * 2)))
}

/// What makes an event's delivery the same delivery: it exists at most once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventKey {
    /// The question.
    pub elicitation: ElicitationId,
    /// What happened to it.
    pub kind: EventKind,
    /// Whom it is told.
    pub endpoint: Bits130,
}

/// An event's delivery as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventDelivery {
    /// Which.
    pub key: EventKey,
    /// How far it has come.
    pub status: DeliveryStatus,
    /// Attempts begun.
    pub attempts: u32,
    /// When it happened.
    pub happened_at: Timestamp,
    /// When the status was last written.
    pub at: Timestamp,
    /// When the next attempt is due; `None` once it is over.
    pub next_attempt_at: Option<Timestamp>,
}

/// What has happened to a question that is told to endpoints, and when.
pub fn happened(question: &Elicitation) -> Vec<(EventKind, Timestamp)> {
    let ended = match &question.stored {
        State::Pending => None,
        State::Decided(decision) => Some(decision.at),
        State::Withdrawn { at } => Some(*at),
        State::Expired(_) => Some(question.deadlines.expires_at),
    };
    let created = Some((EventKind::ElicitationCreated, question.created_at));
    let settled = ended.map(|at| (EventKind::ElicitationSettled, at));
    let read = question.asker.collected_at.filter(|_| ended.is_some());
    let collected = read.map(|at| (EventKind::ElicitationCollected, at));
    [created, settled, collected].into_iter().flatten().collect()
}

/// A kind's place in the set of those that were planned.
pub const fn bit(kind: EventKind) -> u32 {
    1 << kind as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schedule_jitters_by_a_fifth_and_bends_to_the_receiver_between_once_and_twice() {
        let day = Some(Duration::from_hours(24));
        let waits = |random| (0..9).map(|done| next_event_attempt(done, None, random)).collect::<Vec<_>>();
        assert_eq!(waits(0)[1], Some(Duration::from_secs(4)));
        assert!(waits(u64::MAX)[1].unwrap() < Duration::from_secs(6));
        assert_eq!(waits(7)[8], None);
        assert_eq!(next_event_attempt(1, day, 0), Some(Duration::from_secs(10)));
        assert_eq!(next_event_attempt(1, Some(Duration::ZERO), 0), Some(Duration::from_secs(5)));
        assert_eq!(next_event_attempt(2, Some(Duration::from_secs(400)), 0), Some(Duration::from_secs(400)));
    }
}
