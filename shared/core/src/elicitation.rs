//! One question with everything that a poll needs to know of it.

use std::time::Duration;

use crate::assurance::Assurance;
use crate::audience::Audience;
use crate::deadline::Deadlines;
use crate::id::{ApproverId, ElicitationId, Front, Principal, Reference, RequestId, SessionId};
use crate::json::Sha256;
use crate::limits::{ASKER_LEASE_MIN, LAST_POLLED_STEP};
use crate::state::{ExpiryCause, State};
use crate::time::Timestamp;

/// How much damage the act behind a question can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// Reads only.
    Read,
    /// Changes data.
    Write,
    /// Cannot be undone.
    Commit,
    /// Leaves the tenant.
    External,
}

impl Tier {
    /// All tiers, weakest first.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Commit, Self::External];

    /// The word on the wire and in rows.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Commit => "commit",
            Self::External => "external",
        }
    }

    /// The tier that `word` names.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| tier.word() == word)
    }
}

/// What is known of reaching a person, folded in from the deliveries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The question was planned: who is told, on which channels.
    pub planned_at: Option<Timestamp>,
    /// Planning found nobody with a usable channel.
    pub no_target: bool,
    /// Deliveries that a provider accepted.
    pub reached: u32,
    /// Deliveries that have failed for good.
    pub failed: u32,
    /// The events that were planned, each a bit ([`crate::event::bit`]).
    pub told: u32,
    /// An endpoint wants to hear of it once the asker has read the end.
    pub is_awaited: bool,
}

/// What is known of the side that waits for the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asker {
    /// How often it reads.
    pub poll_interval: Duration,
    /// It is told by a callback and need not read.
    pub has_callback: bool,
    /// Its last read while pending, as far as stored (one write per [`LAST_POLLED_STEP`]).
    pub last_polled_at: Option<Timestamp>,
    /// Its first read of a terminal status.
    pub collected_at: Option<Timestamp>,
}

/// One question to a human, without its body.
#[derive(Debug, Clone, PartialEq)]
pub struct Elicitation {
    /// Its id.
    pub id: ElicitationId,
    /// The code that both sides see.
    pub reference: Reference,
    /// The protocol that asked.
    pub front: Front,
    /// The fallback client's own id.
    pub request_id: Option<RequestId>,
    /// The sealed id that a fallback client polls with, made once.
    pub poll_handle: Option<String>,
    /// The session it belongs to.
    pub session: Option<SessionId>,
    /// Who asked.
    pub principal: Principal,
    /// Who made its session.
    pub session_owner: Option<Principal>,
    /// The approvers behind the asker and behind whoever made its session.
    pub people: Vec<ApproverId>,
    /// The tool server that asks, in its own words.
    pub server: Option<String>,
    /// The tool that asks, in its own words.
    pub tool: Option<String>,
    /// How much damage the act can do.
    pub tier: Tier,
    /// A short title, in the asking side's words.
    pub title: Option<String>,
    /// The version of the policy that it was asked under.
    pub policy_version: u64,
    /// Who may answer: the rule, not the people.
    pub audience: Audience,
    /// How sure we must be of the person who decides.
    pub assurance: Assurance,
    /// Two digits that the asking side shows, where whoever approves must have seen them there.
    pub match_code: Option<String>,
    /// Hash of the whole request: a retry must match it.
    pub request_sha256: Sha256,
    /// Hash of what a person is shown: the same question under another id has the same.
    pub shown_sha256: Sha256,
    /// When it was stored.
    pub created_at: Timestamp,
    /// Its three instants.
    pub deadlines: Deadlines,
    /// What is known of reaching a person.
    pub evidence: Evidence,
    /// What is known of the asking side.
    pub asker: Asker,
    /// Where it stands, as stored. Read it through [`Self::state_at`].
    pub stored: State,
}

impl Elicitation {
    /// Where the question stands at `now`.
    ///
    /// Once a terminal status was read it stays: a clock that steps back does not un-expire what an asker has
    /// been told is expired.
    pub fn state_at(&self, now: Timestamp) -> State {
        let told = self.asker.collected_at.map_or(now, |at| at.max(now));
        self.stored.at(&self.deadlines, self.expiry_cause(), told)
    }

    /// Why this question expires, if it does: evidence up to the deadline, in the order of PROTOCOL.md section 2.4.
    pub fn expiry_cause(&self) -> ExpiryCause {
        let evidence = &self.evidence;
        if evidence.no_target {
            ExpiryCause::NoReachableApprover
        } else if evidence.reached == 0 && evidence.failed > 0 {
            ExpiryCause::Undelivered
        } else if self.asker_gone(self.deadlines.expires_at) {
            ExpiryCause::AskerGone
        } else if evidence.reached > 0 {
            ExpiryCause::Clock
        } else {
            ExpiryCause::BrokerError
        }
    }

