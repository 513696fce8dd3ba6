//! What may become of a question. Pure: every function takes the time.
//!
//! ```text
//!            decide (before decide_by)      ┌► Decided(accept | decline | cancel)
//! Pending ───withdraw (before expires_at)───┼► Withdrawn
//!            time passes expires_at ────────┴► Expired(cause)
//! ```
//! A terminal state has no way out, and [`Verdict::Accept`] is the only value that can hold an answer.

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value};

use crate::deadline::Deadlines;
use crate::id::{ApproverId, BadId, Principal};
use crate::time::Timestamp;

/// The values of a filled-in form, in the order they were given.
pub type Answer = Map<String, Value>;

/// What a person decided.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Yes, with the checked answer.
    Accept(Answer),
    /// No.
    Decline,
    /// Dismissed without an answer.
    Cancel,
}

impl Verdict {
    /// The word on the wire and in rows.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Accept(_) => "accept",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
        }
    }

    /// The answer, which only an accept has.
    pub const fn answer(&self) -> Option<&Answer> {
        match self {
            Self::Accept(answer) => Some(answer),
            Self::Decline | Self::Cancel => None,
        }
    }
}

/// How a decision reached us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// A button on our page.
    Tap,
    /// A button and a typed code.
    Code,
    /// A passkey step-up.
    Passkey,
    /// An API call.
    Api,
    /// A signed webhook.
    Webhook,
    /// A chat button.
    Chat,
}

impl Method {
    const ALL: [Self; 6] = [Self::Tap, Self::Code, Self::Passkey, Self::Api, Self::Webhook, Self::Chat];

    /// The word on the wire and in rows.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Tap => "tap",
            Self::Code => "code",
            Self::Passkey => "passkey",
            Self::Api => "api",
            Self::Webhook => "webhook",
            Self::Chat => "chat",
        }
    }
}

impl FromStr for Method {
    type Err = BadId;

    fn from_str(word: &str) -> Result<Self, BadId> {
        Self::ALL.into_iter().find(|method| method.word() == word).ok_or(BadId("method"))
    }
}

/// Who decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decider {
    /// The authority that the decision came in under.
    pub principal: Principal,
    /// The approver, where the authority is one.
    pub approver: Option<ApproverId>,
    /// What people call them.
    pub name: String,
    /// How the decision reached us.
    pub method: Method,
}

/// One decision of one person.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// What was decided.
    pub verdict: Verdict,
    /// By whom.
    pub by: Decider,
    /// When it was made.
    pub at: Timestamp,
    /// Why, in the decider's words.
    pub reason: Option<String>,
}

impl Decision {
    /// Whether `other` says the same thing by the same hand: such a repeat is answered, not refused.
    pub fn is_repeated_by(&self, other: &Self) -> bool {
        self.by.principal == other.by.principal && self.verdict == other.verdict
    }
}

/// Why a question ended without a decision by the clock (PROTOCOL.md section 2.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpiryCause {
    /// There was nobody with a usable channel.
    NoReachableApprover,
    /// Every channel failed, by evidence dated before the deadline.
    Undelivered,
    /// The asker stopped listening before the end.
    AskerGone,
    /// Somebody was notified and nobody answered.
    Clock,
    /// Nobody was ever notified, and no channel said why.
    BrokerError,
}

impl ExpiryCause {
    const ALL: [Self; 5] =
        [Self::NoReachableApprover, Self::Undelivered, Self::AskerGone, Self::Clock, Self::BrokerError];

    /// The word on the wire and in rows.
    pub const fn word(self) -> &'static str {
        match self {
            Self::NoReachableApprover => "no_reachable_approver",
            Self::Undelivered => "undelivered",
            Self::AskerGone => "asker_gone",
            Self::Clock => "clock",
            Self::BrokerError => "broker_error",
        }
    }
}

impl FromStr for ExpiryCause {
    type Err = BadId;

    fn from_str(word: &str) -> Result<Self, BadId> {
        Self::ALL.into_iter().find(|cause| cause.word() == word).ok_or(BadId("expiry cause"))
    }
}

