//! Events to a tenant's own systems (PROTOCOL.md section 2.6; RELIABILITY.md faults 11 and 25).

use std::time::Duration;

use countersign_app::events::{HookReply, What};
use countersign_core::endpoint::EventKind;
use countersign_core::limits::PLAN_BACKSTOP;
use countersign_testkit::Web;
use countersign_testkit::hooks::Attempt;
use serde_json::{Value, json};

const URL: &str = "https://hooks.example.com/in";

async fn endpoint(web: &Web, events: &[&str]) -> Value {
    web.api("POST", "/v1/endpoints", json!({"url": URL, "events": events})).await.expect(201).json()
}

async fn asked(web: &Web) -> String {
    let body = json!({"message": "Send it?"});
    web.api("POST", "/v1/elicitations", body).await.expect(201).json()["id"].as_str().unwrap().to_owned()
}

async fn decided(web: &Web) -> String {
    let id = asked(web).await;
    let path = format!("/v1/elicitations/{id}/respond");
    web.api("POST", &path, json!({"action": "accept"})).await.expect(200);
    id
}

/// A deployment with an endpoint that is told of ends, and a question that has ended.
async fn scene() -> (Web, Value, String) {
    let web = Web::start().await;
    let made = endpoint(&web, &["elicitation.settled"]).await;
    let id = decided(&web).await;
    (web, made, id)
}

/// What an attempt is about: the kind of the event, and the question.
fn about(one: &Attempt) -> (EventKind, String) {
    match &one.event.what {
        What::Question(kind, question) => (*kind, question.id.to_string()),
        What::Test => panic!("a trial"),
    }
}

fn kinds(attempts: &[Attempt]) -> Vec<EventKind> {
    attempts.iter().map(|one| about(one).0).collect()
}

async fn later(web: &Web, span: Duration) {
    web.test.clock.advance(span);
    web.test.app.sweep().await.unwrap();
}

async fn status(web: &Web, made: &Value) -> Value {
    let path = format!("/v1/endpoints/{}", made["id"].as_str().unwrap());
    web.api("GET", &path, Value::Null).await.expect(200).json()["status"].clone()
}

#[tokio::test]
async fn an_endpoint_is_told_once_of_what_it_subscribed_to() {
    let web = Web::start().await;
    endpoint(&web, &["elicitation.created", "elicitation.settled"]).await;
    let id = decided(&web).await;
    web.test.drain().await;
    later(&web, Duration::from_mins(2)).await;
    let attempts = web.test.hooks.attempts();
    assert_eq!(kinds(&attempts), [EventKind::ElicitationCreated, EventKind::ElicitationSettled]);
    assert!(attempts.iter().all(|one| one.url == URL && about(one).1 == id));
    assert_ne!(attempts[0].event.id, attempts[1].event.id);
}

#[tokio::test]
async fn every_way_to_end_is_told_and_a_lost_trigger_delays_it_only() {
    let web = Web::start().await;
    endpoint(&web, &["elicitation.settled"]).await;
    decided(&web).await;
    let withdrawn = asked(&web).await;
    web.api("POST", &format!("/v1/elicitations/{withdrawn}/withdraw"), json!({})).await.expect(200);
    asked(&web).await;
    // Nobody drains the trigger: the sweep alone finds what is to be told.
    later(&web, PLAN_BACKSTOP).await;
    assert_eq!(web.test.hooks.attempts().len(), 2);
    later(&web, Duration::from_hours(2)).await;
    later(&web, PLAN_BACKSTOP).await;
    assert_eq!(kinds(&web.test.hooks.attempts()), [EventKind::ElicitationSettled; 3]);
}

#[tokio::test]
async fn a_failed_attempt_is_repeated_on_schedule_with_the_same_id_until_it_is_given_up() {
    let (web, ..) = scene().await;
    for _ in 0..8 {
        web.test.hooks.answer_status(500);
    }
    web.test.drain().await;
    later(&web, Duration::from_secs(3)).await;
    assert_eq!(web.test.hooks.attempts().len(), 1, "the wait is 4 s at least");
    later(&web, Duration::from_secs(4)).await;
    assert_eq!(web.test.hooks.attempts().len(), 2);
    for hours in [1, 1, 3, 7, 13, 13, 100] {
        later(&web, Duration::from_hours(hours)).await;
    }
    let attempts = web.test.hooks.attempts();
    assert_eq!(attempts.len(), 8);
    assert!(attempts.iter().all(|one| one.event.id == attempts[0].event.id));
}

#[tokio::test]
async fn what_the_endpoint_asks_for_counts_between_once_and_twice_the_plan() {
    let (web, ..) = scene().await;
    let day = Some(Duration::from_hours(24));
    web.test.hooks.answer([HookReply::Answered { status: 429, retry_after: day }]);
    web.test.drain().await;
    later(&web, Duration::from_secs(9)).await;
    assert_eq!(web.test.hooks.attempts().len(), 1);
    later(&web, Duration::from_secs(1)).await;
    assert_eq!(web.test.hooks.attempts().len(), 2);
}

