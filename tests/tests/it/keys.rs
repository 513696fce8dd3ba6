//! API keys, and the tenants' life (PROTOCOL.md section 2.5).

use std::time::Duration;

use axum::body::Body;
use countersign_testkit::Web;
use http::Request;
use serde_json::{Value, json};

async fn key(web: &Web, body: Value) -> (String, String) {
    let made = web.api("POST", "/v1/keys", body).await.expect(201).json();
    (made["id"].as_str().unwrap().to_owned(), made["key"].as_str().unwrap().to_owned())
}

fn question() -> Value {
    json!({"title": "Delete", "message": "Delete 3 messages?", "tool": "delete"})
}

#[tokio::test]
async fn a_key_does_what_its_scopes_say_and_nothing_else() {
    let web = Web::start().await;
    let (_, agent) = key(&web, json!({"name": "agent", "scopes": ["ask"]})).await;
    let asked = web.call("POST", "/v1/elicitations", &agent, question()).await.expect(201).json();
    let id = asked["id"].as_str().unwrap();
    let respond = format!("/v1/elicitations/{id}/respond");
    web.call("POST", &respond, &agent, json!({"action": "accept"})).await.expect(403);
    web.call("GET", "/v1/keys", &agent, Value::Null).await.expect(403);
    web.call("POST", "/v1/approvers", &agent, json!({"name": "Me"})).await.expect(403);
    web.call("GET", &format!("/v1/elicitations/{id}"), &agent, Value::Null).await.expect(200);
    let (_, reader) = key(&web, json!({"name": "auditor", "scopes": ["read"]})).await;
    web.call("GET", &format!("/v1/elicitations/{id}"), &reader, Value::Null).await.expect(200);
    web.call("POST", "/v1/elicitations", &reader, question()).await.expect(403);
    let (_, decider) = key(&web, json!({"name": "gateway", "scopes": ["decide"]})).await;
    web.call("POST", &respond, &decider, json!({"action": "accept"})).await.expect(200);
}

#[tokio::test]
async fn a_revoked_key_is_no_key_from_the_next_request_on() {
    let web = Web::start().await;
    let (id, agent) = key(&web, json!({"name": "agent", "scopes": ["ask", "read"]})).await;
    web.call("GET", "/v1/elicitations?status=pending", &agent, Value::Null).await.expect(200);
    web.api("DELETE", &format!("/v1/keys/{id}"), Value::Null).await.expect(204);
    web.call("GET", "/v1/elicitations?status=pending", &agent, Value::Null).await.expect(401);
    web.api("GET", &format!("/v1/keys/{id}"), Value::Null).await.expect(404);
    web.api("DELETE", &format!("/v1/keys/{id}"), Value::Null).await.expect(404);
}

#[tokio::test]
async fn no_list_shows_what_was_shown_once() {
    let web = Web::start().await;
    let (id, secret) = key(&web, json!({"name": "agent", "scopes": ["ask"]})).await;
    for path in ["/v1/keys".to_owned(), format!("/v1/keys/{id}")] {
        let shown = String::from_utf8(web.api("GET", &path, Value::Null).await.expect(200).bytes).unwrap();
        assert!(shown.contains(&id) && !shown.contains("csk_"), "{shown}");
        assert!(!shown.contains(&secret[secret.len() - 32..secret.len() - 6]), "{shown}");
    }
}

#[tokio::test]
async fn a_key_ends_when_it_says_and_a_bound_one_asks_within_its_bounds() {
    let web = Web::start().await;
    let body = json!({"name": "agent", "scopes": ["ask"], "expires_in_seconds": 60, "tier_ceiling": "write",
        "servers": ["mail"]});
    let (_, agent) = key(&web, body).await;
    let ask = async |server: &str, tier: &str| {
        let mut body = question();
        (body["server"], body["tier"]) = (json!(server), json!(tier));
        web.call("POST", "/v1/elicitations", &agent, body).await
    };
    ask("mail", "write").await.expect(201);
    assert_eq!(ask("mail", "commit").await.expect(403).json()["code"], "beyond_key");
    assert_eq!(ask("books", "read").await.expect(403).json()["code"], "beyond_key");
    web.test.clock.advance(Duration::from_mins(1));
    ask("mail", "write").await.expect(401);
}