    /// Whether the asker has been silent longer than its lease, or past its own deadline.
    ///
    /// The lease is three poll intervals, at least [`ASKER_LEASE_MIN`]; it runs from creation on the fallback
    /// routes and from the first read on native ones, and never where a callback is set.
    pub fn asker_gone(&self, now: Timestamp) -> bool {
        let heard = match (self.front, self.asker.last_polled_at) {
            (_, Some(at)) => at,
            (Front::Fallback, None) => self.created_at,
            (Front::Native, None) => return false,
        };
        let lease = (self.asker.poll_interval * 3).max(ASKER_LEASE_MIN);
        let own = self.deadlines.asker_deadline;
        let past_own = own < self.deadlines.expires_at && now >= own && heard < own;
        !self.asker.has_callback && (now.since(heard) > lease || past_own)
    }

    /// Whether the question is `principal`'s own: asked by it, or in a session that it made.
    pub fn is_own(&self, principal: &Principal) -> bool {
        self.principal == *principal || self.session_owner.as_ref() == Some(principal)
    }

    /// Whether a read at `now` is worth a write of `last_polled_at`.
    pub fn lease_is_due(&self, now: Timestamp) -> bool {
        self.asker.last_polled_at.is_none_or(|at| now.since(at) >= LAST_POLLED_STEP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::EXPIRY_DEFAULT;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);

    fn asked(front: Front) -> Elicitation {
        Elicitation {
            id: ElicitationId::new(crate::id::Bits130::from_bytes([7; 17])),
            reference: Reference::from_random([1, 2, 3, 4]),
            front,
            request_id: None,
            poll_handle: None,
            session: None,
            principal: Principal::stored("key_a"),
            session_owner: None,
            people: vec![],
            server: None,
            tool: None,
            tier: Tier::Write,
            title: None,
            policy_version: 1,
            audience: Audience::default(),
            assurance: Assurance::Tap,
            match_code: None,
            request_sha256: Sha256::of(b""),
            shown_sha256: Sha256::of(b""),
            created_at: NOW,
            deadlines: Deadlines::fallback(NOW, None, EXPIRY_DEFAULT),
            evidence: Evidence { planned_at: Some(NOW), reached: 1, ..Evidence::default() },
            asker: Asker {
                poll_interval: Duration::from_secs(5),
                has_callback: false,
                last_polled_at: None,
                collected_at: None,
            },
            stored: State::Pending,
        }
    }

    #[track_caller]
    fn gone(front: Front, last_polled_s: Option<u64>, now_s: u64, want: bool) {
        let mut one = asked(front);
        one.asker.last_polled_at = last_polled_s.map(|s| NOW.plus(Duration::from_secs(s)));
        assert_eq!(one.asker_gone(NOW.plus(Duration::from_secs(now_s))), want, "at {now_s} s");
    }

    #[test]
    fn a_fallback_asker_is_gone_after_its_lease_even_if_it_never_polled() {
        gone(Front::Fallback, None, 90, false);
        gone(Front::Fallback, None, 91, true);
        gone(Front::Fallback, Some(60), 150, false);
        gone(Front::Fallback, Some(60), 151, true);
    }

    #[test]
    fn a_native_asker_has_a_lease_from_its_first_read() {
        gone(Front::Native, None, 3_000, false);
        gone(Front::Native, Some(0), 91, true);
    }

    #[test]
    fn a_callback_is_never_gone() {
        let mut one = asked(Front::Native);
        one.asker.has_callback = true;
        one.asker.last_polled_at = Some(NOW);
        assert!(!one.asker_gone(one.deadlines.expires_at));
    }

    #[test]
    fn an_asker_that_stops_before_us_is_gone_from_its_own_deadline() {
        let mut one = asked(Front::Fallback);
        let own = NOW.plus(Duration::from_secs(20));
        one.deadlines = Deadlines::fallback(NOW, Some(own), EXPIRY_DEFAULT);
        one.asker.last_polled_at = Some(NOW.plus(Duration::from_secs(19)));
        assert!(!one.asker_gone(NOW.plus(Duration::from_secs(19))));
        assert!(one.asker_gone(own));
    }

    #[track_caller]
    fn cause(change: impl FnOnce(&mut Elicitation), want: ExpiryCause) {
        let mut one = asked(Front::Fallback);
        one.asker.last_polled_at = Some(one.deadlines.expires_at.minus(Duration::from_secs(30)));
        change(&mut one);
        assert_eq!(one.expiry_cause(), want);
    }

    #[test]
    fn the_cause_of_an_expiry_has_an_order() {
        cause(|_| (), ExpiryCause::Clock);
        cause(|one| one.asker.last_polled_at = None, ExpiryCause::AskerGone);
        cause(|one| one.evidence = Evidence { failed: 1, ..Evidence::default() }, ExpiryCause::Undelivered);
        cause(|one| one.evidence.failed = 1, ExpiryCause::Clock);
        cause(
            |one| one.evidence = Evidence { no_target: true, ..Evidence::default() },
            ExpiryCause::NoReachableApprover,
        );
        cause(|one| one.evidence = Evidence::default(), ExpiryCause::BrokerError);
    }

    #[test]
    fn an_expiry_that_was_told_survives_a_clock_that_steps_back() {
        let mut one = asked(Front::Fallback);
        assert_eq!(one.state_at(NOW), State::Pending);
        one.asker.collected_at = Some(one.deadlines.expires_at);
        assert!(one.state_at(NOW).is_terminal());
    }
}