#[tokio::test]
async fn gone_disables_at_once_and_a_disabled_endpoint_is_told_nothing() {
    let (web, made, _) = scene().await;
    web.test.hooks.answer_status(410);
    web.test.drain().await;
    assert_eq!(status(&web, &made).await, "disabled");
    decided(&web).await;
    web.test.drain().await;
    later(&web, Duration::from_hours(1)).await;
    assert_eq!(web.test.hooks.attempts().len(), 1);
}

#[tokio::test]
async fn five_days_of_nothing_but_failures_disable_and_one_success_begins_anew() {
    let (web, made, _) = scene().await;
    let fails = || web.test.hooks.answer([HookReply::Unreachable("no connection".into())]);
    fails();
    web.test.drain().await;
    later(&web, Duration::from_hours(1)).await; // taken
    let day = Duration::from_hours(24);
    for _ in 0..5 {
        fails();
        decided(&web).await;
        web.test.drain().await;
        assert_eq!(status(&web, &made).await, "enabled");
        // What was left is taken by nobody: the next answers are failures too.
        web.test.clock.advance(day);
    }
    fails();
    decided(&web).await;
    web.test.drain().await;
    assert_eq!(status(&web, &made).await, "disabled");
}

#[tokio::test]
async fn an_endpoint_hears_of_nothing_older_than_itself_and_of_no_other_tenant() {
    let web = Web::start().await;
    let id = asked(&web).await;
    web.test.clock.advance(Duration::from_secs(1));
    endpoint(&web, &["elicitation.created"]).await;
    let other = web.call("POST", "/v1/tenants", &web.operator, json!({"name": "other"})).await.expect(201);
    let key = other.json()["api_key"].as_str().unwrap().to_owned();
    web.call("POST", "/v1/approvers", &key, json!({"name": "Bo", "email": "bo@example.com"}))
        .await
        .expect(201);
    web.call("POST", "/v1/elicitations", &key, json!({"message": "m"})).await.expect(201);
    web.api("POST", &format!("/v1/elicitations/{id}/withdraw"), json!({})).await.expect(200);
    web.test.drain().await;
    later(&web, Duration::from_mins(2)).await;
    assert!(web.test.hooks.attempts().is_empty());
}

#[tokio::test]
async fn while_two_secrets_are_good_both_sign() {
    let (web, made, _) = scene().await;
    let path = format!("/v1/endpoints/{}/rotate", made["id"].as_str().unwrap());
    let rotated = web.api("POST", &path, json!({"which": "secret"})).await.expect(200).json();
    web.test.drain().await;
    let secrets = web.test.hooks.attempts()[0].secrets.clone();
    assert_eq!(json!(secrets), json!([made["secret"], rotated["secret"]]));
}

#[tokio::test]
async fn two_deliverers_at_once_make_one_attempt() {
    let (web, _, id) = scene().await;
    let id = id.parse().unwrap();
    let tenant = "demo".parse().unwrap();
    let app = &web.test.app;
    let (first, second) = futures_util::join!(app.tell(&tenant, id), app.tell(&tenant, id));
    first.unwrap();
    second.unwrap();
    later(&web, Duration::from_mins(2)).await;
    assert_eq!(web.test.hooks.attempts().len(), 1);
}

#[tokio::test]
async fn an_endpoint_is_tried_at_once_and_a_failure_is_told_and_not_held_against_it() {
    let (web, made, _) = scene().await;
    let path = format!("/v1/endpoints/{}/test", made["id"].as_str().unwrap());
    let tried = async || web.api("POST", &path, Value::Null).await.expect(200).json();
    assert_eq!(tried().await, json!({"delivered": true, "status": 204, "error": null, "took_ms": 0}));
    assert!(matches!(web.test.hooks.attempts()[0].event.what, What::Test));
    web.test.hooks.answer_status(410);
    assert_eq!(tried().await["status"], 410);
    web.test.hooks.answer([HookReply::Unreachable("no connection: refused".into())]);
    let failed = tried().await;
    assert_eq!((&failed["delivered"], &failed["error"]), (&json!(false), &json!("no connection: refused")));
    assert_eq!(status(&web, &made).await, "enabled");
}

#[tokio::test]
async fn that_the_asker_has_read_the_end_is_told_whenever_it_reads_it() {
    for is_read_first in [true, false] {
        let web = Web::start().await;
        endpoint(&web, &["elicitation.collected"]).await;
        let id = decided(&web).await;
        let ack =
            async || web.api("POST", &format!("/v1/elicitations/{id}/ack"), json!({})).await.expect(200);
        if is_read_first {
            ack().await;
        }
        web.test.drain().await;
        later(&web, PLAN_BACKSTOP).await;
        ack().await;
        web.test.clock.advance(Duration::from_secs(1));
        ack().await;
        // The trigger is lost: the sweep finds it.
        later(&web, PLAN_BACKSTOP).await;
        assert_eq!(kinds(&web.test.hooks.attempts()), [EventKind::ElicitationCollected], "{is_read_first}");
    }
}
