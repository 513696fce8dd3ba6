//! The question itself: read it, answer it, and see what came of it.

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use countersign_app::App;
use countersign_app::deciding::CodeCheck;
use countersign_app::humans::Visitor;
use countersign_app::inbox::Question;
use countersign_app::passkeys::Passkey;
use countersign_app::respond::{Pressed, RespondError, Response as Answer};
use countersign_core::assurance::Assurance;
use countersign_core::elicitation::Elicitation;
use countersign_core::human::typed_digits;
use countersign_core::id::CodeId;
use countersign_core::limits::REASON_CHARS;
use countersign_core::session::Session;
use countersign_core::state::State as Standing;
use countersign_core::time::Timestamp;
use countersign_core::violation::Violation;

use super::browser::{Acting, Looking, Posted, sign_in_path, wants_json};
use super::fields::{self, Control, Shown};
use super::frame::{Frame, html};
use super::json;
use super::outcome;
use super::passkey::{self, PasskeyAsk};
use super::sheet::{Row, Sheet};
use super::shown::{Bit, Foreign};
use super::signin::tries;
use super::when::{Instant, span};
use super::words::{EN, put};
use crate::Http;
use crate::authority::named;
use crate::error::ApiError;
use crate::path::Path;

/// Something that the page says above all else.
#[derive(Debug, Clone)]
pub(crate) struct Alert {
    pub(crate) title: String,
    pub(crate) text: String,
    /// Where to go on: an address and its text.
    pub(crate) door: Option<(String, String)>,
    pub(crate) is_calm: bool,
}

impl Alert {
    /// Something went wrong.
    pub(crate) fn new(title: &str, text: impl Into<String>) -> Self {
        Self { title: title.to_owned(), text: text.into(), door: None, is_calm: false }
    }

    /// The same where nothing went wrong.
    pub(crate) fn calm(title: &str, text: impl Into<String>) -> Self {
        Self { is_calm: true, ..Self::new(title, text) }
    }

    /// The same with a way on.
    pub(crate) fn leading(self, to: &str, text: &str) -> Self {
        Self { door: Some((to.to_owned(), text.to_owned())), ..self }
    }
}

/// What approving takes, beyond pressing the button.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Guard {
    /// Nothing.
    Tap,
    /// A code.
    Code,
    /// A passkey.
    Passkey(PasskeyAsk),
    /// More than this person can show here: why.
    Closed,
}

/// What the page is shown with after a form was posted and nothing was decided.
#[derive(Debug, Clone, Default)]
struct Return {
    posted: Option<Posted>,
    wrong: Vec<Violation>,
    code_error: Option<String>,
    mailed: Option<String>,
    alerts: Vec<Alert>,
}

#[expect(clippy::struct_excessive_bools, reason = "a template asks them one by one")]
#[derive(Template)]
#[template(path = "decision.html")]
struct DecisionPage {
    f: Frame,
    window: String,
    path: String,
    reference: String,
    until: Instant,
    now: Instant,
    left: String,
    is_short: bool,
    total_s: u64,
    left_s: u64,
    decide_by_ms: i64,
    now_ms: i64,
    alerts: Vec<Alert>,
    sheet: Sheet,
    fields: Vec<Shown>,
    fields_title: String,
    wrong_title: Option<String>,
    you: String,
    csrf: String,
    guard: Guard,
    code_error: Option<String>,
    code_hint: String,
    mailed: Option<String>,
    can_mail: bool,
    has_session: bool,
    reason: String,
    reason_preset: String,
    presets: Vec<String>,
    reason_open: bool,
}

impl DecisionPage {
    fn has_form(&self) -> bool {
        !self.fields.is_empty()
    }
    fn wrong(&self) -> impl Iterator<Item = &Shown> {
        self.fields.iter().filter(|one| one.error.is_some())
    }
}

