//! The agent run that questions belong to: whether it waits, on what, and what it lost.

use std::time::Duration;

use serde_json::Value;

use crate::audience::AudienceEntry;
use crate::declines::Declines;
use crate::id::{ApproverId, AskTokenId, ElicitationId, Principal, SessionId, SessionName};
use crate::time::Timestamp;

/// Whether a session waits for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionStatus {
    /// Nothing is open.
    Running,
    /// Waits on an open question, or on somebody who looks at what was stranded.
    NeedsInput,
    /// Over.
    Archived,
}

impl SessionStatus {
    /// The word on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::NeedsInput => "needs_input",
            Self::Archived => "archived",
        }
    }
}

/// Why a session's question was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LostReason {
    /// Nobody answered in time.
    Expired,
    /// The session was marked as waiting, and no question was there.
    Stranded,
}

impl LostReason {
    /// The word on the wire and in rows.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::Stranded => "stranded",
        }
    }

    /// The reason that `word` names.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Expired, Self::Stranded].into_iter().find(|reason| reason.word() == word)
    }
}

/// A question that ended without an answer, kept until somebody moves on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostElicitation {
    /// How it was lost.
    pub reason: LostReason,
    /// Which.
    pub elicitation: ElicitationId,
    /// When it ended.
    pub at: Timestamp,
    /// `tool: message`, at most [`crate::limits::SUMMARY_CHARS`] characters.
    pub summary: String,
}

/// One ask token of a session, without the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenFacts {
    /// Its id.
    pub id: AskTokenId,
    /// When it was made.
    pub created_at: Timestamp,
    /// From here on it creates nothing.
    pub expires_at: Timestamp,
    /// Its last create.
    pub last_used_at: Option<Timestamp>,
}

/// One question that a session waits on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenQuestion {
    /// Which.
    pub elicitation: ElicitationId,
    /// Its deadline: past it the entry counts no longer, swept or not.
    pub expires_at: Timestamp,
}

/// A session as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Its id, derived from tenant and name.
    pub id: SessionId,
    /// Its name.
    pub name: SessionName,
    /// A title for people.
    pub title: Option<String>,
    /// Who made it.
    pub owner: Principal,
    /// The approvers behind whoever made it.
    pub people: Vec<ApproverId>,
    /// Where its conversation lives: kind and thread.
    pub surface: Option<Value>,
    /// The wait of its questions that name none.
    pub default_ttl: Option<Duration>,
    /// The asker's own narrowing of who is asked in it.
    pub audience: Option<Vec<AudienceEntry>>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ended.
    pub archived_at: Option<Timestamp>,
    /// Its entries, expired ones included.
    pub open: Vec<OpenQuestion>,
    /// What it lost last.
    pub lost: Option<LostElicitation>,
    /// Its ask tokens.
    pub tokens: Vec<TokenFacts>,
    /// What people have said no to.
    pub declines: Declines,
    /// Grows with each write: a decision made on a read is conditional on it.
    pub revision: u64,
}

impl Session {
    /// The questions that wait at `now`, the most urgent first.
    pub fn open_at(&self, now: Timestamp) -> Vec<OpenQuestion> {
        let mut open: Vec<_> = self.open.iter().copied().filter(|one| now < one.expires_at).collect();
        open.sort_by_key(|one| (one.expires_at, one.elicitation));
        open
    }

    /// The entries whose deadline has passed and that no sweep has removed yet.
    pub fn overdue_at(&self, now: Timestamp) -> Vec<ElicitationId> {
        self.open.iter().filter(|one| now >= one.expires_at).map(|one| one.elicitation).collect()
    }

    /// Whether the session waits at `now`.
    pub fn status_at(&self, now: Timestamp) -> SessionStatus {
        let stranded = self.lost.as_ref().is_some_and(|lost| lost.reason == LostReason::Stranded);
        if self.archived_at.is_some() {
            SessionStatus::Archived
        } else if stranded || self.open.iter().any(|one| now < one.expires_at) {
            SessionStatus::NeedsInput
        } else {
            SessionStatus::Running
        }
    }

