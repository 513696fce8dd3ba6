//! The cases on our own routes.

use axum::body::Bytes;
use http::Request;
use serde_json::{Value, json};

use super::front::Front;
use super::{Case, case, paths, with_paths};

pub(super) const ALL: &[Case] = &[
    case("ask, answer, learn", |front| Box::pin(ask_answer_learn(front))),
    case("native: ask, read, decide, once", |front| Box::pin(native(front))),
    case("sessions and their tokens", |front| Box::pin(sessions(front))),
    case("an archived session asks nothing", |front| Box::pin(archived(front))),
    case("lists page by cursor", |front| Box::pin(lists(front))),
    case("approvers", |front| Box::pin(approvers(front))),
    case("tenants are the operator's", |front| Box::pin(tenants(front))),
    case("the page behind a notice's link", |front| Box::pin(page(front))),
    case("health", |front| Box::pin(health(front))),
    case("401 in both shapes", |front| Box::pin(unauthenticated(front))),
    case("404 in both shapes", |front| Box::pin(not_found(front))),
    case("405 names the methods", |front| Box::pin(wrong_method(front))),
    case("413 before anything else", |front| Box::pin(too_large(front))),
    case("422 points at what is wrong", |front| Box::pin(invalid(front))),
    case("bytes that are no text are 400", |front| Box::pin(no_text(front))),
    case("a body that travels as base64", |front| Box::pin(base64_body(front))),
    case("text of every script", |front| Box::pin(every_script(front))),
    case("a repeated credential is none", |front| Box::pin(repeated_credential(front))),
    case("a repeated header is one list", |front| Box::pin(repeated_header(front))),
    case("cookies disturb nothing", |front| Box::pin(cookies(front))),
    case("query strings are decoded once", |front| Box::pin(queries(front))),
    case("HEAD is GET without a body", |front| Box::pin(head(front))),
    case("an encoded letter is that letter", |front| Box::pin(paths::encoded_letter(front))),
    case("a slash at the end of a poll", |front| Box::pin(paths::slash_at_the_end(front))),
    case("bytes that are no text in a path", |front| Box::pin(paths::no_text(front))),
    case("a space in a path", |front| Box::pin(paths::space(front))),
    with_paths("reserved characters in a path", |front| Box::pin(paths::reserved(front))),
    with_paths("an encoded slash is no slash", |front| Box::pin(paths::slash(front))),
];

pub(super) fn ask(request_id: &str) -> Value {
    json!({
        "mode": "form", "message": "Send the secret plan?",
        "requestedSchema": {"type": "object", "properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"]},
        "_meta": {"com.pulsemcp/request-id": request_id, "com.pulsemcp/tool-name": "send_email"}
    })
}

/// A new session, and the path that its asker posts to.
pub(super) async fn session(front: &Front<'_>) -> (Value, String) {
    let opened = front.api("POST", "/v1/sessions", json!({})).await.expect(201).json();
    let path = format!("/t/{}/api/v1/elicitations", opened["ask_token"].as_str().unwrap());
    (opened, path)
}

fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member].as_str().unwrap()
}