/// Where a question stands.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// Nobody has decided and time is left.
    Pending,
    /// A person decided.
    Decided(Decision),
    /// The asking side took it back.
    Withdrawn {
        /// When.
        at: Timestamp,
    },
    /// Time ran out; it ended at `expires_at`.
    Expired(ExpiryCause),
}

/// The status word of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Open.
    Pending,
    /// A person approved.
    Accept,
    /// A person said no.
    Decline,
    /// Dismissed, or withdrawn.
    Cancel,
    /// Time ran out.
    Expired,
}

impl Status {
    /// The word on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Accept => "accept",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
            Self::Expired => "expired",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Why a transition is not to be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The last moment of a decision has passed.
    #[error("the time to decide is over")]
    TooLate,
    /// It has ended already.
    #[error("it is settled already")]
    AlreadySettled,
}

impl State {
    /// Whether nothing can change any more.
    pub const fn is_terminal(&self) -> bool {
        !matches!(self, Self::Pending)
    }

    /// The status word.
    pub const fn status(&self) -> Status {
        match self {
            Self::Pending => Status::Pending,
            Self::Decided(decision) => match decision.verdict {
                Verdict::Accept(_) => Status::Accept,
                Verdict::Decline => Status::Decline,
                Verdict::Cancel => Status::Cancel,
            },
            Self::Withdrawn { .. } => Status::Cancel,
            Self::Expired(_) => Status::Expired,
        }
    }