#[tokio::test]
async fn a_key_hands_on_no_more_than_it_has() {
    let web = Web::start().await;
    let (_, manager) =
        key(&web, json!({"name": "m", "scopes": ["ask", "manage"], "tier_ceiling": "write"})).await;
    for body in [
        json!({"name": "x", "scopes": ["decide"], "tier_ceiling": "read"}),
        json!({"name": "x", "scopes": ["ask"]}),
        json!({"name": "x", "scopes": ["ask"], "tier_ceiling": "external"}),
    ] {
        let refused = web.call("POST", "/v1/keys", &manager, body).await.expect(403);
        assert_eq!(refused.json()["code"], "beyond_own_rights");
    }
    let within = json!({"name": "x", "scopes": ["ask"], "tier_ceiling": "read"});
    web.call("POST", "/v1/keys", &manager, within).await.expect(201);
    let (stronger, _) = key(&web, json!({"name": "s", "scopes": ["decide"]})).await;
    let rotate = format!("/v1/keys/{stronger}/rotate");
    web.call("POST", &rotate, &manager, json!({})).await.expect(403);
}

#[tokio::test]
async fn the_last_key_that_manages_cannot_be_revoked() {
    let web = Web::start().await;
    let keys = web.api("GET", "/v1/keys", Value::Null).await.expect(200).json();
    let first = keys["keys"][0]["id"].as_str().unwrap().to_owned();
    let refused = web.api("DELETE", &format!("/v1/keys/{first}"), Value::Null).await.expect(409);
    assert_eq!(refused.json()["code"], "last_manager");
    let (_, weaker) = key(&web, json!({"name": "m", "scopes": ["manage"]})).await;
    let refused = web.call("DELETE", &format!("/v1/keys/{first}"), &weaker, Value::Null).await.expect(403);
    assert_eq!(refused.json()["code"], "beyond_own_rights");
    let all = json!({"name": "m", "scopes": ["ask", "read", "decide", "manage", "codec"]});
    let (_, second) = key(&web, all).await;
    web.call("DELETE", &format!("/v1/keys/{first}"), &second, Value::Null).await.expect(204);
}

#[tokio::test]
async fn both_secrets_of_a_rotated_key_are_good_for_the_overlap_and_stand_for_the_same() {
    let web = Web::start().await;
    let (id, old) = key(&web, json!({"name": "agent", "scopes": ["ask"]})).await;
    let asked = web.call("POST", "/v1/elicitations", &old, question()).await.expect(201).json();
    let rotated = web.api("POST", &format!("/v1/keys/{id}/rotate"), json!({"overlap_seconds": 60})).await;
    let new = rotated.expect(200).json()["key"].as_str().unwrap().to_owned();
    let read = format!("/v1/elicitations/{}", asked["id"].as_str().unwrap());
    web.call("GET", &read, &old, Value::Null).await.expect(200);
    web.call("GET", &read, &new, Value::Null).await.expect(200);
    web.test.clock.advance(Duration::from_mins(1));
    web.call("GET", &read, &old, Value::Null).await.expect(401);
    web.call("GET", &read, &new, Value::Null).await.expect(200);
}

#[tokio::test]
async fn the_use_of_a_key_is_noted_at_most_once_a_minute_and_revives_nothing() {
    let web = Web::start().await;
    let (id, agent) = key(&web, json!({"name": "agent", "scopes": ["ask", "read"]})).await;
    let list = "/v1/elicitations?status=pending";
    let calls = async || {
        let before = web.test.process.calls();
        web.call("GET", list, &agent, Value::Null).await.expect(200);
        web.test.process.calls() - before
    };
    let noted = calls().await;
    let at = web.api("GET", &format!("/v1/keys/{id}"), Value::Null).await.json()["last_used_at"].clone();
    assert_eq!(at, web.test.now().to_string());
    assert_eq!(calls().await, noted - 1);
    web.test.clock.advance(Duration::from_mins(1));
    assert_eq!(calls().await, noted);
}

#[tokio::test]
async fn a_key_whose_check_does_not_fit_costs_no_read() {
    let web = Web::start().await;
    let before = web.test.process.calls();
    for guess in 0..10_000_u32 {
        let edited = format!("{}{guess:06}", &web.key[..web.key.len() - 6]);
        web.call("GET", "/v1/keys", &edited, Value::Null).await.expect(401);
    }
    assert_eq!(web.test.process.calls(), before);
}

