//! Every shape, byte for byte as it goes out, in `golden/`. A change of one of these files is a change of the wire.

use std::path::Path;
use std::time::Duration;

use countersign_core::ask::RetryKey;
use countersign_core::assurance::Assurance;
use countersign_core::declines::Declines;
use countersign_core::delivery::ChannelKind;
use countersign_core::policy::{Policy, TierPolicy};
use countersign_core::state::State;
use countersign_core::text::mask_address;
use countersign_core::violation::Violation;
use serde::Serialize;

use crate::approver::{ApproverFacts, ApproverPage, ApproverView, ExternalIds};
use crate::event::{EventBody, TriedView};
use crate::fixtures::{
    EXPIRY_CAUSES, accepted, after, approver, cancelled, declined, delivery, elicitation, native_elicitation,
    session, withdrawn,
};
use crate::native::{self, DeliveryView, Page, QuestionView, View, Winner};
use crate::policy::PolicyView;
use crate::problem::Problem;
use crate::rejected::{INVALID_REQUEST, Rejected};
use crate::session::{Env, Gate, SessionCreated, SessionRepeated, SessionView, TokenGrant};
use crate::{fallback, hint};

#[track_caller]
fn check(name: &str, shape: &impl Serialize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(format!("{name}.json"));
    let got = serde_json::to_string_pretty(shape).unwrap() + "\n";
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        got == want,
        "{} is not what goes out. If the change is meant, write this to it:\n{got}",
        path.display()
    );
}

fn rejected() -> Rejected {
    let violations = vec![
        Violation::new("/surprise", "unknown field"),
        Violation::new("/message", "is missing; it must be text"),
    ];
    Rejected { code: INVALID_REQUEST, violations }
}

#[test]
fn fallback_created() {
    let poll_url = "https://cs.example/t/cst_TOKEN/api/v1/elicitations/ph_AQIDBAUGBwg";
    check("fallback_created", &fallback::created(&elicitation(), poll_url, true, None));
    check("fallback_created_match_code", &fallback::created(&elicitation(), poll_url, false, Some("42")));
}

#[test]
fn fallback_polled() {
    for (name, state) in [
        ("pending", State::Pending),
        ("accept", accepted()),
        ("decline", declined()),
        ("cancel", cancelled()),
        ("withdrawn", withdrawn()),
    ] {
        check(&format!("fallback_{name}"), &fallback::polled(&elicitation(), &state));
    }
    for cause in EXPIRY_CAUSES {
        let polled = fallback::polled(&elicitation(), &State::Expired(cause));
        check(&format!("fallback_expired_{}", cause.word()), &polled);
    }
}

#[test]
fn fallback_unread() {
    check("fallback_pending_unread", &fallback::pending_unread(elicitation().request_id.as_ref()));
    check("fallback_expired_unread", &fallback::expired_unread(after(3_600)));
}

#[test]
fn fallback_error() {
    check("fallback_error", &fallback::rejected(&rejected()));
    let settled = vec!["it is settled already: accept".to_owned()];
    check("fallback_error_settled", &fallback::error("already_settled", "Already settled", settled));
}

#[test]
fn native_views() {
    let view = |state: &State| View::of(&native_elicitation(), state, after(45));
    check("view_pending", &view(&State::Pending));
    check("view_accept", &view(&accepted()));
    check("view_decline", &view(&declined()));
    check("view_withdrawn", &view(&withdrawn()));
    let told = DeliveryView::of(&delivery(), mask_address("yuki@localhost"));
    check("view_expired_deliveries", &view(&State::Expired(EXPIRY_CAUSES[3])).with_deliveries(vec![told]));
}

#[test]
fn a_question_as_people_see_it() {
    let body = serde_json::json!({
        "message": "They are expunged, not moved to Trash.", "consequence": "3 messages are gone for good",
        "irreversible": true, "warnings": ["One of them is unread"],
        "details": [{"label": "Folder", "value": "Invoices 2019", "origin": "server"},
                    {"label": "Reason", "value": "tidy up", "origin": "caller"}],
        "preview": "From: a@example.com",
        "requested_schema": {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]},
        "binding": {"resource": {"kind": "set", "operation": "delete", "targets": ["m1", "m2"]}, "gate": "sure"}
    });
    let body = body.as_object().unwrap();
    let ask = native::CreateBody::read(body, RetryKey::None).unwrap().into_ask().unwrap();
    let view = View::of(&native_elicitation(), &State::Pending, after(45));
    check("view_question", &view.with_question(QuestionView::of(&ask.content)));
}

