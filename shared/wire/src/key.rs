//! API keys (PROTOCOL.md section 2.5).

use std::time::Duration;

use countersign_core::credential::Scope;
use countersign_core::elicitation::Tier;
use countersign_core::id::ApiKeyId;
use countersign_core::time::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::fields::{Faults, Fields, TextRule};
use crate::limits::{
    EXPIRES_IN_SECONDS, KEY_NAME_CHARS, NAME_CHARS, NAMESPACES, ROTATION_OVERLAP_SECONDS, SERVERS,
    TARGET_NAME_CHARS,
};
use crate::rejected::Rejected;

/// `POST /v1/keys`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyBody {
    /// What people call it.
    pub name: String,
    /// What it may do, without repeats.
    pub scopes: Vec<Scope>,
    /// The highest tier that it may ask for.
    pub tier_ceiling: Option<Tier>,
    /// The tool servers that it may ask for.
    pub servers: Vec<String>,
    /// The namespaces of nonces that it may use.
    pub namespaces: Vec<String>,
    /// When it ends.
    pub end: Option<End>,
}

/// When a key ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Then.
    At(Timestamp),
    /// So long after now.
    After(Duration),
}

impl End {
    /// The instant, counted from `now`.
    pub fn from(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(at) => at,
            Self::After(span) => now.plus(span),
        }
    }
}

impl KeyBody {
    /// Reads the body; unknown fields are refused.
    ///
    /// # Errors
    /// `invalid_request` with all that is wrong.
    pub fn read(body: &Map<String, Value>) -> Result<Self, Rejected> {
        let faults = Faults::default();
        let fields = Fields::root(body, &faults);
        let at = fields.time("expires_at").map(End::At);
        let after = fields.integer("expires_in_seconds", EXPIRES_IN_SECONDS).map(Duration::from_secs);
        if at.is_some() && after.is_some() {
            fields.refuse("expires_in_seconds", "must be left out beside expires_at");
        }
        let read = Self {
            name: fields.required_text("name", TextRule::line(KEY_NAME_CHARS)),
            scopes: scopes(&fields),
            tier_ceiling: fields.word("tier_ceiling", &Tier::ALL, Tier::word),
            servers: fields.texts("servers", 0..=SERVERS, TextRule::line(NAME_CHARS)),
            namespaces: fields.texts("namespaces", 0..=NAMESPACES, TextRule::line(TARGET_NAME_CHARS)),
            end: at.or(after.map(End::After)),
        };
        fields.finish();
        faults.refusal().map(|()| read)
    }
}

fn scopes(fields: &Fields<'_>) -> Vec<Scope> {
    let words = fields.required_texts("scopes", 1..=Scope::ALL.len(), TextRule::line(TARGET_NAME_CHARS));
    let mut read = Vec::new();
    for word in words {
        match word.parse() {
            Ok(scope) => read.push(scope),
            Err(_) => fields.refuse("scopes", "may only name ask, read, decide, manage and codec"),
        }
    }
    read.sort();
    read.dedup();
    read
}

/// `POST /v1/keys/{key}/rotate`: `{overlap_seconds?}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RotateKeyBody {
    /// How long the old secret stays good.
    pub overlap: Duration,
}

impl RotateKeyBody {
    /// Reads the body; unknown fields are refused.
    ///
    /// # Errors
    /// `invalid_request`.
    pub fn read(body: &Map<String, Value>) -> Result<Self, Rejected> {
        let faults = Faults::default();
        let fields = Fields::root(body, &faults);
        let overlap = fields.integer("overlap_seconds", ROTATION_OVERLAP_SECONDS);
        fields.finish();
        let overlap = overlap.map_or(Duration::from_hours(24), Duration::from_secs);
        faults.refusal().map(|()| Self { overlap })
    }
}

