//! What came of a question: who decided what and when, and whether the agent has it.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use countersign_app::App;
use countersign_app::humans::Visitor;
use countersign_app::inbox::Question;
use countersign_core::ask::Content;
use countersign_core::elicitation::Elicitation;
use countersign_core::state::{Decision, ExpiryCause, Method, State, Verdict};
use countersign_core::time::Timestamp;

use super::fields;
use super::frame::{Frame, html};
use super::sheet::{Fact, Row, Sheet};
use super::shown::{Bit, Foreign};
use super::when::{Instant, span};
use super::words::{EN, Words, put};
use crate::error::ApiError;

/// A step of the way that a question took.
#[derive(Debug, Clone)]
struct Step {
    what: String,
    how: &'static str,
    at: Option<Instant>,
    when: &'static str,
    is_open: bool,
}

#[derive(Template)]
#[template(path = "outcome.html")]
struct OutcomePage {
    f: Frame,
    window: String,
    title: String,
    texts: Vec<String>,
    big: Option<String>,
    reason: Option<Foreign>,
    answers: Vec<Fact>,
    trail: Vec<Step>,
    signed: Option<(String, String)>,
    sheet: Sheet,
    reference: String,
    sheet_name: String,
    next: Option<(String, String)>,
    watch: bool,
}

/// The page of a question that takes no answer any more. `late` is when an answer came that was one too many.
pub(crate) async fn show(
    app: &App,
    visitor: &Visitor,
    question: &Question,
    late: Option<Timestamp>,
    status: StatusCode,
) -> Result<Response, ApiError> {
    let (session, open) =
        futures_util::future::join(app.session_of(visitor, &question.0), app.inbox(visitor)).await;
    let (session, open) = (session?, open.unwrap_or_default());
    let now = app.clock.now();
    let (found, content) = question;
    let w = &EN;
    let state = found.state_at(now);
    let told = told(visitor, found, &state, late, now, w);
    let next = open.first().map(|(one, _)| {
        let text = put(w.next_question, &[&open.len().to_string()]);
        (format!("/d/{}/{}", visitor.tenant.id, one.reference), text)
    });
    let decided = decision(&state);
    let page = OutcomePage {
        f: Frame::of(visitor, Some(w.inbox.to_owned())),
        window: format!("{}, {}", told.title, found.reference),
        trail: decided.map(|one| trail(found, one, w, now)).unwrap_or_default(),
        signed: decided.map(|one| signed(one, w)),
        reason: decided.and_then(|one| one.reason.as_deref()).map(|text| Foreign::block(text, w)),
        answers: decided.map(|one| answers(content, one, w)).unwrap_or_default(),
        sheet: Sheet::of(visitor, session.as_ref(), (found, content), w, now),
        reference: found.reference.to_string(),
        sheet_name: match decided {
            Some(_) => w.what_you_saw.to_owned(),
            None => put(w.what_was_asked, &[found.reference.as_str()]),
        },
        title: told.title,
        texts: told.texts,
        big: told.big,
        next,
        watch: decided.is_some() && found.asker.collected_at.is_none(),
    };
    Ok(html(status, &page))
}

/// What the person filled in, where they approved and there was a form.
fn answers(content: &Content, decision: &Decision, w: &Words) -> Vec<Fact> {
    let Verdict::Accept(answer) = &decision.verdict else { return vec![] };
    fields::answers(&content.schema, answer, w)
}

/// The outcome in sentences.
struct Told {
    title: String,
    texts: Vec<String>,
    big: Option<String>,
}

impl Told {
    fn plain(title: &str, text: String) -> Self {
        Self { title: title.to_owned(), texts: vec![text], big: None }
    }
}

const fn decision(state: &State) -> Option<&Decision> {
    match state {
        State::Decided(decision) => Some(decision),
        State::Pending | State::Withdrawn { .. } | State::Expired(_) => None,
    }
}

/// Whether it was this person's own decision, by whatever credential.
pub(crate) fn is_own(visitor: &Visitor, decision: &Decision) -> bool {
    decision.by.approver == Some(visitor.approver.id)
}

fn told(
    visitor: &Visitor,
    found: &Elicitation,
    state: &State,
    late: Option<Timestamp>,
    now: Timestamp,
    w: &Words,
) -> Told {
    let by = Instant::of(found.deadlines.expires_at, now).shown;
    let mut told = match state {
        State::Decided(decision) => decided(visitor, found, decision, late, now, w),
        State::Withdrawn { at } => {
            Told::plain(w.withdrawn, put(w.withdrawn_why, &[&Instant::of(*at, now).shown]))
        }
        State::Pending => {
            let closed = Instant::of(found.deadlines.decide_by, now).shown;
            match late {
                Some(_) => {
                    let texts = vec![put(w.too_late_why, &[&closed]), w.too_late_then.to_owned()];
                    Told { title: w.too_late.to_owned(), texts, big: None }
                }
                None => Told::plain(w.closing, put(w.closing_why, &[&closed])),
            }
        }
        State::Expired(cause) => expired(found, *cause, &by, now, w),
    };
    if late.is_some() && !matches!(state, State::Pending) {
        let is_mine = decision(state).is_some_and(|one| is_own(visitor, one));
        if !is_mine {
            told.texts.push(w.not_recorded.to_owned());
        }
    }
    told
}

