//! What a tenant may ask, and that one tenant's flood is no other's trouble (RELIABILITY.md rows 10, 39 and 40).

use std::time::Duration;

use countersign_testkit::Web;
use countersign_testkit::web::Reply;
use serde_json::{Value, json};

struct Tenant {
    key: String,
}

impl Tenant {
    async fn new(web: &Web, name: &str) -> Self {
        let made = web.call("POST", "/v1/tenants", &web.operator, json!({ "name": name })).await;
        let key = made.expect(201).json()["api_key"].as_str().unwrap().to_owned();
        let approver = json!({"name": "Bo", "email": "bo@example.com"});
        web.call("POST", "/v1/approvers", &key, approver).await.expect(201);
        Self { key }
    }

    async fn ask(&self, web: &Web) -> Reply {
        web.call("POST", "/v1/elicitations", &self.key, json!({"message": "Send it?", "tool": "send"})).await
    }
}

async fn limit(web: &Web, name: &str, quota: Value) {
    let path = format!("/v1/tenants/{name}");
    let changed = web.call("PATCH", &path, &web.operator, json!({ "quota": quota })).await.expect(200).json();
    for (member, value) in quota.as_object().unwrap() {
        assert_eq!(changed["quota"][member], *value);
    }
}

#[tokio::test]
async fn a_flood_is_refused_with_when_to_come_back_and_twenty_quiet_tenants_ask_as_ever() {
    let web = Web::start().await;
    let flooder = Tenant::new(&web, "flooder").await;
    limit(&web, "flooder", json!({"burst": 10, "per_minute": 60})).await;
    let mut quiet = Vec::new();
    for number in 0..20 {
        quiet.push(Tenant::new(&web, &format!("quiet-{number}")).await);
    }
    let mut refused = 0;
    for turn in 0..200 {
        let reply = flooder.ask(&web).await;
        if reply.status == 429 {
            refused += 1;
            assert_eq!(reply.json()["code"], "quota_exceeded");
            assert_eq!(reply.headers["retry-after"], "1");
        } else {
            reply.expect(201);
        }
        if turn % 10 == 0 {
            quiet[turn / 10].ask(&web).await.expect(201);
        }
    }
    assert!(refused >= 189, "{refused} of 200 were refused");
    web.test.clock.advance(Duration::from_secs(1));
    flooder.ask(&web).await.expect(201);
    flooder.ask(&web).await.expect(429);
}

#[tokio::test]
async fn neither_a_repeat_nor_a_poll_is_ever_refused_for_a_quota() {
    let web = Web::start().await;
    limit(&web, "demo", json!({"burst": 2, "per_minute": 1})).await;
    let (_, path) = web.session().await;
    let ask = |id: &str| json!({"message": "Send it?", "_meta": {"com.pulsemcp/request-id": id}});
    let asked = web.call("POST", &path, "", ask("r1")).await.expect(201).json();
    for _ in 0..20 {
        web.call("POST", &path, "", ask("r1")).await.expect(201);
    }
    web.call("POST", &path, "", ask("r2")).await.expect(201);
    let refused = web.call("POST", &path, "", ask("r3")).await.expect(429);
    assert_eq!(refused.json()["code"], "quota_exceeded");
    assert!(refused.json()["message"].is_string() || refused.json()["messages"].is_array());
    let again = web.call("POST", &path, "", ask("r1")).await.expect(201).json();
    assert_eq!(again["requestId"], asked["requestId"]);
    let poll = format!("{path}/{}", asked["requestId"].as_str().unwrap());
    for _ in 0..100 {
        web.call("GET", &poll, "", Value::Null).await.expect(200);
    }
}

#[tokio::test]
async fn what_is_stored_is_bounded_and_goes_with_its_retention() {
    let web = Web::start().await;
    limit(&web, "demo", json!({"max_stored": 2})).await;
    let demo = Tenant { key: web.key.clone() };
    demo.ask(&web).await.expect(201);
    demo.ask(&web).await.expect(201);
    let refused = demo.ask(&web).await.expect(429);
    assert_eq!(refused.headers["retry-after"], "3600");
    web.test.clock.advance(Duration::from_hours(40 * 24));
    demo.ask(&web).await.expect(201);
}