#[tokio::test]
async fn a_repeated_create_of_a_key_makes_one_and_omits_the_key() {
    let web = Web::start().await;
    let create = async |name: &str| {
        let request = Request::post("/v1/keys")
            .header("authorization", format!("Bearer {}", web.key))
            .header("idempotency-key", "k1")
            .body(Body::from(json!({"name": name, "scopes": ["ask"]}).to_string()));
        web.send(request.unwrap()).await
    };
    let first = create("agent").await.expect(201).json();
    let again = create("agent").await.expect(201).json();
    assert_eq!(first["id"], again["id"]);
    assert!(first["key"].is_string() && again["key"].is_null());
    assert_eq!(again["secret_omitted"], true);
    create("another").await.expect(422);
}

/// A tenant of that name, and its key.
async fn tenant(web: &Web, name: &str) -> String {
    let made =
        web.call("POST", "/v1/tenants", &web.operator, json!({ "name": name })).await.expect(201).json();
    let key = made["api_key"].as_str().unwrap().to_owned();
    let approver = json!({"name": "Bo", "email": "bo@example.com"});
    web.call("POST", "/v1/approvers", &key, approver).await.expect(201);
    key
}

#[tokio::test]
async fn a_suspended_tenant_asks_nothing_and_all_else_goes_on() {
    let web = Web::start().await;
    let key = tenant(&web, "acme").await;
    let session = web.call("POST", "/v1/sessions", &key, json!({})).await.expect(201).json();
    let path = format!("/t/{}/api/v1/elicitations", session["ask_token"].as_str().unwrap());
    let ask = |id: &str| json!({"message": "Send it?", "_meta": {"com.pulsemcp/request-id": id}});
    let asked = web.call("POST", &path, "", ask("r1")).await.expect(201).json();
    let suspended = web.call("POST", "/v1/tenants/acme/suspend", &web.operator, json!({})).await.expect(200);
    assert_eq!(suspended.json()["status"], "suspended");
    let refused = web.call("POST", &path, "", ask("r2")).await.expect(403);
    assert_eq!(refused.json()["code"], "tenant_suspended");
    web.call("POST", &path, "", ask("r1")).await.expect(201);
    let poll = format!("{path}/{}", asked["requestId"].as_str().unwrap());
    web.call("GET", &poll, "", Value::Null).await.expect(200);
    web.call("GET", "/v1/keys", &key, Value::Null).await.expect(200);
    web.call("POST", "/v1/tenants/acme/resume", &web.operator, json!({})).await.expect(200);
    web.call("POST", &path, "", ask("r2")).await.expect(201);
}

#[tokio::test]
async fn tenants_are_the_operators_alone() {
    let web = Web::start().await;
    for (method, path) in [
        ("GET", "/v1/tenants"),
        ("GET", "/v1/tenants/demo"),
        ("DELETE", "/v1/tenants/demo"),
        ("POST", "/v1/tenants/demo/suspend"),
        ("POST", "/v1/tenants/demo/resume"),
    ] {
        web.api(method, path, Value::Null).await.expect(401);
        web.call(method, path, "", Value::Null).await.expect(401);
    }
    let listed = web.call("GET", "/v1/tenants", &web.operator, Value::Null).await.expect(200).json();
    assert_eq!(listed["tenants"][0]["id"], "demo");
    assert_eq!(listed["tenants"][0]["status"], "active");
    web.call("GET", "/v1/tenants/nobody", &web.operator, Value::Null).await.expect(404);
}

/// Rows of a tenant that are left in the table.
async fn rows_of(web: &Web, name: &str) -> usize {
    let client = web.test.engine.as_ref().unwrap().client();
    let table = countersign_embedded::engine::TABLE;
    let all = client.scan().table_name(table).send().await.unwrap().items.unwrap();
    let prefix = format!("T#{name}#");
    all.iter().filter(|row| row["PK"].as_s().unwrap().starts_with(&prefix)).count()
}

async fn delete(web: &Web, name: &str) {
    let path = format!("/v1/tenants/{name}");
    let first = web.call("DELETE", &path, &web.operator, Value::Null).await.expect(200).json();
    assert_eq!(first["status"], "to_confirm");
    let confirmed = format!("{path}?confirm={}", first["confirm"].as_str().unwrap());
    let begun = web.call("DELETE", &confirmed, &web.operator, Value::Null).await.expect(202).json();
    assert_eq!(begun["status"], "deleting");
}

