//! Several questions of one tool on one page: one verdict each, none preset.

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use countersign_app::App;
use countersign_app::authority::Target;
use countersign_app::humans::Visitor;
use countersign_app::inbox::Question;
use countersign_app::respond::{Pressed, RespondError, Response as Answer};
use countersign_core::assurance::Assurance;
use countersign_core::elicitation::Elicitation;
use countersign_core::id::Reference;
use countersign_core::state::State as Standing;

use super::browser::{Acting, Looking, Posted};
use super::frame::{ErrorPage, Frame, html};
use super::inbox::{is_one_tap, settled_text};
use super::sheet::Sheet;
use super::shown::{Bit, Foreign};
use super::when::left;
use super::words::{EN, put};
use crate::Http;
use crate::authority::named;
use crate::error::ApiError;

/// Questions that are answered together at most.
const MAX: usize = 20;

struct Item {
    reference: String,
    path: String,
    sheet: Sheet,
    left: String,
    csrf: String,
}

#[derive(Template)]
#[template(path = "batch.html")]
struct BatchPage {
    f: Frame,
    title: String,
    you: String,
    rest: Option<String>,
    items: Vec<Item>,
}

struct Came {
    reference: String,
    path: String,
    title: Foreign,
    what: String,
}

#[derive(Template)]
#[template(path = "batch_done.html")]
struct DonePage {
    f: Frame,
    came: Vec<Came>,
}

/// `GET /inbox/batch?q=…`
pub(crate) async fn page(
    State(http): State<Http>,
    looking: Looking,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let visitor = looking.visitor;
    let wanted = Posted::parse(query.unwrap_or_default().as_bytes());
    let mut names = wanted.all("q");
    names.sort_unstable();
    names.dedup();
    let found = together(&http.app, &visitor, &wanted.all("q")).await?;
    if found.is_empty() {
        let door = Some(("/inbox".to_owned(), EN.to_inbox));
        let page = ErrorPage::new(EN.batch_none.to_owned(), EN.batch_none_why.to_owned(), door);
        return Ok(html(StatusCode::OK, &page));
    }
    let now = http.app.clock.now();
    let item = |question: &Question| {
        let (one, content) = question;
        Item {
            reference: one.reference.to_string(),
            path: format!("/d/{}/{}", visitor.tenant.id, one.reference),
            sheet: Sheet::of(&visitor, None, (one, content), &EN, now),
            left: left(one.deadlines.decide_by.since(now)),
            csrf: http.app.form_token(&visitor, &one.id.to_string()),
        }
    };
    let items: Vec<_> = found.iter().map(item).collect();
    let page = BatchPage {
        f: Frame::of(&visitor, Some(EN.inbox.to_owned())),
        title: match items.len() {
            1 => EN.batch_one.to_owned(),
            count => put(EN.batch_title, &[&count.to_string()]),
        },
        rest: match names.len().saturating_sub(items.len()) {
            0 => None,
            1 => Some(EN.batch_rest_one.to_owned()),
            count => Some(put(EN.batch_rest, &[&count.to_string()])),
        },
        you: put(EN.batch_same_tool, &[&Foreign::plain(&visitor.approver.name)]),
        items,
    };
    Ok(html(StatusCode::OK, &page))
}

/// Those of the named questions that can be answered together: open, one tap each, of the tool of the first.
async fn together(app: &App, visitor: &Visitor, names: &[&str]) -> Result<Vec<Question>, ApiError> {
    let mut found: Vec<Question> = Vec::new();
    for name in names.iter().take(MAX) {
        let Some(question) = app.question_for(visitor, &named(app, name)).await? else { continue };
        let (one, content) = &question;
        let now = app.clock.now();
        let is_open = one.state_at(now) == Standing::Pending && now < one.deadlines.decide_by;
        let of_tool =
            found.first().is_none_or(|(first, _)| (&first.server, &first.tool) == (&one.server, &one.tool));
        let is_new = found.iter().all(|(other, _)| other.id != one.id);
        let may = is_one_tap(one, content) && !App::needs_fresh_sign_in(visitor, one);
        if is_open && of_tool && is_new && may {
            found.push(question);
        }
    }
    Ok(found)
}

/// `POST /inbox/batch`: fields `v.REFERENCE` with a verdict, `t.REFERENCE` with the token of that question. What comes of
/// one question stands in the way of no other.
pub(crate) async fn answer(State(http): State<Http>, acting: Acting) -> Result<Response, ApiError> {
    let visitor = acting.visitor?;
    let names = acting.posted.pairs().iter().filter_map(|(name, _)| name.strip_prefix("t."));
    let references = names.filter_map(|name| name.parse::<Reference>().ok());
    let mut came = Vec::new();
    for reference in references.take(MAX) {
        came.extend(one(&http.app, &visitor, &acting.posted, &reference).await);
    }
    let page = DonePage { f: Frame::of(&visitor, Some(EN.inbox.to_owned())), came };
    Ok(html(StatusCode::OK, &page))
}

async fn one(app: &App, visitor: &Visitor, posted: &Posted, reference: &Reference) -> Option<Came> {
    let target = Target::Reference(reference.clone());
    let (title, what) = match app.question_for(visitor, &target).await {
        Ok(None) => return None,
        Ok(Some(question)) => {
            let title = question.0.title.clone();
            (title, press(app, visitor, posted, question).await)
        }
        Err(_) => (None, EN.batch_not_saved.to_owned()),
    };
    Some(Came {
        path: format!("/d/{}/{reference}", visitor.tenant.id),
        reference: reference.to_string(),
        title: Foreign::line(title.as_deref().unwrap_or(EN.untitled)),
        what,
    })
}

/// Presses what was chosen for a question, and says what came of it.
async fn press(app: &App, visitor: &Visitor, posted: &Posted, question: Question) -> String {
    let reference = question.0.reference.clone();
    let token = posted.get(&format!("t.{reference}")).unwrap_or_default();
    if !app.is_form_token(visitor, &question.0.id.to_string(), token) {
        return EN.batch_old.to_owned();
    }
    let pressed = match posted.get(&format!("v.{reference}")) {
        Some("accept") if is_one_tap(&question.0, &question.1) => Pressed::Accept,
        Some("decline") => Pressed::Decline,
        Some("cancel") => Pressed::Cancel,
        _ => return EN.batch_left_open.to_owned(),
    };
    let answer = Answer { pressed, content: None, reason: None };
    let deciding = app.admit_person(visitor, question, Assurance::Tap, token);
    let answered = app.respond(deciding, answer).await;
    let now = app.clock.now();
    let settled = |stored: &Elicitation| settled_text(visitor, &stored.state_at(now), stored, now);
    let said = match answered {
        Ok(stored) => settled(&stored),
        Err(RespondError::AlreadySettled(stored)) => settled(&stored),
        Err(RespondError::TooLate) => Some(EN.too_late.to_owned()),
        Err(RespondError::SelfApproval) => Some(EN.self_approval.to_owned()),
        Err(RespondError::FreshSignInNeeded) => Some(EN.fresh_needed.to_owned()),
        Err(_) => None,
    };
    said.unwrap_or_else(|| EN.batch_not_saved.to_owned())
}
