//! What waits for a person, and what they have answered.

use askama::Template;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use countersign_app::humans::Visitor;
use countersign_app::inbox::Question;
use countersign_core::assurance::Assurance;
use countersign_core::elicitation::{Elicitation, Tier};
use countersign_core::id::Reference;
use countersign_core::state::{State as Standing, Verdict};
use countersign_core::time::Timestamp;
use serde::Deserialize;

use super::browser::{Looking, wants_json};
use super::frame::{Frame, html};
use super::outcome::is_own;
use super::sheet::flag;
use super::shown::{Bit, Foreign};
use super::when::{Instant, left, span};
use super::words::{EN, Words, put};
use super::{fields, json};
use crate::Http;
use crate::error::ApiError;

/// References that one request may ask after.
const ASKED_MAX: usize = 250;
/// Characters of a message that stand for a title.
const TITLE_CHARS: usize = 120;
/// Answers that an empty inbox shows.
const LAST_ANSWERS: usize = 5;

/// A row of the list.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    reference: String,
    path: String,
    title: Foreign,
    is_ours: bool,
    who: Vec<Foreign>,
    time: String,
    is_short: bool,
    decide_by_ms: i64,
    kind: (String, bool),
    needs: String,
    is_one_tap: bool,
    silent: Option<String>,
    settled: Option<String>,
    tool: String,
}

#[derive(Template)]
#[template(path = "inbox.html")]
struct InboxPage {
    f: Frame,
    window: String,
    title: String,
    view: View,
    now: Instant,
    now_ms: i64,
    rows: Vec<Line>,
    answered: Vec<Line>,
    empty_why: String,
}

