//! A session as the native API shows it.

use countersign_core::id::AskTokenId;
use countersign_core::session::{LostElicitation, Session, SessionStatus, TokenFacts};
use countersign_core::time::Timestamp;
use serde::Serialize;

use super::env::{Env, McpEnv};
use super::guidance::{Gate, guidance};

/// An ask token that was made just now. Its text is shown once.
#[derive(Clone, Copy)]
pub struct TokenGrant<'a> {
    /// The token itself: a secret.
    pub token: &'a str,
    /// Its id, to revoke it by.
    pub id: AskTokenId,
}

/// The answer to a create of a session, and to one more ask token for it. No `Debug`: it holds the token.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct SessionCreated {
    id: String,
    name: String,
    status: &'static str,
    ask_token: String,
    ask_token_id: String,
    env: Env,
    mcp_env: McpEnv,
    guidance: &'static str,
}

impl SessionCreated {
    /// The session at `now` with its new token, whose URLs are in `env`.
    pub fn of(session: &Session, grant: TokenGrant<'_>, env: Env, gate: Gate, now: Timestamp) -> Self {
        Self {
            id: session.id.to_string(),
            name: session.name.to_string(),
            status: session.status_at(now).word(),
            ask_token: grant.token.to_owned(),
            ask_token_id: grant.id.to_string(),
            mcp_env: McpEnv::of(&env),
            env,
            guidance: guidance(gate),
        }
    }
}

/// The answer to a repeated create of a session: the same session, without the token that was shown then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionRepeated {
    id: String,
    name: String,
    status: &'static str,
    secret_omitted: bool,
    guidance: &'static str,
}

impl SessionRepeated {
    /// The session at `now`.
    pub fn of(session: &Session, gate: Gate, now: Timestamp) -> Self {
        Self {
            id: session.id.to_string(),
            name: session.name.to_string(),
            status: session.status_at(now).word(),
            secret_omitted: true,
            guidance: guidance(gate),
        }
    }
}

/// The answer to a read of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionView {
    id: String,
    name: String,
    title: Option<String>,
    status: &'static str,
    /// The most urgent of `open`, while the session waits on one.
    blocked_on: Option<String>,
    /// The most urgent first.
    open: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lost_elicitation: Option<LostView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    asker_last_seen_at: Option<String>,
    /// Until when nothing is asked in it: people declined too often.
    #[serde(skip_serializing_if = "Option::is_none")]
    muted_until: Option<String>,
    tokens: Vec<TokenView>,
    guidance: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct LostView {
    reason: &'static str,
    elicitation_id: String,
    at: String,
    summary: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct TokenView {
    id: String,
    expires_at: String,
    last_used_at: Option<String>,
}

impl SessionView {
    /// The session as it stands at `now`; `asker_last_seen_at` is the latest read of any of its questions.
    pub fn of(session: &Session, asker_last_seen_at: Option<Timestamp>, gate: Gate, now: Timestamp) -> Self {
        let status = session.status_at(now);
        let open: Vec<_> = session.open_at(now).iter().map(|one| one.elicitation.to_string()).collect();
        Self {
            id: session.id.to_string(),
            name: session.name.to_string(),
            title: session.title.clone(),
            status: status.word(),
            blocked_on: open.first().filter(|_| status == SessionStatus::NeedsInput).cloned(),
            open,
            lost_elicitation: session.lost.as_ref().map(lost_view),
            asker_last_seen_at: asker_last_seen_at.map(|at| at.to_string()),
            muted_until: session.declines.muted_until(now).map(|at| at.to_string()),
            tokens: session.tokens.iter().map(token_view).collect(),
            guidance: guidance(gate),
        }
    }
}

fn lost_view(lost: &LostElicitation) -> LostView {
    LostView {
        reason: lost.reason.word(),
        elicitation_id: lost.elicitation.to_string(),
        at: lost.at.to_string(),
        summary: lost.summary.clone(),
    }
}

fn token_view(token: &TokenFacts) -> TokenView {
    TokenView {
        id: token.id.to_string(),
        expires_at: token.expires_at.to_string(),
        last_used_at: token.last_used_at.map(|at| at.to_string()),
    }
}
