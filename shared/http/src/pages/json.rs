//! The same pages as JSON, for the terminal and for our own script. Foreign text is raw here: whoever shows it encodes it.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use countersign_app::App;
use countersign_app::humans::Visitor;
use countersign_app::inbox::Question;
use countersign_core::elicitation::Elicitation;
use countersign_core::state::State;
use countersign_core::time::Timestamp;
use countersign_core::violation::Violation;
use serde_json::{Value, json};

use super::inbox::settled_text;
use super::sheet::flag;
use super::words::EN;
use crate::error::ApiError;

/// A code was asked for.
pub(crate) fn attempt(id: &str) -> Response {
    Json(json!({ "attempt": id })).into_response()
}

/// Somebody is signed in; the cookies say who.
pub(crate) fn signed_in() -> Response {
    Json(json!({ "signed_in": true })).into_response()
}

/// Something that is said to a person.
pub(crate) trait Said {
    /// As text.
    fn said(&self) -> String;
}

/// A question, with what it takes to answer it.
pub(crate) fn question(app: &App, visitor: &Visitor, of: &Question, now: Timestamp) -> Response {
    let (found, content) = of;
    let mut shown = line(visitor, found, now);
    let details = content
        .details
        .iter()
        .map(|one| json!({ "label": one.label, "value": one.value, "origin": one.origin.word() }));
    let is_open = found.state_at(now) == State::Pending && now < found.deadlines.decide_by;
    if let Value::Object(map) = &mut shown {
        map.insert("message".into(), content.message.clone().into());
        map.insert("consequence".into(), content.consequence.clone().into());
        map.insert("kind".into(), kind(visitor, of).into());
        map.insert("irreversible".into(), content.irreversible.into());
        map.insert("warnings".into(), content.warnings.clone().into());
        map.insert("details".into(), details.collect());
        map.insert("preview".into(), content.preview.clone().into());
        map.insert("arguments".into(), content.binding.as_ref().and_then(|one| one.args.clone()).into());
        map.insert("requested_schema".into(), content.schema.source().clone());
        let link = format!("{}/d/{}/{}", app.settings.page_url, visitor.tenant.id, found.reference);
        map.insert("link".into(), link.into());
        map.insert("you".into(), visitor.approver.name.clone().into());
        if is_open {
            map.insert("csrf".into(), app.form_token(visitor, &found.id.to_string()).into());
        }
    }
    Json(shown).into_response()
}

/// What it is to approve it, in our words.
pub(crate) fn kind(visitor: &Visitor, (found, content): &Question) -> String {
    flag(found.tier, content.irreversible, &visitor.tenant.name, &EN).0
}

/// A question as a list has it.
pub(crate) fn line(visitor: &Visitor, found: &Elicitation, now: Timestamp) -> Value {
    let state = found.state_at(now);
    json!({
        "reference": found.reference.as_str(),
        "id": found.id.to_string(),
        "path": format!("/d/{}/{}", visitor.tenant.id, found.reference),
        "status": state.status().word(),
        "settled": settled_text(visitor, &state, found, now),
        "collected": found.asker.collected_at.is_some(),
        "asker_gone": found.asker_gone(now) && state == State::Pending,
        "title": found.title,
        "server": found.server,
        "tool": found.tool,
        "tier": found.tier.word(),
        "assurance": found.assurance.word(),
        "decide_by": found.deadlines.decide_by.to_string(),
        "left_ms": u64::try_from(found.deadlines.decide_by.since(now).as_millis()).unwrap_or(u64::MAX),
    })
}

/// The inbox.
pub(crate) fn inbox(open: Vec<Value>, shown: Vec<Value>, now: Timestamp) -> Response {
    Json(json!({ "now": now.to_string(), "open": open, "shown": shown })).into_response()
}

/// What a form did that decides nothing: `said` in words, and the `attempt` of a code that is mailed.
pub(crate) fn said(alerts: &[impl Said], attempt: Option<&str>) -> Response {
    Json(json!({ "said": alerts.first().map(Said::said), "attempt": attempt })).into_response()
}

/// Why a form decided nothing.
pub(crate) fn refused(
    status: StatusCode,
    alerts: &[impl Said],
    code_error: Option<&str>,
    wrong: Vec<Violation>,
) -> ApiError {
    let said = code_error.map(str::to_owned).or_else(|| alerts.first().map(Said::said));
    let text = said.unwrap_or_else(|| EN.nothing_sent_one.to_owned());
    ApiError::not_decided(status, code_error.is_some(), text, wrong)
}