#[derive(Template)]
#[template(path = "inbox_unread.html")]
struct UnreadPage {
    f: Frame,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum View {
    #[default]
    Open,
    Final,
    Mine,
}

/// What the inbox is asked with.
#[derive(Debug, Deserialize)]
pub(crate) struct Wish {
    view: Option<String>,
    shown: Option<String>,
}

/// `GET /`
pub(crate) async fn home() -> Response {
    Redirect::to("/inbox").into_response()
}

/// `GET /inbox`
pub(crate) async fn page(
    State(http): State<Http>,
    looking: Looking,
    Query(wish): Query<Wish>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let visitor = looking.visitor;
    let view = match wish.view.as_deref() {
        Some("final") => View::Final,
        Some("mine") => View::Mine,
        _ => View::Open,
    };
    if wants_json(&headers) {
        return as_json(&http, &visitor, view, wish.shown.as_deref()).await;
    }
    if looking.is_present {
        http.app.note_seen(&visitor).await;
    }
    let read = async {
        let rows = listed(&http, &visitor, view).await?;
        let answered =
            if rows.is_empty() && view != View::Mine { http.app.answered(&visitor).await? } else { vec![] };
        Ok::<_, ApiError>((rows, answered))
    };
    let Ok((rows, answered)) = read.await else {
        let page = UnreadPage { f: Frame::of(&visitor, None) };
        return Ok(html(StatusCode::SERVICE_UNAVAILABLE, &page));
    };
    let now = http.app.clock.now();
    let page = compose(&visitor, view, &rows, &answered, now);
    Ok(html(StatusCode::OK, &page))
}

async fn listed(http: &Http, visitor: &Visitor, view: View) -> Result<Vec<Question>, ApiError> {
    if view == View::Mine {
        return Ok(http.app.answered(visitor).await?);
    }
    let mut rows = http.app.inbox(visitor).await?;
    if view == View::Final {
        rows.retain(|(one, content)| {
            content.irreversible || matches!(one.tier, Tier::Commit | Tier::External)
        });
    }
    Ok(rows)
}

/// What is open now, and where those stand that the page shows already.
async fn as_json(
    http: &Http,
    visitor: &Visitor,
    view: View,
    shown: Option<&str>,
) -> Result<Response, ApiError> {
    let asked: Vec<Reference> =
        shown.unwrap_or_default().split(',').take(ASKED_MAX).filter_map(|text| text.parse().ok()).collect();
    let rows = listed(http, visitor, view).await?;
    let is_open = |one: &Reference| rows.iter().any(|(open, _)| open.reference == *one);
    let others: Vec<Reference> = asked.into_iter().filter(|one| !is_open(one)).collect();
    let standing = http.app.standing(visitor, &others).await?;
    let now = http.app.clock.now();
    let open = rows.iter().map(|question| {
        let (one, content) = question;
        let mut line = json::line(visitor, one, now);
        if let serde_json::Value::Object(map) = &mut line {
            map.insert("title".into(), title(one.title.as_deref(), &content.message).into());
            map.insert("kind".into(), json::kind(visitor, question).into());
        }
        line
    });
    let settled = standing.iter().map(|one| json::line(visitor, one, now)).collect();
    Ok(json::inbox(open.collect(), settled, now))
}

/// The asking side's title, or the beginning of what it says.
fn title(title: Option<&str>, message: &str) -> String {
    match title {
        Some(title) => title.to_owned(),
        None => countersign_core::text::truncate(message.trim(), TITLE_CHARS).into_owned(),
    }
}

fn compose(
    visitor: &Visitor,
    view: View,
    rows: &[Question],
    answered: &[Question],
    now: Timestamp,
) -> InboxPage {
    let w = &EN;
    let heading = match (view, rows.len()) {
        (View::Mine, 0) => w.empty_mine.to_owned(),
        (View::Mine, _) => w.your_answers.to_owned(),
        (View::Final, 0) => w.empty_final.to_owned(),
        (View::Open, 0) => w.script.none_wait.to_owned(),
        (_, 1) => w.script.one_waits.to_owned(),
        (_, count) => put(w.script.some_wait, &[&count.to_string()]),
    };
    let lines = |of: &[Question]| of.iter().map(|one| line(visitor, one, w, now)).collect::<Vec<_>>();
    let mail = visitor.approver.email.as_deref().unwrap_or(&visitor.approver.name);
    let mut answered = lines(answered);
    answered.truncate(LAST_ANSWERS);
    InboxPage {
        f: Frame::of(visitor, None),
        window: match rows.len() {
            0 => w.inbox.to_owned(),
            count if view != View::Mine => put(w.inbox_open, &[&count.to_string()]),
            _ => w.your_answers.to_owned(),
        },
        title: heading,
        view,
        now: Instant::of(now, now),
        now_ms: now.millis(),
        rows: lines(rows),
        answered,
        empty_why: put(w.empty_why, &[&Foreign::plain(mail)]),
    }
}

/// A row. One tap is enough where a yes says it all and nothing guards it.
pub(crate) fn line(visitor: &Visitor, (one, content): &Question, w: &Words, now: Timestamp) -> Line {
    let state = one.state_at(now);
    let until = one.deadlines.decide_by.since(now);
    let asked = fields::asked(&content.schema).len();
    let is_one_tap = is_one_tap(one, content);
    let who = [&one.server, &one.tool].into_iter().flatten().map(|text| Foreign::line(text));
    Line {
        reference: one.reference.to_string(),
        path: format!("/d/{}/{}", visitor.tenant.id, one.reference),
        is_ours: one.title.is_none() && content.message.trim().is_empty(),
        title: if one.title.is_none() && content.message.trim().is_empty() {
            Foreign::line(w.untitled)
        } else {
            Foreign::line(&title(one.title.as_deref(), &content.message))
        },
        who: who.collect(),
        time: left(until),
        is_short: until.as_secs() < 60,
        decide_by_ms: one.deadlines.decide_by.millis(),
        kind: flag(one.tier, content.irreversible, &visitor.tenant.name, w),
        needs: match (one.assurance, asked) {
            (_, 2..) => put(w.form_of, &[&asked.to_string()]),
            (_, 1) => w.one_question.to_owned(),
            (Assurance::Tap, 0) => w.one_tap.to_owned(),
            (Assurance::Code, 0) => w.code_needed.to_owned(),
            (Assurance::Passkey, 0) => w.passkey.to_owned(),
        },
        is_one_tap,
        silent: (state == Standing::Pending && one.asker_gone(now)).then(|| {
            let since = one.asker.last_polled_at.unwrap_or(one.created_at);
            put(w.silent_row, &[&span(now.since(since))])
        }),
        settled: settled_text(visitor, &state, one, now),
        tool: format!(
            "{}/{}",
            one.server.as_deref().unwrap_or_default(),
            one.tool.as_deref().unwrap_or_default()
        ),
    }
}

/// Whether a question can be approved by pressing a button and nothing else.
pub(crate) fn is_one_tap(one: &Elicitation, content: &countersign_core::ask::Content) -> bool {
    one.assurance == Assurance::Tap && fields::asked(&content.schema).is_empty()
}

/// How a question ended, in a few words; `None` while it is open.
pub(crate) fn settled_text(
    visitor: &Visitor,
    state: &Standing,
    one: &Elicitation,
    now: Timestamp,
) -> Option<String> {
    let w = &EN;
    Some(match state {
        Standing::Pending if now < one.deadlines.decide_by => return None,
        Standing::Pending | Standing::Expired(_) => w.ran_out_short.to_owned(),
        Standing::Withdrawn { .. } => w.withdrawn_short.to_owned(),
        Standing::Decided(decision) if is_own(visitor, decision) => {
            let at = Instant::of(decision.at, now).shown;
            match decision.verdict {
                Verdict::Accept(_) => put(w.approved_at, &[&at]),
                Verdict::Decline => put(w.declined_at, &[&at]),
                Verdict::Cancel => put(w.dismissed_at, &[&at]),
            }
        }
        Standing::Decided(decision) => {
            let name = Foreign::plain(&decision.by.name);
            match decision.verdict {
                Verdict::Accept(_) => put(w.approved_by_short, &[&name]),
                Verdict::Decline => put(w.declined_by_short, &[&name]),
                Verdict::Cancel => put(w.dismissed_by_short, &[&name]),
            }
        }
    })
}
