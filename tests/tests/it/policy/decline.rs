//! After a decline people are not asked the same again at once, and not at all after three.

use countersign_core::limits::{DECLINES_FORGOTTEN_AT_ONCE, DECLINES_KEPT};
use countersign_testkit::{Reply, Web};
use serde_json::{Value, json};
use std::time::Duration;

use super::{ask, id_of, put_policy};

/// A session, asked in by key.
struct Asker {
    web: Web,
    session: Value,
}

impl Asker {
    async fn start() -> Self {
        let web = Web::start().await;
        put_policy(&web, json!({})).await.expect(200); // with the waits of a new tenant
        let (opened, _) = web.session().await;
        Self { session: opened["name"].clone(), web }
    }

    async fn ask(&self, message: &str) -> Reply {
        ask(&self.web, json!({"message": message, "session": self.session})).await
    }

    async fn press(&self, asked: &Reply, action: &str) {
        let path = format!("/v1/elicitations/{}/respond", id_of(asked));
        self.web.api("POST", &path, json!({"action": action})).await.expect(200);
    }

    /// Asks, and has it declined.
    async fn declined(&self, message: &str) {
        let asked = self.ask(message).await.expect(201);
        self.press(&asked, "decline").await;
    }

    async fn muted(&self, message: &str) -> bool {
        let reply = self.ask(message).await;
        if reply.status.as_u16() == 201 {
            self.press(&reply, "cancel").await;
            return false;
        }
        assert_eq!(reply.expect(422).json()["code"], "muted");
        true
    }

    fn later(&self, seconds: u64) {
        self.web.test.clock.advance(Duration::from_secs(seconds));
    }

    async fn view(&self) -> Value {
        let path = format!("/v1/sessions/{}", self.session.as_str().unwrap());
        self.web.api("GET", &path, Value::Null).await.expect(200).json()
    }

    async fn unmute(&self) {
        let path = format!("/v1/sessions/{}/unmute", self.session.as_str().unwrap());
        self.web.api("POST", &path, Value::Null).await.expect(200);
    }

    /// Has something accepted, so that the session is not muted as a whole.
    async fn unmute_count(&self) {
        let yes = self.ask("Fine?").await.expect(201);
        self.press(&yes, "accept").await;
    }

    async fn remembered(&self) -> usize {
        let app = &self.web.test.app;
        let caller = self.web.test.caller().await;
        let seen = app.session(&caller, self.session.as_str().unwrap()).await.unwrap();
        seen.session.declines.contents.len()
    }
}

#[tokio::test]
async fn the_same_question_cools_down_for_one_then_five_then_thirty_minutes() {
    let asker = Asker::start().await;
    for (round, wait) in [60, 300, 1_800, 1_800].into_iter().enumerate() {
        asker.declined("Pay?").await;
        let yes = asker.ask(&format!("Other {round}?")).await.expect(201);
        asker.press(&yes, "accept").await; // so that the session is not muted as a whole
        asker.later(wait - 1);
        assert!(asker.muted("Pay?").await, "round {round}");
        assert!(!asker.muted("Something else?").await, "round {round}");
        asker.later(1);
    }
    assert!(!asker.muted("Pay?").await);
}

#[tokio::test]
async fn the_waits_are_the_policys() {
    let asker = Asker::start().await;
    put_policy(&asker.web, json!({"cool_down_seconds": [0, 20]})).await.expect(200);
    asker.declined("Pay?").await;
    asker.declined("Pay?").await;
    asker.later(19);
    assert!(asker.muted("Pay?").await);
    asker.later(1);
    assert!(!asker.muted("Pay?").await);
}

#[tokio::test]
async fn on_a_machine_of_ones_own_a_first_decline_may_be_repeated_at_once() {
    let web = Web::start().await;
    let asker = Asker { session: web.session().await.0["name"].clone(), web };
    asker.declined("Pay?").await;
    assert!(!asker.muted("Pay?").await);
    asker.declined("Pay?").await;
    assert!(asker.muted("Pay?").await);
}

#[tokio::test]
async fn the_refusal_says_until_when() {
    let asker = Asker::start().await;
    asker.declined("Pay?").await;
    let refused = asker.ask("Pay?").await.expect(422).json();
    assert_eq!(refused["code"], "muted");
    assert!(refused["detail"].as_str().unwrap().contains("2026-11-30T20:01:00.000Z"), "{refused}");
}

