//! Answers by signed request (PROTOCOL.md section 2.6).

use axum::body::Body;
use countersign_core::signature::SigningSecret;
use countersign_embedded::faults::{Fault, Op};
use countersign_testkit::Web;
use countersign_testkit::web::Reply;
use http::Request;
use serde_json::{Value, json};
use std::time::Duration;

/// An endpoint that takes answers, with the one approver of the tenant.
struct Gateway {
    web: Web,
    endpoint: String,
    secret: SigningSecret,
    approver: String,
}

impl Gateway {
    async fn start() -> Self {
        let web = Web::start().await;
        let body = json!({"inbound": {"enabled": true, "actor_kinds": ["approver"]}});
        let made = web.api("POST", "/v1/endpoints", body).await.expect(201).json();
        let approvers = web.api("GET", "/v1/approvers", Value::Null).await.expect(200).json();
        Self {
            endpoint: made["id"].as_str().unwrap().to_owned(),
            secret: made["inbound_secret"].as_str().unwrap().parse().unwrap(),
            approver: approvers["approvers"][0]["id"].as_str().unwrap().to_owned(),
            web,
        }
    }

    async fn ask(&self) -> String {
        let body = json!({"title": "Delete", "message": "Delete 3 messages?", "tool": "delete"});
        let asked = self.web.api("POST", "/v1/elicitations", body).await.expect(201).json();
        asked["id"].as_str().unwrap().to_owned()
    }

    fn answer(&self, elicitation: &str, action: &str) -> Value {
        json!({"type": "elicitation.respond", "data": {"elicitation": elicitation, "action": action,
            "actor": {"kind": "approver", "id": self.approver}}})
    }

    async fn post(&self, id: &str, body: &Value) -> Reply {
        self.post_at(id, self.seconds(), body).await
    }

    async fn post_at(&self, id: &str, seconds: i64, body: &Value) -> Reply {
        let body = body.to_string();
        let signature = self.secret.sign(id, seconds, body.as_bytes());
        self.send(&self.endpoint, id, &seconds.to_string(), &signature, body).await
    }

    async fn send(&self, endpoint: &str, id: &str, at: &str, signature: &str, body: String) -> Reply {
        let request = Request::post(format!("/v1/inbound/{endpoint}"))
            .header("webhook-id", id)
            .header("webhook-timestamp", at)
            .header("webhook-signature", signature)
            .body(Body::from(body));
        self.web.send(request.unwrap()).await
    }

    fn seconds(&self) -> i64 {
        self.web.test.now().millis() / 1_000
    }

    async fn status(&self, elicitation: &str) -> String {
        let view = self.web.api("GET", &format!("/v1/elicitations/{elicitation}"), Value::Null).await;
        view.expect(200).json()["status"].as_str().unwrap().to_owned()
    }
}

#[tokio::test]
async fn a_signed_answer_decides_as_the_approver_that_it_names() {
    let gateway = Gateway::start().await;
    let question = gateway.ask().await;
    let view = gateway.post("msg_1", &gateway.answer(&question, "accept")).await.expect(200).json();
    assert_eq!(
        (view["status"].as_str(), view["decided_by"]["method"].as_str()),
        (Some("accept"), Some("webhook"))
    );
    assert_eq!(view["decided_by"]["approver_id"].as_str(), Some(gateway.approver.as_str()));
    assert_eq!(view["decided_by"]["name"], "You");
}

#[tokio::test]
async fn an_id_is_good_for_one_answer_and_a_repeat_says_so() {
    let gateway = Gateway::start().await;
    let (first, second) = (gateway.ask().await, gateway.ask().await);
    gateway.post("msg_1", &gateway.answer(&first, "decline")).await.expect(200);
    let again = gateway.post("msg_1", &gateway.answer(&first, "decline")).await.expect(409);
    assert_eq!(again.json()["code"], "webhook_replayed");
    gateway.post("msg_1", &gateway.answer(&second, "accept")).await.expect(409);
    assert_eq!(gateway.status(&second).await, "pending");
    gateway.post("msg_2", &gateway.answer(&second, "accept")).await.expect(200);
}

#[tokio::test]
async fn an_id_is_not_spent_by_what_decided_nothing() {
    let gateway = Gateway::start().await;
    let question = gateway.ask().await;
    gateway.post("msg_1", &gateway.answer(&question, "maybe")).await.expect(422);
    gateway.post("msg_1", &gateway.answer("el_00000000000000000000000000", "accept")).await.expect(404);
    gateway.web.test.faults.set(Op::Transact, Fault::Error, 100);
    gateway.post("msg_1", &gateway.answer(&question, "accept")).await.expect(503);
    gateway.web.test.faults.set(Op::Transact, Fault::Error, 0);
    gateway.post("msg_1", &gateway.answer(&question, "accept")).await.expect(200);
}