fn expired(found: &Elicitation, cause: ExpiryCause, by: &str, now: Timestamp, w: &Words) -> Told {
    match cause {
        ExpiryCause::Clock => Told::plain(w.ran_out, put(w.ran_out_why, &[by])),
        ExpiryCause::NoReachableApprover => Told::plain(w.nobody_to_ask, put(w.nobody_to_ask_why, &[by])),
        ExpiryCause::Undelivered => Told::plain(w.never_reached, w.never_reached_why.to_owned()),
        ExpiryCause::BrokerError => Told::plain(w.broker_failed, put(w.broker_failed_why, &[by])),
        ExpiryCause::AskerGone => {
            let text = match found.asker.last_polled_at {
                Some(at) => put(w.had_stopped_why, &[&Instant::of(at, now).shown, by]),
                None => put(w.never_seen, &[by]),
            };
            Told::plain(w.had_stopped, text)
        }
    }
}

fn decided(
    visitor: &Visitor,
    found: &Elicitation,
    decision: &Decision,
    late: Option<Timestamp>,
    now: Timestamp,
    w: &Words,
) -> Told {
    let name = Foreign::plain(&decision.by.name);
    let title = match (is_own(visitor, decision), &decision.verdict) {
        (true, Verdict::Accept(_)) => w.you_approved.to_owned(),
        (true, Verdict::Decline) => w.you_declined.to_owned(),
        (true, Verdict::Cancel) => w.you_dismissed.to_owned(),
        (false, Verdict::Accept(_)) => put(w.other_approved, &[&name]),
        (false, Verdict::Decline) => put(w.other_declined, &[&name]),
        (false, Verdict::Cancel) => put(w.other_dismissed, &[&name]),
    };
    let at = Instant::of(decision.at, now).shown;
    let when = match late {
        Some(late) => put(w.late_by, &[&at, &span(late.since(decision.at))]),
        None => put(w.at_time, &[&at]),
    };
    let mut texts = vec![when];
    let big = if let Some(collected) = found.asker.collected_at {
        put(w.picked_up, &[&span(collected.since(decision.at))])
    } else {
        let seen = found.asker.last_polled_at;
        texts.extend(seen.map(|seen| put(w.not_back_seen, &[&Instant::of(seen, now).shown])));
        texts.push(w.not_back_why.to_owned());
        w.not_back_yet.to_owned()
    };
    Told { title, texts, big: Some(big) }
}

fn trail(found: &Elicitation, decision: &Decision, w: &'static Words, now: Timestamp) -> Vec<Step> {
    let name = Foreign::plain(&decision.by.name);
    let what = match decision.verdict {
        Verdict::Accept(_) => put(w.approved_by, &[&name]),
        Verdict::Decline => put(w.declined_by, &[&name]),
        Verdict::Cancel => put(w.dismissed_by, &[&name]),
    };
    let done = |what: String, how, at| Step { what, how, at: Some(at), when: "", is_open: false };
    let open = |what: &str, when| Step { what: what.to_owned(), how: "", at: None, when, is_open: true };
    let mut steps = vec![
        done(w.asked.to_owned(), "", Instant::dated(found.created_at)),
        done(what, how(decision.by.method, w), Instant::of(decision.at, now)),
    ];
    steps.push(match found.asker.collected_at {
        Some(at) => done(w.trail_picked_up.to_owned(), "", Instant::of(at, now)),
        None => open(w.trail_waits, w.trail_waits_when),
    });
    if matches!(decision.verdict, Verdict::Accept(_)) {
        steps.push(open(w.trail_result, w.trail_result_when));
    }
    steps
}

const fn how(method: Method, w: &'static Words) -> &'static str {
    match method {
        Method::Tap => w.by_tap,
        Method::Code => w.by_code,
        Method::Passkey => w.by_passkey,
        Method::Api => w.by_api,
        Method::Webhook => w.by_webhook,
        Method::Chat => w.by_chat,
    }
}

fn signed(decision: &Decision, w: &Words) -> (String, String) {
    let at = Instant::dated(decision.at).shown;
    let what = match decision.verdict {
        Verdict::Accept(_) => put(w.approved_at, &[&at]),
        Verdict::Decline => put(w.declined_at, &[&at]),
        Verdict::Cancel => put(w.dismissed_at, &[&at]),
    };
    (Foreign::plain(&decision.by.name), what)
}