#[tokio::test]
async fn a_deletion_takes_two_steps_and_the_first_changes_nothing() {
    let web = Web::start().await;
    let key = tenant(&web, "acme").await;
    tenant(&web, "acme-2").await;
    let path = "/v1/tenants/acme";
    let first = web.call("DELETE", path, &web.operator, Value::Null).await.expect(200).json();
    web.call("GET", "/v1/keys", &key, Value::Null).await.expect(200);
    let code = first["confirm"].as_str().unwrap();
    let other = format!("/v1/tenants/acme-2?confirm={code}");
    let refused = web.call("DELETE", &other, &web.operator, Value::Null).await.expect(422);
    assert_eq!(refused.json()["code"], "wrong_confirmation");
    web.test.clock.advance(Duration::from_mins(10));
    let late = format!("{path}?confirm={code}");
    web.call("DELETE", &late, &web.operator, Value::Null).await.expect(422);
    web.call("GET", "/v1/keys", &key, Value::Null).await.expect(200);
}

#[tokio::test]
async fn a_deleted_tenant_is_let_in_nowhere_and_leaves_nothing_and_no_other_is_touched() {
    let web = Web::start().await;
    let (key, other) = (tenant(&web, "acme").await, tenant(&web, "acme-2").await);
    let session = web.call("POST", "/v1/sessions", &key, json!({})).await.expect(201).json();
    let path = format!("/t/{}/api/v1/elicitations", session["ask_token"].as_str().unwrap());
    let ask = json!({"message": "Send it?", "_meta": {"com.pulsemcp/request-id": "r1"}});
    let asked = web.call("POST", &path, "", ask.clone()).await.expect(201).json();
    web.call("POST", "/v1/elicitations", &other, question()).await.expect(201);
    let others = rows_of(&web, "acme-2").await;
    delete(&web, "acme").await;
    web.call("GET", "/v1/keys", &key, Value::Null).await.expect(401);
    web.call("POST", "/v1/elicitations", &key, question()).await.expect(401);
    web.call("POST", &path, "", ask).await.expect(401);
    web.call("POST", "/v1/tenants", &web.operator, json!({"name": "acme"})).await.expect(409);
    web.call("POST", "/v1/tenants/acme/resume", &web.operator, json!({})).await.expect(409);
    let report = web.test.app.sweep().await.unwrap();
    assert!(report.purged > 5, "{report:?}");
    assert_eq!((rows_of(&web, "acme").await, rows_of(&web, "acme-2").await), (0, others));
    web.call("GET", "/v1/tenants/acme", &web.operator, Value::Null).await.expect(404);
    let poll = format!("{path}/{}", asked["requestId"].as_str().unwrap());
    let polled = web.call("GET", &poll, "", Value::Null).await.expect(200).json();
    assert_eq!(polled["action"], "pending", "what nobody can answer any more is still no refusal");
    web.test.clock.advance(Duration::from_hours(1));
    let polled = web.call("GET", &poll, "", Value::Null).await.expect(200).json();
    assert_eq!(polled["action"], "expired");
    let again = tenant(&web, "acme").await;
    let listed =
        web.call("GET", "/v1/elicitations?status=pending", &again, Value::Null).await.expect(200).json();
    assert_eq!(listed["elicitations"], json!([]));
}

#[tokio::test]
async fn a_purge_that_dies_anywhere_is_finished_by_the_next_and_two_at_once_do_no_harm() {
    use countersign_testkit::crash::Die;
    for (call, die) in (0..40).flat_map(|call| [(call, Die::Before), (call, Die::After)]) {
        let web = Web::start().await;
        tenant(&web, "acme").await;
        let others = rows_of(&web, "demo").await;
        delete(&web, "acme").await;
        let survived = web.test.process.dying_at(call, die, web.test.app.sweep()).await;
        let (one, two) = tokio::join!(web.test.app.sweep(), web.test.app.sweep());
        assert!(one.is_ok() && two.is_ok());
        assert_eq!((rows_of(&web, "acme").await, rows_of(&web, "demo").await), (0, others), "{call} {die:?}");
        web.call("GET", "/v1/tenants/acme", &web.operator, Value::Null).await.expect(404);
        if survived.is_some() {
            return;
        }
    }
    panic!("a purge has more calls than this test looks at");
}
