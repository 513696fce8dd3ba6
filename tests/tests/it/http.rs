//! The wire, route by route (PROTOCOL.md sections 0 to 3), through the router.

use axum::body::Body;
use countersign_testkit::{TestApp, Web};
use http::Request;
use http::header::{ACCEPT, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use serde_json::{Value, json};
use std::time::Duration;

fn confirm() -> Value {
    json!({"type": "object", "properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"]})
}

fn ask(request_id: &str) -> Value {
    json!({
        "mode": "form", "message": "Send it?", "requestedSchema": confirm(),
        "_meta": {"com.pulsemcp/request-id": request_id, "com.pulsemcp/tool-name": "send_email"}
    })
}

#[tokio::test]
async fn every_answer_carries_the_common_headers() {
    let web = Web::start().await;
    let (_, path) = web.session().await;
    for reply in [
        web.api("GET", "/healthz", Value::Null).await,
        web.api("GET", "/nowhere", Value::Null).await,
        web.call("POST", &path, "", json!({})).await,
        web.api("DELETE", "/v1/elicitations", Value::Null).await,
    ] {
        assert_eq!(reply.headers["cache-control"], "no-store");
        assert_eq!(reply.headers["x-content-type-options"], "nosniff");
        assert!(reply.headers["request-id"].to_str().unwrap().starts_with("req_"));
    }
}

#[tokio::test]
async fn each_route_family_has_its_own_error_shape() {
    let web = Web::start().await;
    let native = web.api("GET", "/v1/elicitations/el_nothing", Value::Null).await.expect(404);
    assert_eq!(native.headers["content-type"], "application/problem+json");
    assert_eq!(native.json()["code"], "not_found");
    let fallback = web.call("GET", "/t/nonsense/api/v1/elicitations/x", "", Value::Null).await.expect(401);
    assert_eq!(fallback.json()["code"], "unauthenticated");
    assert!(fallback.json()["messages"].is_array());
    let wrong_method = web.api("PUT", "/v1/sessions", Value::Null).await.expect(405);
    assert_eq!(wrong_method.json()["code"], "method_not_allowed");
    assert_eq!(wrong_method.headers["allow"], "POST");
}

