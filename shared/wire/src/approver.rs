//! Approvers (PROTOCOL.md section 2.5).

use countersign_core::delivery::ChannelKind;
use countersign_core::id::{ApproverId, GroupName};
use countersign_core::time::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::fields::{Faults, Fields, TextRule};
use crate::limits::{APPROVER_NAME_CHARS, EMAIL_CHARS, EXTERNAL_ID_CHARS, GROUPS};
use crate::rejected::Rejected;

const GROUP: &str = "1 to 40 characters of a-z, 0-9 and -, not starting with -";

/// Who an approver is elsewhere, as it goes over the wire.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ExternalIds {
    /// Their Slack user id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slack: Option<String>,
    /// Their Telegram user id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub telegram: Option<String>,
    /// The `sub` of their JWTs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub: Option<String>,
}

/// `POST /v1/approvers`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApproverBody {
    /// What people call them.
    pub name: String,
    /// Their mail address.
    pub email: Option<String>,
    /// What they belong to.
    pub groups: Vec<GroupName>,
    /// Who they are elsewhere.
    pub external_ids: ExternalIds,
}

impl ApproverBody {
    /// Reads the body; unknown fields are refused.
    ///
    /// # Errors
    /// `invalid_request` with all that is wrong.
    pub fn read(body: &Map<String, Value>) -> Result<Self, Rejected> {
        let faults = Faults::default();
        let fields = Fields::root(body, &faults);
        let name = fields.required_text("name", TextRule::line(APPROVER_NAME_CHARS));
        let (email, groups) = (email(&fields), groups(&fields));
        let external_ids = fields.object("external_ids").map(|ids| {
            let read = ExternalIds {
                slack: external(&ids, "slack"),
                telegram: external(&ids, "telegram"),
                sub: external(&ids, "sub"),
            };
            ids.finish();
            read
        });
        fields.finish();
        faults.refusal().map(|()| Self {
            name,
            email,
            groups,
            external_ids: external_ids.unwrap_or_default(),
        })
    }
}

/// A new value of a field: `None` leaves it, `Some(None)` clears it.
pub type Patched = Option<Option<String>>;

/// `PATCH /v1/approvers/{id}`: what is given changes, `null` clears, what is left out stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApproverPatchBody {
    /// What people call them.
    pub name: Option<String>,
    /// Their mail address.
    pub email: Patched,
    /// All that they belong to.
    pub groups: Option<Vec<GroupName>>,
    /// Their Slack user id.
    pub slack: Patched,
    /// Their Telegram user id.
    pub telegram: Patched,
    /// The `sub` of their JWTs.
    pub sub: Patched,
}

impl ApproverPatchBody {
    /// Reads the body; unknown fields are refused.
    ///
    /// # Errors
    /// `invalid_request` with all that is wrong.
    pub fn read(body: &Map<String, Value>) -> Result<Self, Rejected> {
        let faults = Faults::default();
        let fields = Fields::root(body, &faults);
        let name = fields.text("name", TextRule::line(APPROVER_NAME_CHARS));
        if fields.has("name") && body["name"].is_null() {
            fields.refuse("name", "must not be null: an approver has a name");
        }
        let email = fields.has("email").then(|| email(&fields));
        let groups = fields.has("groups").then(|| groups(&fields));
        let ids = fields.object("external_ids");
        let clears_all = fields.has("external_ids") && body["external_ids"].is_null();
        let patched = |key| match &ids {
            Some(ids) => ids.has(key).then(|| external(ids, key)),
            None => clears_all.then_some(None),
        };
        let (slack, telegram, sub) = (patched("slack"), patched("telegram"), patched("sub"));
        if let Some(ids) = &ids {
            ids.finish();
        }
        fields.finish();
        faults.refusal().map(|()| Self { name, email, groups, slack, telegram, sub })
    }
}

fn email(fields: &Fields<'_>) -> Option<String> {
    let email = fields.text("email", TextRule::line(EMAIL_CHARS));
    if email.as_deref().is_some_and(|email| !is_address(email)) {
        fields.refuse("email", "must be a mail address, such as mara@example.com");
    }
    email
}

fn groups(fields: &Fields<'_>) -> Vec<GroupName> {
    fields.parsed_list("groups", 0..=GROUPS, GROUP)
}