/// What a key is, for its view.
#[derive(Debug, Clone, Copy)]
pub struct KeyFacts<'a> {
    /// Its id.
    pub id: ApiKeyId,
    /// What people call it.
    pub name: &'a str,
    /// Whom it stands for.
    pub principal: &'a str,
    /// What it may do.
    pub scopes: &'a [Scope],
    /// The highest tier that it may ask for.
    pub tier_ceiling: Option<Tier>,
    /// The tool servers that it may ask for.
    pub servers: &'a [String],
    /// The namespaces of nonces that it may use.
    pub namespaces: &'a [String],
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
    /// Until when the secret before the last rotation is good.
    pub previous_until: Option<Timestamp>,
    /// Its last use.
    pub last_used_at: Option<Timestamp>,
    /// The seal key that its hash is made with.
    pub hashed_with: &'a str,
}

/// A key; the key itself only right after it was made.
#[derive(Debug, Clone, Serialize)]
pub struct KeyView {
    id: String,
    name: String,
    principal: String,
    scopes: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tier_ceiling: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    servers: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    namespaces: Vec<String>,
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_secret_until: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used_at: Option<String>,
    hashed_with: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    secret_omitted: bool,
}

impl KeyView {
    /// The key without the key.
    pub fn of(facts: &KeyFacts<'_>) -> Self {
        let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
        Self {
            id: facts.id.to_string(),
            name: facts.name.to_owned(),
            principal: facts.principal.to_owned(),
            scopes: facts.scopes.iter().map(|scope| scope.word()).collect(),
            tier_ceiling: facts.tier_ceiling.map(Tier::word),
            servers: facts.servers.to_vec(),
            namespaces: facts.namespaces.to_vec(),
            created_at: facts.created_at.to_string(),
            expires_at: time(facts.expires_at),
            previous_secret_until: time(facts.previous_until),
            last_used_at: time(facts.last_used_at),
            hashed_with: facts.hashed_with.to_owned(),
            key: None,
            secret_omitted: false,
        }
    }

    /// The same with the key that was just made, to be shown once; `None` is one that was shown before.
    #[must_use]
    pub fn with_key(mut self, key: Option<String>) -> Self {
        self.secret_omitted = key.is_none();
        self.key = key;
        self
    }
}

/// All keys of a tenant.
#[derive(Debug, Clone, Serialize)]
pub struct KeyPage {
    keys: Vec<KeyView>,
}

impl KeyPage {
    /// The answer.
    pub const fn of(keys: Vec<KeyView>) -> Self {
        Self { keys }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_key_is_named_and_scoped_and_may_be_bound() {
        let body = json!({"name": "mail agent", "scopes": ["read", "ask", "ask"], "tier_ceiling": "write",
            "servers": ["mail"], "expires_in_seconds": 60});
        let read = KeyBody::read(body.as_object().unwrap()).unwrap();
        assert_eq!(read.scopes, [Scope::Ask, Scope::Read]);
        assert_eq!(
            (read.tier_ceiling, read.end),
            (Some(Tier::Write), Some(End::After(Duration::from_mins(1))))
        );
    }

    #[test]
    fn what_is_no_key_is_refused_with_a_pointer() {
        let good = json!({"name": "x", "scopes": ["ask"]});
        for (key, value) in [
            ("name", json!("")),
            ("scopes", json!([])),
            ("scopes", json!(["root"])),
            ("scopes", json!("ask")),
            ("tier_ceiling", json!("high")),
            ("expires_at", json!("tomorrow")),
            ("expires_in_seconds", json!(0)),
            ("principal", json!("key_1")),
        ] {
            let mut body = good.clone();
            body[key] = value;
            let refused = KeyBody::read(body.as_object().unwrap()).expect_err("read what must be refused");
            assert_eq!(refused.violations[0].pointer, format!("/{key}"), "{body}");
        }
        let both = json!({"name": "x", "scopes": ["ask"], "expires_at": "2027-01-01T00:00:00Z", "expires_in_seconds": 9});
        assert!(KeyBody::read(both.as_object().unwrap()).is_err());
    }
}