#[tokio::test]
async fn checks_come_in_their_order() {
    let web = Web::start().await;
    let (_, path) = web.session().await;
    let post = |path: &str, key: &str, body: String| {
        let mut request = Request::post(path);
        if !key.is_empty() {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        request.body(Body::from(body)).unwrap()
    };
    let big = format!("{{\"message\":\"{}\"}}", "x".repeat(70_000));
    web.send(post("/t/forged/api/v1/elicitations", "", big.clone())).await.expect(413);
    web.send(post("/t/forged/api/v1/elicitations", "", "{".into())).await.expect(401);
    web.send(post(&path, "", "{".into())).await.expect(400);
    web.send(post("/v1/elicitations", "", big)).await.expect(413);
    web.send(post("/v1/elicitations", "nonsense", "{".into())).await.expect(401);
    web.send(post("/v1/elicitations", &web.key, "{".into())).await.expect(400);
    web.send(post("/v1/elicitations", &web.key, "{}".into())).await.expect(422);
    let unknown = json!({"action": 7});
    web.api("POST", "/v1/elicitations/el_nothing/respond", unknown).await.expect(404);
}

#[tokio::test]
async fn a_session_of_another_name_is_refused_before_its_schema_is_looked_at() {
    let web = Web::start().await;
    let (_, path) = web.session().await;
    let mut body = ask("r1");
    body["_meta"]["com.pulsemcp/session-id"] = json!("another");
    body["requestedSchema"] = json!({"type": "nonsense"});
    web.call("POST", &path, "", body).await.expect(403);
}

#[tokio::test]
async fn a_poll_is_answered_pending_whatever_the_store_does() {
    use countersign_app::Settings;
    use countersign_embedded::faults::{Fault, Op};
    let mut test = TestApp::start().await;
    let hurried = Duration::from_millis(50); // what the fault that never answers waits for
    test.app.settings =
        std::sync::Arc::new(Settings { poll_store_limit: hurried, ..(*test.app.settings).clone() });
    let web = Web::over(test);
    let (_, path) = web.session().await;
    let id = web.call("POST", &path, "", ask("r1")).await.expect(201).json()["requestId"].clone();
    let poll = format!("{path}/{}", id.as_str().unwrap());
    for fault in [Fault::Throttle, Fault::Error, Fault::Timeout, Fault::Conflict] {
        web.test.faults.set(Op::Any, fault, 3);
        let reply = web.call("GET", &poll, "", Value::Null).await.expect(200);
        assert_eq!(reply.json()["action"], "pending", "{fault:?}");
        web.test.faults.set(Op::Any, Fault::Error, 0);
    }
    let by_own_id = format!("{path}/r1");
    web.test.faults.set(Op::Get, Fault::Error, 1);
    let reply = web.call("GET", &by_own_id, "", Value::Null).await.expect(200);
    assert_eq!(reply.json()["action"], "pending");
}

#[tokio::test]
async fn a_handle_that_does_not_open_costs_no_read() {
    let web = Web::start().await;
    let (_, path) = web.session().await;
    let id = web.call("POST", &path, "", ask("r1")).await.expect(201).json()["requestId"].clone();
    let before = web.test.process.calls();
    let edited = format!("{path}/{}x", id.as_str().unwrap());
    web.call("GET", &edited, "", Value::Null).await.expect(404);
    web.call("GET", "/t/cst_forged/api/v1/elicitations/ph_x", "", Value::Null).await.expect(401);
    assert_eq!(web.test.process.calls(), before);
}

#[tokio::test]
async fn the_last_call_is_held_until_the_answer_and_only_one_read_is_held() {
    let web = Web::start().await;
    let (_, path) = web.session().await;
    let id = web.call("POST", &path, "", ask("r1")).await.expect(201).json()["requestId"].clone();
    let poll = format!("{path}/{}", id.as_str().unwrap());
    web.test.clock.advance(Duration::from_secs(3600 - 10));
    let began = web.test.now();
    let reply = web.call("GET", &poll, "", Value::Null).await.expect(200);
    assert_eq!(reply.json()["action"], "expired", "held to the deadline, then told the truth");
    assert_eq!(web.test.now().since(began), Duration::from_secs(10));

    let (_, path) = web.session().await;
    let id = web.call("POST", &path, "", ask("r1")).await.expect(201).json()["requestId"].clone();
    let poll = format!("{path}/{}", id.as_str().unwrap());
    web.test.clock.advance(Duration::from_secs(3600 - 10));
    let began = web.test.now();
    let (held, other) =
        tokio::join!(web.call("GET", &poll, "", Value::Null), web.call("GET", &poll, "", Value::Null));
    let actions = [held.json()["action"].clone(), other.json()["action"].clone()];
    assert!(actions.contains(&json!("pending")) && actions.contains(&json!("expired")), "{actions:?}");
    assert!(web.test.now().since(began) <= Duration::from_secs(11));
}

#[tokio::test]
async fn a_clock_that_steps_back_does_not_prolong_a_hold() {
    let web = Web::start().await;
    let (_, path) = web.session().await;
    let id = web.call("POST", &path, "", ask("r1")).await.expect(201).json()["requestId"].clone();
    let poll = format!("{path}/{}", id.as_str().unwrap());
    web.test.clock.advance(Duration::from_secs(3600 - 10));
    let began = web.test.now();
    let step_back = async {
        while web.test.now() == began {
            tokio::task::yield_now().await; // a held read moves the clock with its first step
        }
        web.test.clock.step_back(Duration::from_mins(10));
    };
    let (reply, ()) = tokio::join!(web.call("GET", &poll, "", Value::Null), step_back);
    assert_eq!(reply.expect(200).json()["action"], "pending");
}

#[tokio::test]
async fn a_request_that_the_store_never_answers_is_told_so() {
    use countersign_app::Settings;
    use countersign_embedded::faults::{Fault, Op};
    let mut test = TestApp::start().await;
    let hurried = Duration::from_millis(200);
    test.app.settings =
        std::sync::Arc::new(Settings { request_limit: hurried, ..(*test.app.settings).clone() });
    let web = Web::over(test);
    web.test.faults.set(Op::Any, Fault::Timeout, 1);
    let reply = web.api("POST", "/v1/elicitations", json!({"message": "Delete?"})).await.expect(503);
    assert_eq!(reply.json()["code"], "unavailable");
    assert_eq!(reply.headers["retry-after"], "2");
}

#[tokio::test]
async fn a_question_is_answered_by_its_reference() {
    let web = Web::start().await;
    let created = web.api("POST", "/v1/elicitations", json!({"message": "Delete?"})).await.expect(201).json();
    let reference = created["reference"].as_str().unwrap().to_lowercase().replace('-', "");
    let path = format!("/v1/elicitations/{reference}/respond");
    let view = web.api("POST", &path, json!({"action": "decline", "reason": "no"})).await.expect(200).json();
    assert_eq!((view["status"].as_str(), view["reason"].as_str()), (Some("decline"), Some("no")));
    let read = web.api("GET", &format!("/v1/elicitations/{reference}"), Value::Null).await.expect(200).json();
    assert_eq!(read["id"], created["id"]);
}

#[tokio::test]
async fn a_settled_question_names_its_winner() {
    let web = Web::start().await;
    let created = web.api("POST", "/v1/elicitations", json!({"message": "Delete?"})).await.expect(201).json();
    let path = format!("/v1/elicitations/{}/respond", created["id"].as_str().unwrap());
    web.api("POST", &path, json!({"action": "accept"})).await.expect(200);
    web.api("POST", &path, json!({"action": "accept"})).await.expect(200);
    let late = web.api("POST", &path, json!({"action": "decline"})).await.expect(409).json();
    assert_eq!(late["code"], "already_settled");
    assert_eq!(late["winner"]["status"], "accept");
}

#[tokio::test]
async fn an_outcome_is_acknowledged_by_whoever_asked_and_only_once_there_is_one() {
    let web = Web::start().await;
    let created = web.api("POST", "/v1/elicitations", json!({"message": "Delete?"})).await.expect(201).json();
    let path = format!("/v1/elicitations/{}", created["id"].as_str().unwrap());
    let early = web.api("POST", &format!("{path}/ack"), json!({})).await.expect(409).json();
    assert_eq!(early["code"], "not_settled");
    web.api("POST", &format!("{path}/respond"), json!({"action": "accept"})).await.expect(200);
    let first = web.api("POST", &format!("{path}/ack"), json!({})).await.expect(200).json();
    web.test.clock.advance(Duration::from_secs(5));
    let again = web.api("POST", &format!("{path}/ack"), json!({})).await.expect(200).json();
    assert!(first["collected_at"].is_string());
    assert_eq!(first["collected_at"], again["collected_at"]);
    web.api("POST", "/v1/elicitations/el_00000000000000000000000000/ack", json!({})).await.expect(404);
}

#[tokio::test]
async fn a_native_answer_at_the_deadline_is_gone() {
    let web = Web::start().await;
    let body = json!({"message": "Delete?", "expires_in_seconds": 60});
    let created = web.api("POST", "/v1/elicitations", body).await.expect(201).json();
    let path = format!("/v1/elicitations/{}/respond", created["id"].as_str().unwrap());
    web.test.clock.advance(Duration::from_mins(1));
    let late = web.api("POST", &path, json!({"action": "accept"})).await.expect(410).json();
    assert_eq!(late["code"], "too_late");
}

#[tokio::test]
async fn an_idempotent_create_is_one_question_and_another_body_is_refused() {
    let web = Web::start().await;
    let post = |body: Value| {
        Request::post("/v1/elicitations")
            .header("authorization", format!("Bearer {}", web.key))
            .header("idempotency-key", "k 1")
            .body(Body::from(body.to_string()))
            .unwrap()
    };
    let first = web.send(post(json!({"message": "a"}))).await.expect(201).json();
    let again = web.send(post(json!({"message": "a"}))).await.expect(201).json();
    assert_eq!(first["id"], again["id"]);
    let other = web.send(post(json!({"message": "b"}))).await.expect(422).json();
    assert_eq!(other["code"], "idempotency_key_reused");
}

#[tokio::test]
async fn an_idempotent_session_is_one_session_whose_token_is_shown_once() {
    let web = Web::start().await;
    let post = |path: &str, body: Value| {
        Request::post(path)
            .header("authorization", format!("Bearer {}", web.key))
            .header("idempotency-key", "k")
            .body(Body::from(body.to_string()))
            .unwrap()
    };
    let first = web.send(post("/v1/sessions", json!({"title": "a"}))).await.expect(201).json();
    let again = web.send(post("/v1/sessions", json!({"title": "a"}))).await.expect(201).json();
    assert_eq!(first["id"], again["id"]);
    assert_eq!((again["secret_omitted"].as_bool(), again.get("ask_token")), (Some(true), None));
    let other = web.send(post("/v1/sessions", json!({"title": "b"}))).await.expect(422).json();
    assert_eq!(other["code"], "idempotency_key_reused");
    let bo = json!({"name": "Bo", "email": "bo@example.com"});
    let one = web.send(post("/v1/approvers", bo.clone())).await.expect(201).json();
    assert_eq!(one, web.send(post("/v1/approvers", bo)).await.expect(201).json());
    web.send(post("/v1/approvers", json!({"name": "Al"}))).await.expect(422);
    let all = web.api("GET", "/v1/approvers", Value::Null).await.expect(200).json();
    assert_eq!(all["approvers"].as_array().unwrap().len(), 2, "the first one and Bo");
}

#[tokio::test]
async fn a_mistyped_address_is_a_page_for_a_browser_and_a_problem_for_a_program() {
    let web = Web::start().await;
    let get = async |accept: &str| {
        let request = Request::get("/nowhere").header(ACCEPT, accept).body(Body::empty()).unwrap();
        web.send(request).await.expect(404)
    };
    let page = get("text/html,application/xhtml+xml;q=0.9,*/*;q=0.8").await;
    assert!(page.headers[CONTENT_TYPE].to_str().unwrap().starts_with("text/html"));
    assert!(page.headers.contains_key(CONTENT_SECURITY_POLICY));
    for accept in ["*/*", "application/json", "application/json, text/plain"] {
        assert_eq!(get(accept).await.json()["code"], "not_found", "{accept}");
    }
}

#[tokio::test]
async fn a_path_that_cannot_be_read_is_an_unknown_path() {
    let web = Web::start().await;
    let odd = web.api("GET", "/v1/elicitations/%ff", Value::Null).await.expect(404);
    assert_eq!(odd.json()["code"], "not_found");
}

#[tokio::test]
async fn a_replay_is_answered_even_where_a_new_question_would_be_refused() {
    let web = Web::start().await;
    let (_, path) = web.session().await;
    let first = web.call("POST", &path, "", ask("r0")).await.expect(201).json();
    for n in 1..5 {
        web.call("POST", &path, "", ask(&format!("r{n}"))).await.expect(201);
    }
    let full = web.call("POST", &path, "", ask("r5")).await.expect(422).json();
    assert_eq!(full["code"], "too_many_open");
    let again = web.call("POST", &path, "", ask("r0")).await.expect(201).json();
    assert_eq!(first, again);
}

#[tokio::test]
async fn a_revoked_token_creates_nothing_and_polls_what_it_asked() {
    let web = Web::start().await;
    let (session, path) = web.session().await;
    let id = web.call("POST", &path, "", ask("r1")).await.expect(201).json()["requestId"].clone();
    let name = session["name"].as_str().unwrap();
    let token_id = session["ask_token_id"].as_str().unwrap();
    web.api("DELETE", &format!("/v1/sessions/{name}/tokens/{token_id}"), Value::Null).await.expect(204);
    web.call("POST", &path, "", ask("r2")).await.expect(401);
    let poll = format!("{path}/{}", id.as_str().unwrap());
    assert_eq!(web.call("GET", &poll, "", Value::Null).await.expect(200).json()["action"], "pending");
}

#[tokio::test]
async fn a_tenant_and_an_operator_never_pass_for_each_other() {
    let web = Web::start().await;
    let name = json!({"name": "acme"});
    web.call("POST", "/v1/tenants", &web.key, name.clone()).await.expect(401);
    let acme = web.call("POST", "/v1/tenants", &web.operator, name.clone()).await.expect(201).json();
    web.call("POST", "/v1/tenants", &web.operator, name).await.expect(409);
    web.call("POST", "/v1/elicitations", &web.operator, json!({"message": "m"})).await.expect(401);
    let key = acme["api_key"].as_str().unwrap();
    let refused = web.call("POST", "/v1/elicitations", key, json!({"message": "m"})).await.expect(422).json();
    assert_eq!(refused["code"], "no_route", "a tenant without an approver has nobody to ask");
    let bo = json!({"name": "Bo", "email": "bo@example.com"});
    web.call("POST", "/v1/approvers", key, bo).await.expect(201);
    let theirs = web.call("POST", "/v1/elicitations", key, json!({"message": "m"})).await.expect(201).json();
    let path = format!("/v1/elicitations/{}", theirs["id"].as_str().unwrap());
    let foreign = web.api("GET", &path, Value::Null).await.expect(404);
    let absent =
        web.api("GET", "/v1/elicitations/el_00000000000000000000000000", Value::Null).await.expect(404);
    assert_eq!(foreign.bytes, absent.bytes);
    let itself =
        web.call("POST", &format!("{path}/respond"), key, json!({"action": "accept"})).await.expect(403);
    assert_eq!(itself.json()["code"], "self_approval", "new tenants do not let an asker decide");
}

#[tokio::test]
async fn lists_page_through_what_is_pending_and_through_a_session() {
    let web = Web::start().await;
    let (session, _) = web.session().await;
    let name = session["name"].as_str().unwrap();
    let mut ids = vec![];
    for n in 0..5 {
        let body = json!({"message": format!("q{n}"), "session": name});
        ids.push(web.api("POST", "/v1/elicitations", body).await.expect(201).json()["id"].clone());
        web.test.clock.advance(Duration::from_secs(1));
    }
    let done = format!("/v1/elicitations/{}/respond", ids[0].as_str().unwrap());
    web.api("POST", &done, json!({"action": "cancel"})).await.expect(200);
    let mut seen = vec![];
    let mut next = String::new();
    loop {
        let page =
            web.api("GET", &format!("/v1/elicitations?status=pending&limit=2{next}"), Value::Null).await;
        let page = page.expect(200).json();
        seen.extend(page["elicitations"].as_array().unwrap().iter().map(|one| one["id"].clone()));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        next = format!("&cursor={cursor}");
    }
    assert_eq!(seen, ids[1..]);
    let all =
        web.api("GET", &format!("/v1/elicitations?session={name}"), Value::Null).await.expect(200).json();
    assert_eq!(all["elicitations"].as_array().unwrap().len(), 5);
    web.api("GET", "/v1/elicitations", Value::Null).await.expect(422);
    web.api("GET", "/v1/elicitations?status=pending&cursor=forged", Value::Null).await.expect(422);
}

#[tokio::test]
async fn a_read_scope_sees_what_is_asked_and_how_people_were_told_and_no_address() {
    let web = Web::start().await;
    let created = web.api("POST", "/v1/elicitations", json!({"message": "Delete?"})).await.expect(201).json();
    web.test.drain().await;
    let path = format!("/v1/elicitations/{}", created["id"].as_str().unwrap());
    let view = web.api("GET", &path, Value::Null).await.expect(200).json();
    assert_eq!(view["deliveries"][0]["status"], "sent");
    assert_eq!(view["deliveries"][0]["target_masked"], "y***@localhost");
    assert_eq!(view["question"]["message"], "Delete?");
}