#[tokio::test]
async fn a_lost_reply_of_the_store_is_one_decision_all_the_same() {
    let gateway = Gateway::start().await;
    let question = gateway.ask().await;
    gateway.web.test.faults.set(Op::Transact, Fault::ApplyThenError, 1);
    gateway.post("msg_1", &gateway.answer(&question, "accept")).await.expect(200);
    assert_eq!(gateway.status(&question).await, "accept");
}

#[tokio::test]
async fn what_is_not_signed_by_the_endpoint_is_one_and_the_same_401() {
    let gateway = Gateway::start().await;
    let question = gateway.ask().await;
    let body = gateway.answer(&question, "accept").to_string();
    let (now, at) = (gateway.seconds(), gateway.seconds().to_string());
    let good = gateway.secret.sign("msg_1", now, body.as_bytes());
    let stranger = SigningSecret::mint([9; 32]).sign("msg_1", now, body.as_bytes());
    let absent = "ep_demo.00000000000000000000000000";
    let endpoint = gateway.endpoint.as_str();
    let late = (now + 301).to_string();
    let late_signature = gateway.secret.sign("msg_1", now + 301, body.as_bytes());
    let cases = [
        (endpoint, "msg_1", at.as_str(), stranger.as_str(), body.clone()),
        (endpoint, "msg_2", at.as_str(), good.as_str(), body.clone()),
        (endpoint, "msg_1", at.as_str(), "", body.clone()),
        (endpoint, "msg_1", at.as_str(), good.as_str(), body.replace("accept", "decline")),
        (endpoint, "msg_1", late.as_str(), late_signature.as_str(), body.clone()),
        (absent, "msg_1", at.as_str(), good.as_str(), body.clone()),
        ("ep_other.00000000000000000000000000", "msg_1", at.as_str(), good.as_str(), body.clone()),
        ("nonsense", "msg_1", at.as_str(), good.as_str(), body.clone()),
    ];
    let mut answers = Vec::new();
    for (endpoint, id, at, signature, body) in cases {
        answers.push(gateway.send(endpoint, id, at, signature, body).await.expect(401).bytes);
    }
    assert!(answers.iter().all(|one| *one == answers[0]));
    assert_eq!(gateway.status(&question).await, "pending");
    gateway.send(endpoint, "msg_1", &at, &good, body).await.expect(200);
}

#[tokio::test]
async fn an_api_key_is_no_signature_and_a_signature_is_no_api_key() {
    let gateway = Gateway::start().await;
    let question = gateway.ask().await;
    let path = format!("/v1/inbound/{}", gateway.endpoint);
    gateway.web.api("POST", &path, gateway.answer(&question, "accept")).await.expect(401);
    let secret = gateway.secret.reveal();
    let respond = format!("/v1/elicitations/{question}/respond");
    gateway.web.call("POST", &respond, &secret, json!({"action": "accept"})).await.expect(401);
}

#[tokio::test]
async fn inbound_is_off_unless_it_is_turned_on_and_while_the_endpoint_is_disabled() {
    let gateway = Gateway::start().await;
    let question = gateway.ask().await;
    let path = format!("/v1/endpoints/{}", gateway.endpoint);
    let off = json!({"inbound": {"enabled": false}});
    gateway.web.api("PATCH", &path, off).await.expect(200);
    gateway.post("msg_1", &gateway.answer(&question, "accept")).await.expect(401);
    let on = json!({"inbound": {"enabled": true, "actor_kinds": ["approver"]}});
    gateway.web.api("PATCH", &path, on).await.expect(200);
    gateway.web.api("POST", &format!("{path}/disable"), json!({})).await.expect(200);
    gateway.post("msg_1", &gateway.answer(&question, "accept")).await.expect(401);
    gateway.web.api("POST", &format!("{path}/enable"), json!({})).await.expect(200);
    gateway.post("msg_1", &gateway.answer(&question, "accept")).await.expect(200);
}

#[tokio::test]
async fn an_actor_of_a_kind_that_is_not_allowed_or_whom_nobody_knows_is_no_approver() {
    let gateway = Gateway::start().await;
    let question = gateway.ask().await;
    for actor in [
        json!({"kind": "slack", "id": gateway.approver}),
        json!({"kind": "approver", "id": "ap_00000000000000000000000000"}),
        json!({"kind": "approver", "id": "You"}),
    ] {
        let mut body = gateway.answer(&question, "accept");
        body["data"]["actor"] = actor;
        assert_eq!(gateway.post("msg_1", &body).await.expect(403).json()["code"], "not_an_approver");
    }
    assert_eq!(gateway.status(&question).await, "pending");
}