    /// Whether the token may create at `now`: listed, not expired, the session not archived.
    pub fn admits(&self, token: AskTokenId, now: Timestamp) -> bool {
        let listed = self.tokens.iter().any(|one| one.id == token && now < one.expires_at);
        self.archived_at.is_none() && listed
    }

    /// Whether the expiry of `elicitation` leaves the session without a question that waits, and is worth a notice.
    pub fn loses_by_expiry_of(&self, elicitation: ElicitationId, now: Timestamp) -> bool {
        let others = self.open.iter().any(|one| one.elicitation != elicitation && now < one.expires_at);
        self.archived_at.is_none() && !others
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Bits130;

    fn at(second: u64) -> Timestamp {
        Timestamp::from_millis(0).plus(Duration::from_secs(second))
    }

    fn elicitation(byte: u8) -> ElicitationId {
        ElicitationId::new(Bits130::from_bytes([byte; 17]))
    }

    fn session(open: &[(u8, u64)]) -> Session {
        let entry = |(byte, until): &(u8, u64)| OpenQuestion {
            elicitation: elicitation(*byte),
            expires_at: at(*until),
        };
        Session {
            id: SessionId::new(Bits130::from_bytes([1; 17])),
            name: "run-1".parse().unwrap(),
            title: None,
            owner: Principal::stored("key_a"),
            people: vec![],
            surface: None,
            default_ttl: None,
            audience: None,
            created_at: at(0),
            archived_at: None,
            open: open.iter().map(entry).collect(),
            lost: None,
            tokens: vec![TokenFacts {
                id: AskTokenId::new(Bits130::from_bytes([2; 17])),
                created_at: at(0),
                expires_at: at(50),
                last_used_at: None,
            }],
            declines: Declines::default(),
            revision: 1,
        }
    }

    #[test]
    fn a_session_waits_until_its_last_question_expires_even_if_nothing_swept() {
        let one = session(&[(1, 10), (2, 20)]);
        assert_eq!(one.status_at(at(19)), SessionStatus::NeedsInput);
        assert_eq!(one.open_at(at(15)).len(), 1);
        assert_eq!(one.status_at(at(20)), SessionStatus::Running);
        assert_eq!(one.overdue_at(at(20)).len(), 2);
    }

    #[test]
    fn an_expiry_is_a_loss_only_when_nothing_else_waits() {
        let one = session(&[(1, 10), (2, 20)]);
        assert!(!one.loses_by_expiry_of(elicitation(1), at(10)));
        assert!(one.loses_by_expiry_of(elicitation(2), at(20)));
    }

    #[test]
    fn an_archived_session_waits_for_nothing_loses_nothing_and_admits_nobody() {
        let mut one = session(&[(1, 10)]);
        one.archived_at = Some(at(1));
        assert_eq!(one.status_at(at(2)), SessionStatus::Archived);
        assert!(!one.loses_by_expiry_of(elicitation(1), at(10)));
        assert!(!one.admits(one.tokens[0].id, at(2)));
    }

    #[test]
    fn a_token_admits_until_it_expires() {
        let one = session(&[]);
        assert!(one.admits(one.tokens[0].id, at(49)));
        assert!(!one.admits(one.tokens[0].id, at(50)));
        assert!(!one.admits(AskTokenId::new(Bits130::from_bytes([9; 17])), at(0)));
    }

    #[test]
    fn what_was_stranded_needs_input() {
        let mut one = session(&[]);
        one.lost = Some(LostElicitation {
            reason: LostReason::Stranded,
            elicitation: elicitation(1),
            at: at(1),
            summary: String::new(),
        });
        assert_eq!(one.status_at(at(2)), SessionStatus::NeedsInput);
    }
}