    /// Why it ended; `None` while it has not.
    pub const fn cause(&self) -> Option<&'static str> {
        match self {
            Self::Pending => None,
            Self::Decided(_) => Some("human"),
            Self::Withdrawn { .. } => Some("withdrawn"),
            Self::Expired(cause) => Some(cause.word()),
        }
    }

    /// The answer, which only an accept has.
    pub const fn answer(&self) -> Option<&Answer> {
        match self {
            Self::Decided(decision) => decision.verdict.answer(),
            Self::Pending | Self::Withdrawn { .. } | Self::Expired(_) => None,
        }
    }

    /// When it ended; an expiry ended at its deadline, whenever that was noticed.
    pub const fn ended_at(&self, deadlines: &Deadlines) -> Option<Timestamp> {
        match self {
            Self::Pending => None,
            Self::Decided(decision) => Some(decision.at),
            Self::Withdrawn { at } => Some(*at),
            Self::Expired(_) => Some(deadlines.expires_at),
        }
    }

    /// What a decision makes of this state.
    ///
    /// # Errors
    /// [`Refused::AlreadySettled`] once terminal, [`Refused::TooLate`] from `decide_by` on, inclusive.
    pub fn decide(&self, deadlines: &Deadlines, decision: Decision) -> Result<Self, Refused> {
        match self {
            Self::Pending if decision.at < deadlines.decide_by => Ok(Self::Decided(decision)),
            Self::Pending => Err(Refused::TooLate),
            Self::Decided(_) | Self::Withdrawn { .. } | Self::Expired(_) => Err(Refused::AlreadySettled),
        }
    }

    /// What taking the question back at `now` makes of this state.
    ///
    /// # Errors
    /// [`Refused::AlreadySettled`] once terminal, [`Refused::TooLate`] from `expires_at` on.
    pub fn withdraw(&self, deadlines: &Deadlines, now: Timestamp) -> Result<Self, Refused> {
        match self {
            Self::Pending if now < deadlines.expires_at => Ok(Self::Withdrawn { at: now }),
            Self::Pending => Err(Refused::TooLate),
            Self::Decided(_) | Self::Withdrawn { .. } | Self::Expired(_) => Err(Refused::AlreadySettled),
        }
    }

    /// The state as `now` finds it: a pending question past its deadline is expired, stored or not.
    #[must_use]
    pub fn at(&self, deadlines: &Deadlines, cause: ExpiryCause, now: Timestamp) -> Self {
        match self {
            Self::Pending if now >= deadlines.expires_at => Self::Expired(cause),
            Self::Pending | Self::Decided(_) | Self::Withdrawn { .. } | Self::Expired(_) => self.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::EXPIRY_DEFAULT;
    use proptest::prelude::*;
    use serde_json::json;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);

    fn deadlines() -> Deadlines {
        Deadlines::fallback(NOW, None, EXPIRY_DEFAULT)
    }

    fn decision(verdict: Verdict, at: Timestamp) -> Decision {
        let by = Decider {
            principal: Principal::stored("key_a"),
            approver: None,
            name: "A".into(),
            method: Method::Api,
        };
        Decision { verdict, by, at, reason: None }
    }

    #[track_caller]
    fn check(before_deadline_ms: i64, want: Result<(), Refused>) {
        let at = Timestamp::from_millis(deadlines().decide_by.millis() - before_deadline_ms);
        let got = State::Pending.decide(&deadlines(), decision(Verdict::Decline, at));
        assert_eq!(got.map(drop), want, "{before_deadline_ms} ms before decide_by");
    }

    #[test]
    fn the_last_moment_to_decide_is_exclusive() {
        check(1, Ok(()));
        check(0, Err(Refused::TooLate));
        check(-1, Err(Refused::TooLate));
    }

    #[test]
    fn between_decide_by_and_the_deadline_it_is_pending_still() {
        let state = State::Pending.at(&deadlines(), ExpiryCause::Clock, deadlines().decide_by);
        assert_eq!(state, State::Pending);
    }

    #[test]
    fn an_expiry_ended_at_its_deadline() {
        let late = deadlines().expires_at.plus(EXPIRY_DEFAULT);
        let state = State::Pending.at(&deadlines(), ExpiryCause::Clock, late);
        assert_eq!(state.ended_at(&deadlines()), Some(deadlines().expires_at));
    }

    #[test]
    fn words_read_back() {
        for method in Method::ALL {
            assert_eq!(method.word().parse(), Ok(method));
        }
        for cause in ExpiryCause::ALL {
            assert_eq!(cause.word().parse(), Ok(cause));
        }
    }

    #[derive(Debug, Clone)]
    enum Step {
        Decide(Verdict, i64),
        Withdraw(i64),
        Look(i64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let verdict = prop_oneof![
            any::<bool>().prop_map(|ok| {
                Verdict::Accept(json!({ "ok": ok }).as_object().cloned().unwrap_or_default())
            }),
            Just(Verdict::Decline),
            Just(Verdict::Cancel),
        ];
        let clock = -600_000_i64..4_800_000;
        let step = prop_oneof![
            (verdict, clock.clone()).prop_map(|(verdict, at)| Step::Decide(verdict, at)),
            clock.clone().prop_map(Step::Withdraw),
            clock.prop_map(Step::Look),
        ];
        proptest::collection::vec(step, 0..24)
    }

    fn apply(state: &State, step: Step) -> Result<State, Refused> {
        let at = |offset: i64| Timestamp::from_millis(NOW.millis() + offset);
        match step {
            Step::Decide(verdict, offset) => state.decide(&deadlines(), decision(verdict, at(offset))),
            Step::Withdraw(offset) => state.withdraw(&deadlines(), at(offset)),
            Step::Look(offset) => Ok(state.at(&deadlines(), ExpiryCause::Clock, at(offset))),
        }
    }

    proptest! {
        #[test]
        fn no_sequence_of_steps_leaves_a_terminal_state(steps in steps()) {
            let mut state = State::Pending;
            for step in steps {
                let next = apply(&state, step).unwrap_or_else(|_| state.clone());
                prop_assert!(!state.is_terminal() || next == state, "{state:?} became {next:?}");
                state = next;
            }
        }

        #[test]
        fn only_an_accept_has_content(steps in steps()) {
            let mut state = State::Pending;
            for step in steps {
                state = apply(&state, step).unwrap_or(state);
                prop_assert_eq!(state.answer().is_some(), state.status() == Status::Accept);
            }
        }
    }
}