#[tokio::test]
async fn a_forged_key_takes_nothing_from_a_tenants_quota() {
    let web = Web::start().await;
    limit(&web, "demo", json!({"burst": 3, "per_minute": 1})).await;
    let other = Tenant::new(&web, "other").await;
    let forged = web.key.replace("csk_demo", "csk_other");
    for _ in 0..20 {
        web.call("POST", "/v1/elicitations", &forged, json!({"message": "x"})).await.expect(401);
    }
    other.ask(&web).await.expect(201);
    Tenant { key: web.key.clone() }.ask(&web).await.expect(201);
}

#[tokio::test]
async fn a_bucket_that_cannot_be_written_refuses_nobody() {
    use countersign_embedded::faults::{Fault, Op};
    let web = Web::start().await;
    let demo = Tenant { key: web.key.clone() };
    demo.ask(&web).await.expect(201);
    web.test.faults.set(Op::Update, Fault::Error, 1_000);
    demo.ask(&web).await.expect(201);
}

#[tokio::test]
async fn what_waits_is_bounded_until_it_is_answered_withdrawn_or_over() {
    let web = Web::start().await;
    limit(&web, "demo", json!({"max_open": 2})).await;
    let demo = Tenant { key: web.key.clone() };
    let first = demo.ask(&web).await.expect(201).json();
    let second = demo.ask(&web).await.expect(201).json();
    let refused = demo.ask(&web).await.expect(429);
    assert_eq!(
        (&refused.json()["code"], &refused.headers["retry-after"]),
        (&json!("quota_exceeded"), &"60".parse().unwrap())
    );
    let answer = format!("/v1/elicitations/{}/respond", first["id"].as_str().unwrap());
    web.api("POST", &answer, json!({"action": "accept"})).await.expect(200);
    demo.ask(&web).await.expect(201);
    demo.ask(&web).await.expect(429);
    let withdraw = format!("/v1/elicitations/{}/withdraw", second["id"].as_str().unwrap());
    web.api("POST", &withdraw, Value::Null).await.expect(200);
    demo.ask(&web).await.expect(201);
    web.test.clock.advance(Duration::from_hours(8 * 24));
    demo.ask(&web).await.expect(201);
}

#[tokio::test]
async fn a_repeat_of_what_waits_is_answered_in_a_full_tenant() {
    let web = Web::start().await;
    limit(&web, "demo", json!({"max_open": 1})).await;
    let (_, path) = web.session().await;
    let ask = |id: &str| json!({"message": "Send it?", "_meta": {"com.pulsemcp/request-id": id}});
    let asked = web.call("POST", &path, "", ask("r1")).await.expect(201).json();
    web.call("POST", &path, "", ask("r2")).await.expect(429);
    let again = web.call("POST", &path, "", ask("r1")).await.expect(201).json();
    assert_eq!(again["requestId"], asked["requestId"]);
}

#[tokio::test]
async fn what_waits_in_one_tenant_fills_no_other() {
    let web = Web::start().await;
    let other = Tenant::new(&web, "other").await;
    limit(&web, "demo", json!({"max_open": 1})).await;
    limit(&web, "other", json!({"max_open": 1})).await;
    let demo = Tenant { key: web.key.clone() };
    demo.ask(&web).await.expect(201);
    demo.ask(&web).await.expect(429);
    other.ask(&web).await.expect(201);
}

#[tokio::test]
async fn what_cannot_be_counted_refuses_nobody() {
    use countersign_embedded::faults::{Fault, Op};
    let web = Web::start().await;
    limit(&web, "demo", json!({"max_open": 1})).await;
    let demo = Tenant { key: web.key.clone() };
    demo.ask(&web).await.expect(201);
    web.test.faults.set(Op::Query, Fault::Error, 1_000);
    demo.ask(&web).await.expect(201);
}
