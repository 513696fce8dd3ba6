//! Domain values for the tests of this crate.

use std::time::Duration;

use countersign_core::assurance::Assurance;
use countersign_core::audience::Audience;
use countersign_core::deadline::Deadlines;
use countersign_core::declines::Declines;
use countersign_core::delivery::{ChannelKind, Delivery, DeliveryKey, DeliveryStatus, NoticeKind};
use countersign_core::elicitation::{Asker, Elicitation, Evidence, Tier};
use countersign_core::id::{
    ApproverId, AskTokenId, Bits130, ElicitationId, Front, Principal, Reference, SessionId,
};
use countersign_core::json::Sha256;
use countersign_core::session::{LostElicitation, LostReason, OpenQuestion, Session, TokenFacts};
use countersign_core::state::{Decider, Decision, ExpiryCause, Method, State, Verdict};
use countersign_core::time::Timestamp;
use serde_json::json;

/// 2026-11-30T19:53:20.000Z
pub(crate) const CREATED: Timestamp = Timestamp::from_millis(1_796_068_400_000);
pub(crate) const EXPIRY_CAUSES: [ExpiryCause; 5] = [
    ExpiryCause::NoReachableApprover,
    ExpiryCause::Undelivered,
    ExpiryCause::AskerGone,
    ExpiryCause::Clock,
    ExpiryCause::BrokerError,
];

pub(crate) fn after(seconds: u64) -> Timestamp {
    CREATED.plus(Duration::from_secs(seconds))
}

fn bits(byte: u8) -> Bits130 {
    Bits130::from_bytes([byte; 17])
}

pub(crate) fn approver() -> ApproverId {
    ApproverId::new(bits(3))
}

pub(crate) fn elicitation() -> Elicitation {
    Elicitation {
        id: ElicitationId::new(bits(1)),
        reference: Reference::from_random([1, 2, 3, 4]),
        front: Front::Fallback,
        request_id: Some("840864a6-4c54-4d3a-a0b8-f0850aaeb8e7".parse().unwrap()),
        poll_handle: Some("ph_AQIDBAUGBwg".into()),
        session: Some(SessionId::new(bits(2))),
        principal: Principal::session(SessionId::new(bits(2))),
        session_owner: Some(Principal::stored("key_a")),
        people: vec![],
        server: Some("mail".into()),
        tool: Some("send_email".into()),
        tier: Tier::Write,
        title: Some("Send an e-mail".into()),
        policy_version: 1,
        audience: Audience::default(),
        assurance: Assurance::Tap,
        match_code: None,
        request_sha256: Sha256::of(b""),
        shown_sha256: Sha256::of(b""),
        created_at: CREATED,
        deadlines: Deadlines::fallback(CREATED, None, Duration::from_hours(1)),
        evidence: Evidence::default(),
        asker: Asker {
            poll_interval: Duration::from_secs(5),
            has_callback: false,
            last_polled_at: Some(after(4)),
            collected_at: None,
        },
        stored: State::Pending,
    }
}

/// The same question as a native caller asks it.
pub(crate) fn native_elicitation() -> Elicitation {
    Elicitation {
        front: Front::Native,
        request_id: None,
        poll_handle: None,
        deadlines: Deadlines::native(CREATED, None, Duration::from_hours(1)),
        ..elicitation()
    }
}

fn decided(verdict: Verdict, reason: Option<&str>) -> State {
    State::Decided(Decision {
        verdict,
        by: Decider {
            principal: Principal::stored("ap_3"),
            approver: Some(approver()),
            name: "Yuki".into(),
            method: Method::Tap,
        },
        at: after(42),
        reason: reason.map(str::to_owned),
    })
}

pub(crate) fn accepted() -> State {
    decided(Verdict::Accept(json!({"confirm": true, "n": 3}).as_object().cloned().unwrap()), None)
}

pub(crate) fn declined() -> State {
    decided(Verdict::Decline, Some("wrong mailbox"))
}

pub(crate) fn cancelled() -> State {
    decided(Verdict::Cancel, None)
}

pub(crate) fn withdrawn() -> State {
    State::Withdrawn { at: after(42) }
}

/// Every state, each verdict and each cause.
pub(crate) fn states() -> Vec<State> {
    let ended = [State::Pending, accepted(), declined(), cancelled(), withdrawn()];
    ended.into_iter().chain(EXPIRY_CAUSES.map(State::Expired)).collect()
}

pub(crate) fn delivery() -> Delivery {
    Delivery {
        key: DeliveryKey {
            elicitation: ElicitationId::new(bits(1)),
            channel: ChannelKind::Email,
            approver: approver(),
            kind: NoticeKind::Asked,
        },
        status: DeliveryStatus::Sent,
        attempts: 1,
        at: after(2),
        next_attempt_at: None,
    }
}

pub(crate) fn session() -> Session {
    Session {
        id: SessionId::new(bits(2)),
        name: "run-1".parse().unwrap(),
        title: Some("Inbox zero".into()),
        owner: Principal::stored("key_a"),
        people: vec![],
        surface: None,
        default_ttl: None,
        audience: None,
        created_at: CREATED,
        archived_at: None,
        open: vec![OpenQuestion { elicitation: ElicitationId::new(bits(1)), expires_at: after(3_600) }],
        lost: Some(LostElicitation {
            reason: LostReason::Expired,
            elicitation: ElicitationId::new(bits(5)),
            at: after(1),
            summary: "send_email: Send the e-mail?".into(),
        }),
        tokens: vec![TokenFacts {
            id: AskTokenId::new(bits(4)),
            created_at: CREATED,
            expires_at: after(86_400),
            last_used_at: None,
        }],
        declines: Declines::default(),
        revision: 1,
    }
}