fn raw(method: &str, path: &str, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Request<Bytes> {
    let request = Request::builder().method(method).uri(path);
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    request.body(body.into()).unwrap()
}

async fn ask_answer_learn(front: &Front<'_>) {
    let (_, path) = session(front).await;
    let asked = front.call("POST", &path, "", ask("r1")).await.expect(201).json();
    let poll = format!("{path}/{}", text(&asked, "requestId"));
    let pending = front.call("GET", &poll, "", Value::Null).await.expect(200).json();
    assert_eq!(pending["action"], "pending");
    let again = front.call("POST", &path, "", ask("r1")).await.expect(201).json();
    assert_eq!(again["requestId"], asked["requestId"]);
    let respond = format!("/api/v1/elicitations/{}/respond", text(&asked, "requestId"));
    let wrong = json!({"action_type": "accept", "content": {"confirm": "yes"}});
    front.api("PATCH", &respond, wrong).await.expect(422);
    let right = json!({"action_type": "accept", "content": {"confirm": true}});
    front.api("PATCH", &respond, right).await.expect(200);
    let learned = front.call("GET", &poll, "", Value::Null).await.expect(200).json();
    assert_eq!((text(&learned, "action"), &learned["content"]), ("accept", &json!({"confirm": true})));
    let by_key = format!("/api/v1/elicitations/{}", text(&asked, "requestId"));
    assert_eq!(front.get(&by_key).await.expect(200).json()["action"], "accept");
}

async fn native(front: &Front<'_>) {
    let asked = front.api("POST", "/v1/elicitations", json!({"message": "Delete?"})).await.expect(201).json();
    let path = format!("/v1/elicitations/{}", text(&asked, "id"));
    let read = front.get(&path).await.expect(200).json();
    assert_eq!((text(&read, "status"), &read["reference"]), ("pending", &asked["reference"]));
    let by_reference = format!("/v1/elicitations/{}/respond", text(&asked, "reference"));
    front.api("POST", &by_reference, json!({"action": "decline", "reason": "no"})).await.expect(200);
    let late = front.api("POST", &format!("{path}/respond"), json!({"action": "accept"})).await.expect(409);
    assert_eq!(late.json()["winner"]["status"], "decline");
    let other = front.api("POST", "/v1/elicitations", json!({"message": "Delete?"})).await.expect(201).json();
    let withdraw = format!("/v1/elicitations/{}/withdraw", text(&other, "id"));
    let ended = front.api("POST", &withdraw, Value::Null).await.expect(200).json();
    assert_eq!(ended["status"], "cancel");
}

async fn sessions(front: &Front<'_>) {
    let (opened, path) = session(front).await;
    let at = format!("/v1/sessions/{}", text(&opened, "name"));
    assert_eq!(front.get(&at).await.expect(200).json()["id"], opened["id"]);
    let added = front.api("POST", &format!("{at}/tokens"), json!({})).await.expect(201).json();
    assert_ne!(added["ask_token"], opened["ask_token"]);
    let first = format!("{at}/tokens/{}", text(&opened, "ask_token_id"));
    let gone = front.api("DELETE", &first, Value::Null).await.expect(204);
    assert!(gone.bytes.is_empty());
    front.call("POST", &path, "", ask("r1")).await.expect(401);
    front.api("POST", &format!("{at}/resume"), json!({})).await.expect(200);
}

async fn archived(front: &Front<'_>) {
    let (opened, path) = session(front).await;
    let archive = format!("/v1/sessions/{}/archive", text(&opened, "name"));
    front.api("POST", &archive, Value::Null).await.expect(200);
    let refused = front.call("POST", &path, "", ask("r1")).await.expect(401);
    assert_eq!(refused.json()["code"], "unauthenticated");
}

async fn lists(front: &Front<'_>) {
    let (opened, _) = session(front).await;
    let mut ids = vec![];
    for n in 0..3 {
        let body = json!({"message": format!("q{n}"), "session": opened["name"]});
        ids.push(front.api("POST", "/v1/elicitations", body).await.expect(201).json()["id"].clone());
    }
    let list = format!("/v1/elicitations?session={}&limit=2", text(&opened, "name"));
    let first = front.get(&list).await.expect(200).json();
    let next = format!("{list}&cursor={}", text(&first, "next_cursor"));
    let second = front.get(&next).await.expect(200).json();
    let of = |page: &Value| page["elicitations"].as_array().unwrap().clone();
    let mut listed: Vec<_> = [of(&first), of(&second)].concat().iter().map(|one| one["id"].clone()).collect();
    listed.sort_by_key(|id| ids.iter().position(|known| known == id));
    assert_eq!(listed, ids);
    assert!(!of(&front.get("/v1/elicitations?status=pending").await.expect(200).json()).is_empty());
}

async fn approvers(front: &Front<'_>) {
    let bo = json!({"name": "Bo", "email": "bo@example.com"});
    front.api("POST", "/v1/approvers", bo).await.expect(201);
    let all = front.get("/v1/approvers").await.expect(200).json();
    assert!(all["approvers"].as_array().unwrap().iter().any(|one| one["name"] == "Bo"));
}

async fn tenants(front: &Front<'_>) {
    let name = format!("t-{}", front.name.bytes().map(u32::from).sum::<u32>());
    let body = json!({"name": name});
    front.call("POST", "/v1/tenants", &front.key, body.clone()).await.expect(401);
    let made = front.call("POST", "/v1/tenants", &front.operator, body.clone()).await.expect(201).json();
    front.call("POST", "/v1/tenants", &front.operator, body).await.expect(409);
    front.call("GET", "/v1/tenants", &front.operator, Value::Null).await.expect(200);
    let key = text(&made, "api_key");
    let nobody = front.call("POST", "/v1/elicitations", key, json!({"message": "m"})).await.expect(422);
    assert_eq!(nobody.json()["code"], "no_route");
}

async fn page(front: &Front<'_>) {
    let page = front.call("GET", "/d/demo/K7Q-4MD", "", Value::Null).await.expect(303);
    assert_eq!(page.headers["location"], "/signin/demo?to=K7Q-4MD");
    assert!(page.headers["content-security-policy"].to_str().unwrap().contains("default-src 'none'"));
    let page = front.call("GET", "/signin/demo?to=K7Q-4MD", "", Value::Null).await.expect(200);
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    assert!(String::from_utf8(page.bytes).unwrap().contains("K7Q-4MD"));
    let foreign = front.call("POST", "/signin/demo", "", Value::Null).await.expect(403);
    assert_eq!(foreign.headers["content-type"], "text/html; charset=utf-8");
}

async fn health(front: &Front<'_>) {
    assert_eq!(front.call("GET", "/healthz", "", Value::Null).await.expect(200).json()["status"], "ok");
    assert_eq!(front.call("GET", "/readyz", "", Value::Null).await.expect(200).json()["status"], "ready");
}

async fn unauthenticated(front: &Front<'_>) {
    let native = front.call("GET", "/v1/approvers", "nonsense", Value::Null).await.expect(401);
    assert_eq!(native.headers["content-type"], "application/problem+json");
    assert_eq!(native.headers["www-authenticate"], "Bearer");
    let fallback = front.call("POST", "/t/nonsense/api/v1/elicitations", "", ask("r1")).await.expect(401);
    assert_eq!(fallback.headers["content-type"], "application/json");
    assert!(fallback.json()["messages"].is_array());
    front.call("GET", "/api/v1/elicitations/r1", "", Value::Null).await.expect(401);
}

async fn not_found(front: &Front<'_>) {
    let native = front.get("/v1/elicitations/el_nothing").await.expect(404);
    assert_eq!(native.headers["content-type"], "application/problem+json");
    let (_, path) = session(front).await;
    let fallback = front.call("GET", &format!("{path}/nothing"), "", Value::Null).await.expect(404);
    assert!(fallback.json()["messages"].is_array());
    assert_eq!(front.get("/nowhere").await.expect(404).json()["code"], "not_found");
    front.api("POST", "/v1/elicitations/el_nothing/respond", json!({"action": "accept"})).await.expect(404);
}

async fn wrong_method(front: &Front<'_>) {
    let native = front.api("PUT", "/v1/sessions", Value::Null).await.expect(405);
    assert_eq!(
        (native.json()["code"].as_str(), &native.headers["allow"]),
        (Some("method_not_allowed"), &"POST".parse().unwrap())
    );
    let fallback = front.api("GET", "/api/v1/elicitations/r1/respond", Value::Null).await.expect(405);
    assert_eq!(fallback.headers["allow"], "PATCH");
}

async fn too_large(front: &Front<'_>) {
    let big = format!("{{\"message\":\"{}\"}}", "x".repeat(70_000));
    let json = [("content-type", "application/json")];
    let forged = raw("POST", "/t/forged/api/v1/elicitations", &json, big.clone());
    let refused = front.ours(forged).await.expect(413);
    assert_eq!(refused.json()["code"], "body_too_large");
    let native = front.ours(raw("POST", "/v1/elicitations", &json, big)).await.expect(413);
    assert_eq!(native.headers["content-type"], "application/problem+json");
}

async fn invalid(front: &Front<'_>) {
    let native = front.api("POST", "/v1/elicitations", json!({"message": 7})).await.expect(422).json();
    assert_eq!(native["errors"][0]["pointer"], "/message");
    let (_, path) = session(front).await;
    front.call("POST", &path, "", json!({})).await.expect(422);
    front.get("/v1/elicitations?status=pending&nonsense=1").await.expect(422);
    front.get("/v1/elicitations?limit=2&limit=3&status=pending").await.expect(422);
}

async fn no_text(front: &Front<'_>) {
    let (_, path) = session(front).await;
    let bytes: &[u8] = b"{\"message\": \"\xff\xfe\"}";
    for media_type in ["application/json", "application/octet-stream"] {
        let request = raw("POST", &path, &[("content-type", media_type)], bytes);
        assert!(front.ours(request).await.expect(400).json()["messages"].is_array());
    }
    let cut = raw("POST", &path, &[("content-type", "application/json")], &b"{\"message\": "[..]);
    front.ours(cut).await.expect(400);
    front.ours(raw("POST", &path, &[], Bytes::new())).await.expect(400);
}

async fn base64_body(front: &Front<'_>) {
    let (_, path) = session(front).await;
    let body = ask("r1").to_string();
    let request = raw("POST", &path, &[("content-type", "application/octet-stream")], body);
    front.ours(request).await.expect(201);
}

async fn every_script(front: &Front<'_>) {
    let (opened, path) = session(front).await;
    let body = json!({"message": "Größe 大小 حجم 🚀\u{0301}?", "session": opened["name"]});
    let asked = front.api("POST", "/v1/elicitations", body).await.expect(201).json();
    let id = "r/ä 大 %";
    front.call("POST", &path, "", ask(id)).await.expect(201);
    let read = front.get(&format!("/v1/elicitations/{}", text(&asked, "id"))).await.expect(200).json();
    assert_eq!(read["id"], asked["id"]);
}

async fn repeated_credential(front: &Front<'_>) {
    let bearer = format!("Bearer {}", front.key);
    let twice = [("authorization", bearer.as_str()), ("authorization", bearer.as_str())];
    front.ours(raw("GET", "/v1/approvers", &twice, Bytes::new())).await.expect(401);
    let twice = [("x-api-key", front.key.as_str()), ("x-api-key", front.key.as_str())];
    front.ours(raw("GET", "/v1/approvers", &twice, Bytes::new())).await.expect(401);
    front.ours(raw("GET", "/v1/approvers", &twice[..1], Bytes::new())).await.expect(200);
}

async fn repeated_header(front: &Front<'_>) {
    let bearer = format!("Bearer {}", front.key);
    let body = json!({"message": front.name}).to_string();
    let post = |keys: &[&str]| {
        let keys = keys.iter().map(|key| ("idempotency-key", *key));
        let headers: Vec<_> = std::iter::once(("authorization", bearer.as_str())).chain(keys).collect();
        raw("POST", "/v1/elicitations", &headers, body.clone())
    };
    let (one, other) = (format!("{} 1", front.name), format!("{} 2", front.name));
    let repeated = front.ours(post(&[&one, &other])).await.expect(201).json();
    let joined = front.ours(post(&[&format!("{one},{other}")])).await.expect(201).json();
    assert_eq!(repeated["id"], joined["id"]);
    let first = front.ours(post(&[&one])).await.expect(201).json();
    assert_ne!(first["id"], joined["id"]);
}

async fn cookies(front: &Front<'_>) {
    let headers = [("cookie", "s=1; t=2"), ("cookie", "u=\"3\""), ("x-a", "1"), ("x-a", "2")];
    let reply = front.ours(raw("GET", "/healthz", &headers, Bytes::new())).await.expect(200);
    assert!(!reply.headers.contains_key("set-cookie"));
}

async fn queries(front: &Front<'_>) {
    front.get("/v1/elicitations?status=pe%6Eding&limit=%32").await.expect(200);
    front.get("/v1/elicitations?session=a+b").await.expect(404);
    front.get("/v1/elicitations?session=a%2520b").await.expect(404);
    front.get("/v1/elicitations?status=pending&cursor=%ff").await.expect(422);
    front.get("/v1/elicitations").await.expect(422);
    front.get("/v1/elicitations?").await.expect(422);
}

async fn head(front: &Front<'_>) {
    for path in ["/healthz", "/v1/approvers"] {
        let reply = front.api("HEAD", path, Value::Null).await.expect(200);
        assert!(reply.bytes.is_empty());
        assert_eq!(reply.headers["content-type"], "application/json");
    }
    let refused = front.call("HEAD", "/v1/approvers", "nonsense", Value::Null).await.expect(401);
    assert!(refused.bytes.is_empty());
}