fn external(fields: &Fields<'_>, key: &'static str) -> Option<String> {
    fields.text(key, TextRule::line(EXTERNAL_ID_CHARS))
}

/// One `@`, something before it, a host behind it, nothing that could end a header.
fn is_address(text: &str) -> bool {
    let (local, host) = text.rsplit_once('@').unwrap_or_default();
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !"<>,;:\"()[]\\".contains(c);
    !local.is_empty() && !host.is_empty() && !local.contains('@') && text.chars().all(plain)
}

/// An approver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ApproverView {
    id: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    groups: Vec<String>,
    external_ids: ExternalIds,
    channels: Vec<&'static str>,
    created_at: String,
}

/// What an [`ApproverView`] is made of.
#[derive(Debug, Clone, Copy)]
pub struct ApproverFacts<'a> {
    /// Their id.
    pub id: ApproverId,
    /// What people call them.
    pub name: &'a str,
    /// Their mail address.
    pub email: Option<&'a str>,
    /// What they belong to.
    pub groups: &'a [GroupName],
    /// How they can be told.
    pub channels: &'a [ChannelKind],
    /// Since when.
    pub created_at: Timestamp,
}

impl ApproverView {
    /// The answer.
    pub fn of(facts: ApproverFacts<'_>, external_ids: ExternalIds) -> Self {
        Self {
            id: facts.id.to_string(),
            name: facts.name.to_owned(),
            email: facts.email.map(str::to_owned),
            groups: facts.groups.iter().map(ToString::to_string).collect(),
            external_ids,
            channels: facts.channels.iter().map(|channel| channel.word()).collect(),
            created_at: facts.created_at.to_string(),
        }
    }
}

/// All approvers of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ApproverPage {
    approvers: Vec<ApproverView>,
}

impl ApproverPage {
    /// The answer.
    pub const fn of(approvers: Vec<ApproverView>) -> Self {
        Self { approvers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn patch(body: &Value) -> Result<ApproverPatchBody, Rejected> {
        ApproverPatchBody::read(body.as_object().unwrap())
    }

    #[track_caller]
    fn refuses(body: &Value, pointer: &str) {
        let refused = patch(body).expect_err("read what must be refused");
        assert_eq!(
            (refused.code, refused.violations[0].pointer.as_str()),
            ("invalid_request", pointer),
            "{body}"
        );
        let mut new = json!({"name": "Bo"}).as_object().cloned().unwrap();
        new.extend(body.as_object().cloned().unwrap());
        let refused = ApproverBody::read(&new).expect_err("read what must be refused");
        assert_eq!(refused.violations[0].pointer.as_str(), pointer, "{body}");
    }

    #[test]
    fn what_is_wrong_is_pointed_at() {
        refuses(&json!({"name": " "}), "/name");
        refuses(&json!({"name": null}), "/name");
        refuses(&json!({"email": "bo"}), "/email");
        refuses(&json!({"groups": "finance"}), "/groups");
        refuses(&json!({"groups": ["finance", "Night"]}), "/groups/1");
        refuses(&json!({"groups": vec!["g"; 51]}), "/groups");
        refuses(&json!({"external_ids": {"slack": 1}}), "/external_ids/slack");
        refuses(&json!({"external_ids": {"github": "x"}}), "/external_ids/github");
        refuses(&json!({"surprise": 1}), "/surprise");
    }

    #[test]
    fn a_patch_tells_what_is_left_out_from_what_is_cleared() {
        let empty = patch(&json!({})).unwrap();
        assert_eq!((empty.email, empty.groups, empty.slack), (None, None, None));
        let one = patch(&json!({"email": null, "groups": null, "external_ids": {"slack": null}})).unwrap();
        assert_eq!((one.email, one.groups), (Some(None), Some(vec![])));
        assert_eq!((one.slack, one.sub), (Some(None), None));
        let all = patch(&json!({"external_ids": null})).unwrap();
        assert_eq!((all.slack, all.telegram, all.sub), (Some(None), Some(None), Some(None)));
        let set = patch(&json!({"name": "Bo", "external_ids": {"sub": "u1"}})).unwrap();
        assert_eq!((set.name.as_deref(), set.sub), (Some("Bo"), Some(Some("u1".to_owned()))));
    }
}