#[tokio::test]
async fn both_secrets_are_good_while_one_is_rotated() {
    let mut gateway = Gateway::start().await;
    let path = format!("/v1/endpoints/{}/rotate", gateway.endpoint);
    let body = json!({"which": "inbound_secret", "overlap_seconds": 3_600});
    let rotated = gateway.web.api("POST", &path, body).await.expect(200).json();
    let (first, second) = (gateway.ask().await, gateway.ask().await);
    gateway.post("msg_1", &gateway.answer(&first, "accept")).await.expect(200);
    gateway.web.test.clock.advance(Duration::from_hours(1));
    gateway.post("msg_2", &gateway.answer(&second, "accept")).await.expect(401);
    gateway.secret = rotated["inbound_secret"].as_str().unwrap().parse().unwrap();
    let third = gateway.ask().await;
    gateway.post("msg_3", &gateway.answer(&third, "accept")).await.expect(200);
}

#[tokio::test]
async fn secrets_are_shown_once() {
    let gateway = Gateway::start().await;
    let path = format!("/v1/endpoints/{}", gateway.endpoint);
    for path in [path.as_str(), "/v1/endpoints"] {
        let shown = gateway.web.api("GET", path, Value::Null).await.expect(200);
        assert!(!String::from_utf8(shown.bytes).unwrap().contains("whsec_"), "{path}");
    }
}

#[tokio::test]
async fn a_repeated_create_of_an_endpoint_makes_one_and_omits_its_secrets() {
    let web = Web::start().await;
    let create = || async {
        let request = Request::post("/v1/endpoints")
            .header("authorization", format!("Bearer {}", web.key))
            .header("idempotency-key", "k1")
            .body(Body::from(json!({"url": "https://hooks.example.com/"}).to_string()));
        web.send(request.unwrap()).await.expect(201).json()
    };
    let (first, again) = (create().await, create().await);
    assert_eq!(first["id"], again["id"]);
    assert!(first["secret"].is_string() && again["secret"].is_null());
    assert_eq!(again["secret_omitted"], true);
}

#[tokio::test]
async fn a_removed_endpoint_is_gone_and_signs_nothing_any_more() {
    let gateway = Gateway::start().await;
    let question = gateway.ask().await;
    let path = format!("/v1/endpoints/{}", gateway.endpoint);
    gateway.web.api("DELETE", &path, Value::Null).await.expect(204);
    gateway.web.api("GET", &path, Value::Null).await.expect(404);
    gateway.post("msg_1", &gateway.answer(&question, "accept")).await.expect(401);
}

#[tokio::test]
async fn an_endpoint_of_another_tenant_is_one_that_never_was() {
    let gateway = Gateway::start().await;
    let web = &gateway.web;
    let other =
        web.call("POST", "/v1/tenants", &web.operator, json!({"name": "other"})).await.expect(201).json();
    let key = other["api_key"].as_str().unwrap();
    for (method, act, body) in [
        ("GET", "", Value::Null),
        ("PATCH", "", json!({})),
        ("DELETE", "", Value::Null),
        ("POST", "/rotate", json!({})),
        ("POST", "/disable", json!({})),
        ("POST", "/enable", json!({})),
    ] {
        let theirs = format!("/v1/endpoints/{}{act}", gateway.endpoint);
        let never = format!("/v1/endpoints/ep_other.00000000000000000000000000{act}");
        let theirs = web.call(method, &theirs, key, body.clone()).await.expect(404);
        let never = web.call(method, &never, key, body).await.expect(404);
        assert_eq!(theirs.bytes, never.bytes, "{method} {act}");
    }
}

#[tokio::test]
async fn whoever_may_not_decide_makes_nothing_that_decides() {
    let gateway = Gateway::start().await;
    let web = &gateway.web;
    let body = json!({"name": "m", "scopes": ["ask", "manage"]});
    let key = web.api("POST", "/v1/keys", body).await.expect(201).json()["key"].clone();
    let key = key.as_str().unwrap();
    let inbound = json!({"inbound": {"enabled": true, "actor_kinds": ["approver"]}});
    web.call("POST", "/v1/endpoints", key, inbound.clone()).await.expect(403);
    let path = format!("/v1/endpoints/{}", gateway.endpoint);
    web.call("PATCH", &path, key, inbound).await.expect(403);
    web.call("POST", &format!("{path}/rotate"), key, json!({"which": "inbound_secret"})).await.expect(403);
    web.call("POST", &format!("{path}/rotate"), key, json!({"which": "secret"})).await.expect(200);
    let bound = json!({"name": "b", "scopes": ["manage", "decide"], "tier_ceiling": "read"});
    let bound = web.api("POST", "/v1/keys", bound).await.expect(201).json()["key"].clone();
    let issuer =
        json!({"iss": "x", "shared_secret": "0123456789abcdef0123456789abcdef", "algorithm": "HS256"});
    web.call("POST", "/v1/issuers", bound.as_str().unwrap(), issuer).await.expect(403);
}