#[test]
fn events() {
    let one = native_elicitation();
    let question = countersign_core::elicitation::Elicitation { stored: accepted(), ..one };
    let State::Decided(decision) = &question.stored else { panic!("it is decided") };
    let kind = countersign_core::endpoint::EventKind::ElicitationSettled;
    check("event_settled", &EventBody::of(kind, decision.at, &question, decision.at));
    check("event_test", &EventBody::test(decision.at));
    let took = Duration::from_millis(41);
    check("tried", &TriedView::answered(204, took));
    check("tried_unreachable", &TriedView::unreachable("no whole answer in time".into(), took));
}

#[test]
fn native_created_and_listed() {
    let view = View::of(&native_elicitation(), &State::Pending, after(0));
    let reached = [(approver(), vec![ChannelKind::Email])];
    check("view_created", &native::Created::of(view.clone(), reached, None));
    check("view_created_unreachable", &native::Created::of(view.clone(), [], Some("42")));
    check("page", &Page::of(vec![view], Some("cu_NEXT".into())));
    check("page_last", &Page::of(Vec::new(), None));
}

#[test]
fn problems() {
    check("problem", &Problem::rejected(&rejected()));
    check("problem_not_found", &Problem::new(404, "not_found", "Not found", "there is no such elicitation"));
    let settled = |word| {
        Problem::new(409, "already_settled", "Already settled", format!("it is settled already: {word}"))
    };
    check("problem_already_settled", &settled("decline").with_winner(Winner::of(&declined())));
    check("problem_already_withdrawn", &settled("cancel").with_winner(Winner::of(&withdrawn())));
}

#[test]
fn sessions() {
    let now = after(10);
    let url = "https://cs.example/t/cst_TOKEN/api/v1/elicitations".to_owned();
    let env = Env::new(url.clone(), url, Duration::from_hours(1), session().id);
    let grant = TokenGrant { token: "cst_TOKEN", id: session().tokens[0].id };
    check("session_created", &SessionCreated::of(&session(), grant, env, Gate::Working, now));
    check("session_repeated", &SessionRepeated::of(&session(), Gate::Working, now));
    check("session_view", &SessionView::of(&session(), Some(after(4)), Gate::Working, now));
    let mut muted = session();
    muted.declines = Declines { in_a_row: 3, last_at: Some(after(8)), ..Declines::default() };
    check("session_view_muted", &SessionView::of(&muted, Some(after(4)), Gate::Working, now));
    let mut archived = session();
    archived.archived_at = Some(after(5));
    (archived.title, archived.lost) = (None, None);
    check("session_view_archived", &SessionView::of(&archived, None, Gate::Unreachable, now));
}

#[test]
fn approvers() {
    let groups = ["finance".parse().unwrap(), "on-call".parse().unwrap()];
    let facts = ApproverFacts {
        id: approver(),
        name: "Mara",
        email: Some("mara@example.com"),
        groups: &groups,
        channels: &[ChannelKind::Email],
        created_at: after(0),
    };
    let ids = ExternalIds { slack: Some("U024BE7LH".into()), telegram: None, sub: Some("mara".into()) };
    let mara = ApproverView::of(facts, ids);
    let bare = ApproverFacts { name: "Bo", email: None, groups: &[], channels: &[], ..facts };
    let bo = ApproverView::of(bare, ExternalIds::default());
    check("approver", &mara);
    check("approvers", &ApproverPage::of(vec![bo, mara]));
}

#[test]
fn policies() {
    check("policy_new", &PolicyView::of(&Policy::of_new_tenant(), 1, after(0)));
    let finance = TierPolicy {
        assurance: Assurance::Code,
        audience: Some(vec!["group:finance".parse().unwrap(), approver().to_string().parse().unwrap()]),
        channels: Some(vec![ChannelKind::Email]),
    };
    let policy = Policy {
        external: finance,
        default_ttl: Some(Duration::from_mins(30)),
        retention: Some(Duration::from_hours(24 * 90)),
        asker_may_choose: true,
        callback_origins: vec!["https://hooks.example.com".into()],
        ..Policy::of_new_tenant()
    };
    check("policy", &PolicyView::of(&policy, 3, after(60)));
}

#[test]
fn hints() {
    let hints: Vec<_> = crate::fixtures::states()
        .iter()
        .map(|state| (state.status().word(), state.cause(), hint::model_hint(state)))
        .collect();
    check("hints", &hints);
}