/// `GET /d/{tenant}/{reference}`
pub(crate) async fn page(
    State(http): State<Http>,
    looking: Looking,
    Path((_, reference)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let visitor = looking.visitor;
    let json = wants_json(&headers);
    if looking.is_present && !json {
        http.app.note_seen(&visitor).await;
    }
    let question = find(&http.app, &visitor, &reference).await?;
    let now = http.app.clock.now();
    if json {
        return Ok(json::question(&http.app, &visitor, &question, now));
    }
    show(&http.app, &visitor, question, Return::default(), StatusCode::OK).await
}

async fn find(app: &App, visitor: &Visitor, reference: &str) -> Result<Question, ApiError> {
    let found = app.question_for(visitor, &named(app, reference)).await;
    match found {
        Ok(found) => found.ok_or_else(ApiError::no_question),
        Err(error) => Err(ApiError::from(error).saying(EN.not_read, EN.not_read_why)),
    }
}

/// `POST /d/{tenant}/{reference}`
pub(crate) async fn answer(
    State(http): State<Http>,
    Path((tenant, reference)): Path<(String, String)>,
    acting: Acting,
) -> Result<Response, ApiError> {
    let app = &http.app;
    let (posted, json) = (acting.posted, acting.wants_json);
    let path = format!("/d/{tenant}/{reference}");
    let found = match acting.visitor {
        Ok(visitor) => find(app, &visitor, &reference).await.map(|question| (visitor, question)),
        Err(error) => Err(error),
    };
    let (visitor, question) = match found {
        Ok(found) => found,
        // Nothing of what was typed may be lost: it goes back in a form of its own.
        Err(error) if error.status() == StatusCode::UNAUTHORIZED && !json => {
            return Ok(signed_out(&tenant, &reference, &path, &posted));
        }
        Err(error) if error.status().is_server_error() && !json => return Ok(again(&path, &posted)),
        Err(error) => return Err(error),
    };
    let token = posted.get("csrf").unwrap_or_default().to_owned();
    if !app.is_form_token(&visitor, &question.0.id.to_string(), &token) {
        if json {
            return Err(ApiError::stale_form());
        }
        let alerts = vec![Alert::new(EN.old_page, EN.old_page_why)];
        let back = Return { posted: Some(posted), alerts, ..Return::default() };
        return show(app, &visitor, question, back, StatusCode::FORBIDDEN).await;
    }
    let done = match posted.get("action") {
        Some("accept") => decide(app, &visitor, &question, &posted, (Pressed::Accept, &token)).await,
        Some("decline") => decide(app, &visitor, &question, &posted, (Pressed::Decline, &token)).await,
        Some("cancel") => decide(app, &visitor, &question, &posted, (Pressed::Cancel, &token)).await,
        Some("report") => report(app, &visitor, &question).await,
        Some("mail") => mail(app, &visitor, &question, &posted).await,
        _ => check(app, &visitor, &question, &posted).await,
    };
    let now = app.clock.now();
    match done {
        Ok(Done::Decided(stored)) if json => Ok(json::question(app, &visitor, &(stored, question.1), now)),
        Ok(Done::Decided(_)) => Ok(Redirect::to(&path).into_response()),
        Ok(Done::Ended(stored)) if json => {
            Err(ApiError::from(RespondError::AlreadySettled(Box::new(stored))))
        }
        Ok(Done::Ended(stored)) => {
            let question = (stored, question.1);
            outcome::show(app, &visitor, &question, Some(now), StatusCode::CONFLICT).await
        }
        Ok(Done::TooLittle) if json => Err(RespondError::FreshSignInNeeded.into()),
        Ok(Done::TooLittle) => {
            let alerts = vec![fresh_needed(&visitor, &question.0)];
            let back = Return { posted: Some(posted), alerts, ..Return::default() };
            show(app, &visitor, question, back, StatusCode::UNPROCESSABLE_ENTITY).await
        }
        Ok(Done::Back(status, back)) if json && status.is_success() && back.wrong.is_empty() => {
            Ok(json::said(&back.alerts, back.mailed.as_deref()))
        }
        Ok(Done::Back(status, back)) if json => {
            Err(json::refused(status, &back.alerts, back.code_error.as_deref(), back.wrong))
        }
        Ok(Done::Back(status, back)) => {
            let posted = Some(posted);
            show(app, &visitor, question, Return { posted, ..*back }, status).await
        }
        Err(error) if error.status().is_server_error() && !json => {
            let alerts = vec![Alert::new(EN.not_saved, EN.not_saved_why)];
            let back = Return { posted: Some(posted.clone()), alerts, ..Return::default() };
            let status = StatusCode::SERVICE_UNAVAILABLE;
            let shown = show(app, &visitor, question, back, status).await;
            shown.or_else(|_| Ok(again(&path, &posted)))
        }
        Err(error) => Err(error),
    }
}

/// What a form did.
enum Done {
    /// It decided; so the question stands now.
    Decided(Elicitation),
    /// Somebody or something was faster.
    Ended(Elicitation),
    /// Only a remembered device vouches for the person, and that is too little to accept.
    TooLittle,
    /// It decided nothing: the page again.
    Back(StatusCode, Box<Return>),
}

impl Done {
    fn refused(back: Return) -> Self {
        Self::Back(StatusCode::UNPROCESSABLE_ENTITY, Box::new(back))
    }
}

async fn decide(
    app: &App,
    visitor: &Visitor,
    question: &Question,
    posted: &Posted,
    (pressed, token): (Pressed, &str),
) -> Result<Done, ApiError> {
    let (found, content) = question;
    let mut assurance = Assurance::Tap;
    let is_open = found.state_at(app.clock.now()) == Standing::Pending;
    if is_open && pressed == Pressed::Accept {
        // A passkey is a fresh proof by itself.
        if found.assurance != Assurance::Passkey && App::needs_fresh_sign_in(visitor, found) {
            return Ok(Done::TooLittle);
        }
        match found.assurance {
            Assurance::Tap => {}
            Assurance::Passkey => match passkey::check(app, visitor, found, posted, token).await? {
                None => assurance = Assurance::Passkey,
                Some(alert) => {
                    return Ok(Done::refused(Return { alerts: vec![alert], ..Return::default() }));
                }
            },
            Assurance::Code => match code(app, visitor, question, posted).await? {
                None => assurance = Assurance::Code,
                Some(back) => return Ok(Done::refused(back)),
            },
        }
    }
    let filled = (pressed == Pressed::Accept).then(|| fields::content(&content.schema, posted)).flatten();
    let answer = Answer { pressed, content: filled, reason: reason(visitor, posted) };
    let deciding = app.admit_person(visitor, question.clone(), assurance, token);
    match app.respond(deciding, answer).await {
        Ok(stored) => Ok(Done::Decided(stored)),
        Err(RespondError::AlreadySettled(stored)) => Ok(Done::Ended(*stored)),
        Err(RespondError::TooLate) => Ok(Done::Ended(found.clone())),
        // The same form again: what it did the first time is on the page.
        Err(RespondError::Spent) => Ok(Done::Decided(found.clone())),
        Err(RespondError::InvalidContent(wrong)) => Ok(Done::refused(Return { wrong, ..Return::default() })),
        Err(RespondError::FreshSignInNeeded) => Ok(Done::TooLittle),
        Err(RespondError::SelfApproval) => {
            let alerts = vec![Alert::new(EN.self_approval, EN.self_approval_why)];
            Ok(Done::Back(StatusCode::FORBIDDEN, Box::new(Return { alerts, ..Return::default() })))
        }
        Err(RespondError::Unknown | RespondError::NotAnApprover) => Err(ApiError::no_question()),
        Err(error @ (RespondError::AssuranceTooLow { .. } | RespondError::Store(_))) => Err(error.into()),
    }
}

/// Looks at the code of an approval; `None` where it is right.
async fn code(
    app: &App,
    visitor: &Visitor,
    (found, _): &Question,
    posted: &Posted,
) -> Result<Option<Return>, ApiError> {
    let typed = typed_digits(posted.get("match_code").unwrap_or_default());
    let mailed: Option<CodeId> = posted.get("attempt").and_then(|id| id.parse().ok());
    let kept = mailed.map(|id| id.to_string());
    let wrong = |text: String| Return { code_error: Some(text), mailed: kept.clone(), ..Return::default() };
    if typed.is_empty() {
        return Ok(Some(wrong(EN.type_match.to_owned())));
    }
    Ok(match app.check_code(visitor, found, &typed, mailed).await? {
        CodeCheck::Right => None,
        CodeCheck::Wrong { left } => Some(wrong(put(EN.wrong_match, &[&tries(left)]))),
        CodeCheck::Locked => Some(Return::default()),
    })
}

/// Enter in a field: the code is looked at, and nothing else happens.
async fn check(app: &App, visitor: &Visitor, question: &Question, posted: &Posted) -> Result<Done, ApiError> {
    let (found, content) = question;
    let filled = fields::content(&content.schema, posted);
    let wrong = content.schema.check(filled.as_ref()).err().unwrap_or_default();
    let typed = posted.get("match_code").unwrap_or_default();
    if found.assurance != Assurance::Code || typed.trim().is_empty() {
        return Ok(Done::Back(StatusCode::OK, Box::new(Return { wrong, ..Return::default() })));
    }
    let back = code(app, visitor, question, posted).await?;
    let back = back.unwrap_or_else(|| Return {
        alerts: vec![Alert::calm(EN.match_right, EN.match_right_why)],
        mailed: posted.get("attempt").map(str::to_owned),
        ..Return::default()
    });
    Ok(Done::Back(StatusCode::OK, Box::new(Return { wrong, ..back })))
}

async fn report(app: &App, visitor: &Visitor, question: &Question) -> Result<Done, ApiError> {
    app.report(visitor, &question.0).await?;
    let alerts = vec![Alert::calm(EN.reported, EN.reported_why)];
    Ok(Done::Back(StatusCode::OK, Box::new(Return { alerts, ..Return::default() })))
}

async fn mail(app: &App, visitor: &Visitor, (found, _): &Question, _: &Posted) -> Result<Done, ApiError> {
    let id = app.request_question_code(visitor, found).await?;
    let alerts = vec![Alert::calm(EN.code_mailed, EN.code_mailed_why)];
    let back = Return { alerts, mailed: Some(id.to_string()), ..Return::default() };
    Ok(Done::Back(StatusCode::OK, Box::new(back)))
}

/// The reasons to pick from: the tenant's own, or ours where it has none.
fn presets(visitor: &Visitor) -> Vec<&str> {
    let own = &visitor.tenant.policy.policy.reasons;
    if own.is_empty() { EN.reasons.to_vec() } else { own.iter().map(String::as_str).collect() }
}

/// A reason out of a preset and the person's own words.
fn reason(visitor: &Visitor, posted: &Posted) -> Option<String> {
    let preset = posted.get("reason_preset").unwrap_or_default();
    let preset = presets(visitor).into_iter().find(|text| *text == preset);
    let own = posted.get("reason").unwrap_or_default().trim();
    let own: String = own.chars().take(REASON_CHARS).collect();
    match (preset, own.is_empty()) {
        (None, true) => None,
        (None, false) => Some(own),
        (Some(preset), true) => Some(preset.to_owned()),
        (Some(preset), false) => Some(format!("{preset}. {own}")),
    }
}

fn fresh_needed(visitor: &Visitor, question: &Elicitation) -> Alert {
    let tenant = Foreign::plain(&visitor.tenant.name);
    let to = sign_in_path(Some(&visitor.tenant.id), Some(question.reference.as_str()));
    Alert {
        door: Some((to, EN.sign_in_by_code.to_owned())),
        ..Alert::calm(EN.fresh_needed, put(EN.fresh_needed_why, &[&tenant]))
    }
}

/// The page of a question, open or not.
async fn show(
    app: &App,
    visitor: &Visitor,
    question: Question,
    back: Return,
    status: StatusCode,
) -> Result<Response, ApiError> {
    let now = app.clock.now();
    let (found, _) = &question;
    let is_open = found.state_at(now) == Standing::Pending && now < found.deadlines.decide_by;
    if !is_open {
        return outcome::show(app, visitor, &question, None, StatusCode::OK).await;
    }
    let passkeys = async {
        if found.assurance == Assurance::Passkey { app.passkeys(visitor).await } else { Ok(vec![]) }
    };
    let (session, left, passkeys) = futures_util::try_join!(
        app.session_of(visitor, found),
        app.code_tries_left(visitor, found),
        passkeys
    )?;
    let page = compose(app, visitor, (session, left, passkeys), &question, back, now);
    Ok(html(status, &page))
}

fn compose(
    app: &App,
    visitor: &Visitor,
    (session, tries_left, passkeys): (Option<Session>, u32, Vec<Passkey>),
    (found, content): &Question,
    back: Return,
    now: Timestamp,
) -> DecisionPage {
    let w = &EN;
    let mut alerts = back.alerts;
    let csrf = app.form_token(visitor, &found.id.to_string());
    let ask = PasskeyAsk::to_use(app, &passkeys, &csrf);
    let guard = guard(visitor, found, (tries_left, ask), &mut alerts);
    if found.asker_gone(now) {
        alerts.push(silent(found, now));
    }
    let posted = back.posted.as_ref();
    let fields = fields::show(&content.schema, posted, &back.wrong, w);
    let wrong = fields.iter().filter(|one| one.error.is_some()).count();
    let until = found.deadlines.decide_by;
    let left = until.since(now);
    let text = |name: &str| posted.and_then(|form| form.get(name)).unwrap_or_default().to_owned();
    let reference = found.reference.to_string();
    DecisionPage {
        f: Frame::of(visitor, Some(w.inbox.to_owned())),
        window: Sheet::plain_title(found, w),
        path: format!("/d/{}/{reference}", visitor.tenant.id),
        until: Instant::of(until, now),
        now: Instant::of(now, now),
        left: put(w.left, &[&span(left)]),
        is_short: left.as_secs() < 60,
        total_s: until.since(found.created_at).as_secs(),
        left_s: left.as_secs(),
        decide_by_ms: until.millis(),
        now_ms: now.millis(),
        alerts,
        sheet: Sheet::of(visitor, session.as_ref(), (found, content), w, now),
        fields_title: match fields.len() {
            1 => w.one_question.to_owned(),
            count => put(w.questions, &[&count.to_string()]),
        },
        wrong_title: match wrong {
            0 => None,
            1 => Some(w.nothing_sent_one.to_owned()),
            count => Some(put(w.nothing_sent, &[&count.to_string()])),
        },
        fields,
        you: put(w.you_answer_as, &[&Foreign::plain(&visitor.approver.name)]),
        csrf,
        guard,
        code_error: back.code_error,
        code_hint: put(w.match_hint, &[&reference]),
        mailed: back.mailed,
        can_mail: visitor.approver.email.is_some(),
        has_session: found.session.is_some(),
        reason_open: !text("reason").is_empty() || !text("reason_preset").is_empty(),
        reason: text("reason"),
        reason_preset: text("reason_preset"),
        presets: presets(visitor).into_iter().map(Foreign::plain).collect(),
        reference,
    }
}

fn guard(
    visitor: &Visitor,
    found: &Elicitation,
    (tries_left, passkey): (u32, Option<PasskeyAsk>),
    alerts: &mut Vec<Alert>,
) -> Guard {
    let needs_fresh = App::needs_fresh_sign_in(visitor, found);
    let closed = match (found.assurance, passkey) {
        (Assurance::Passkey, None) => passkey::none_yet(),
        (Assurance::Passkey, Some(_)) if tries_left == 0 => passkey::locked(),
        (Assurance::Passkey, Some(ask)) => return Guard::Passkey(ask),
        (Assurance::Tap | Assurance::Code, _) if needs_fresh => fresh_needed(visitor, found),
        (Assurance::Code, _) if tries_left == 0 => Alert::calm(EN.locked, EN.locked_why),
        (Assurance::Code, _) => return Guard::Code,
        (Assurance::Tap, _) => return Guard::Tap,
    };
    if alerts.iter().all(|one| one.title != closed.title) {
        alerts.push(closed);
    }
    Guard::Closed
}

fn silent(found: &Elicitation, now: Timestamp) -> Alert {
    let at = found.asker.last_polled_at.unwrap_or(found.created_at);
    let text = put(EN.silent_why, &[&span(now.since(at)), &Instant::of(at, now).shown]);
    Alert::calm(EN.silent, text)
}

#[derive(Template)]
#[template(path = "again.html")]
struct AgainPage<'a> {
    f: Frame,
    title: &'static str,
    why: &'static str,
    sign_in: Option<String>,
    path: &'a str,
    pairs: Vec<(&'a str, &'a str)>,
}

/// The store cannot be read, so the question cannot be shown: what was typed goes back to be sent again.
fn again(path: &str, posted: &Posted) -> Response {
    let (title, why) = (EN.not_saved, EN.not_saved_why);
    let page = AgainPage { f: Frame::bare(), title, why, sign_in: None, path, pairs: pairs(posted) };
    html(StatusCode::SERVICE_UNAVAILABLE, &page)
}

/// The session ended while the form was filled in: what was typed waits here until the person is back. Their page then
/// has a token of the old session, and the form comes back for another look.
fn signed_out(tenant: &str, reference: &str, path: &str, posted: &Posted) -> Response {
    let sign_in = tenant.parse().ok().map(|tenant| sign_in_path(Some(&tenant), Some(reference)));
    let (title, why) = (EN.typed_kept, EN.typed_kept_why);
    let page = AgainPage { f: Frame::bare(), title, why, sign_in, path, pairs: pairs(posted) };
    html(StatusCode::UNAUTHORIZED, &page)
}

fn pairs(posted: &Posted) -> Vec<(&str, &str)> {
    posted.pairs().iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

impl super::json::Said for Alert {
    fn said(&self) -> String {
        format!("{}. {}", self.title, self.text)
    }
}