#[tokio::test]
async fn it_is_the_same_question_under_another_id_on_the_fallback_route_too() {
    let web = Web::start().await;
    put_policy(&web, json!({})).await.expect(200);
    let (_, path) = web.session().await;
    let body = |id: &str| json!({"message": "Pay?", "_meta": {"com.pulsemcp/request-id": id, "n": id}});
    let first = web.call("POST", &path, "", body("r1")).await.expect(201).json();
    let id = first["_meta"]["com.countersign/elicitation-id"].as_str().unwrap();
    web.api("POST", &format!("/v1/elicitations/{id}/respond"), json!({"action": "decline"}))
        .await
        .expect(200);
    let refused = web.call("POST", &path, "", body("r2")).await.expect(422).json();
    assert_eq!(refused["code"], "muted");
    let again = web.call("POST", &path, "", body("r1")).await.expect(201).json();
    assert_eq!(again["requestId"], first["requestId"], "a replay of a stored answer goes through");
    web.test.drain().await;
    assert_eq!(
        web.test.channel.sent().len(),
        0,
        "it had ended before anybody was told, and nothing new was asked"
    );
}

#[tokio::test]
async fn three_declines_mute_the_session_for_half_an_hour() {
    let asker = Asker::start().await;
    for message in ["One?", "Two?"] {
        asker.declined(message).await;
    }
    assert!(!asker.muted("More?").await);
    assert!(asker.view().await.get("muted_until").is_none());
    asker.declined("Three?").await;
    assert!(asker.muted("More?").await);
    assert_eq!(asker.view().await["muted_until"], "2026-11-30T20:30:00.000Z");
    asker.later(1_799);
    assert!(asker.muted("More?").await);
    asker.later(1);
    assert!(!asker.muted("More?").await);
    asker.declined("Four?").await;
    assert!(!asker.muted("More still?").await, "the count begins again");
}

#[tokio::test]
async fn an_accept_between_them_ends_the_count_and_a_cancel_does_not() {
    let asker = Asker::start().await;
    asker.declined("One?").await;
    asker.declined("Two?").await;
    let yes = asker.ask("Three?").await.expect(201);
    asker.press(&yes, "accept").await;
    asker.declined("Four?").await;
    asker.declined("Five?").await;
    let away = asker.ask("Six?").await.expect(201);
    asker.press(&away, "cancel").await;
    assert!(!asker.muted("More?").await);
    asker.declined("Seven?").await;
    assert!(asker.muted("More?").await);
}

#[tokio::test]
async fn unmuting_lets_it_ask_again_at_once_and_starts_afresh() {
    let asker = Asker::start().await;
    for message in ["One?", "Two?", "Three?"] {
        asker.declined(message).await;
    }
    assert!(asker.muted("One?").await);
    asker.unmute().await;
    assert!(asker.view().await.get("muted_until").is_none());
    asker.declined("One?").await;
    asker.later(60);
    assert!(!asker.muted("One?").await, "as after a first decline");
}

#[tokio::test]
async fn unmuting_needs_the_scope_manage_and_a_session_of_the_tenant() {
    let web = Web::start().await;
    let key = super::other_tenant(&web).await;
    let (session, _) = web.session().await;
    let path = format!("/v1/sessions/{}/unmute", session["name"].as_str().unwrap());
    web.call("POST", &path, "", Value::Null).await.expect(401);
    web.call("POST", &path, &key, Value::Null).await.expect(404);
    web.api("POST", &path, Value::Null).await.expect(200);
}

#[tokio::test]
async fn a_mute_is_told_before_a_full_session_and_after_the_schema() {
    let asker = Asker::start().await;
    put_policy(&asker.web, json!({"max_open_per_session": 1})).await.expect(200);
    asker.declined("Pay?").await;
    asker.ask("Other?").await.expect(201);
    assert_eq!(asker.ask("Pay?").await.expect(422).json()["code"], "muted");
    assert_eq!(asker.ask("More?").await.expect(422).json()["code"], "too_many_open");
    let bad = json!({"message": "Pay?", "session": asker.session, "requested_schema": 3});
    assert_eq!(ask(&asker.web, bad).await.expect(422).json()["code"], "invalid_schema");
}

#[tokio::test]
async fn without_a_session_nothing_cools_down_and_sessions_do_not_share_a_mute() {
    let web = Web::start().await;
    for _ in 0..4 {
        let asked = id_of(&ask(&web, json!({"message": "Pay?"})).await.expect(201));
        let path = format!("/v1/elicitations/{asked}/respond");
        web.api("POST", &path, json!({"action": "decline"})).await.expect(200);
    }
    let asker = Asker { session: web.session().await.0["name"].clone(), web };
    asker.declined("Pay?").await;
    let (other, _) = asker.web.session().await;
    ask(&asker.web, json!({"message": "Pay?", "session": other["name"]})).await.expect(201);
}

#[tokio::test]
async fn a_session_does_not_remember_without_end() {
    let asker = Asker::start().await;
    for round in 0..40 {
        asker.declined(&format!("Pay {round}?")).await;
        asker.unmute_count().await;
    }
    let kept = asker.remembered().await;
    assert!(kept <= DECLINES_KEPT, "{kept} declined contents are kept");
    asker.later(24 * 60 * 60);
    for _ in 0..=DECLINES_KEPT / DECLINES_FORGOTTEN_AT_ONCE {
        assert!(!asker.muted("Anything?").await);
    }
    assert_eq!(asker.remembered().await, 0);
}
