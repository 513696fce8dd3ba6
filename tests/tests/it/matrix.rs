//! Who is let in where: every route × every class of credential × own, foreign and absent objects (RELIABILITY.md rows
//! 1, 6 and 9). The rows are made from the router's own table: a route without a row here is a failed test.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use countersign_http::routes::{ROUTES, Route};
use countersign_testkit::app::START;
use countersign_testkit::person::{PAGE_ORIGIN, Person as Visitor};
use countersign_testkit::web::Reply;
use countersign_testkit::{MockClock, TestApp, Web};
use http::Request;
use serde_json::{Value, json};

use crate::memory::MemoryTable;

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Door {
    /// Anybody.
    Open,
    /// Whoever has the ask token in the path.
    AskToken,
    /// A caller of the tenant with one of these scopes.
    Scopes(&'static [&'static str]),
    /// The operator.
    Operator,
    /// Whoever signs as an endpoint of the tenant.
    Signature,
    /// A person who is signed in.
    Person,
    /// A page of ours, whoever sits before it.
    OurPage,
}
use Door::{AskToken, Open, Operator, OurPage, Person, Scopes, Signature};

/// Every route, who may use it, and what it answers those who may on an object of their own with the body of [`body`].
const ROWS: &[(&str, Door, u16)] = &[
    ("POST /t/{token}/api/v1/elicitations", AskToken, 201),
    ("POST /api/v1/elicitations", Scopes(&["ask"]), 201),
    ("POST /v1/elicitations", Scopes(&["ask"]), 201),
    ("GET /t/{token}/api/v1/elicitations/{id}", AskToken, 200),
    ("GET /t/{token}/api/v1/elicitations/{id}/", AskToken, 200),
    ("GET /api/v1/elicitations/{id}", Scopes(&["ask", "read"]), 200),
    ("GET /api/v1/elicitations/{id}/", Scopes(&["ask", "read"]), 200),
    ("GET /v1/elicitations", Scopes(&["read", "ask"]), 200),
    ("GET /v1/elicitations/{id}", Scopes(&["read", "ask"]), 200),
    ("GET /healthz", Open, 200),
    ("GET /readyz", Open, 200),
    ("PATCH /api/v1/elicitations/{id}/respond", Scopes(&["decide"]), 200),
    ("POST /v1/elicitations/{id}/respond", Scopes(&["decide"]), 200),
    ("POST /v1/elicitations/{id}/withdraw", Scopes(&["ask"]), 200),
    ("POST /v1/elicitations/{id}/ack", Scopes(&["ask"]), 409),
    ("POST /v1/inbound/{endpoint}", Signature, 401),
    ("POST /v1/sessions", Scopes(&["ask"]), 201),
    ("GET /v1/sessions/{session}", Scopes(&["read", "ask", "manage"]), 200),
    ("POST /v1/sessions/{session}/resume", Scopes(&["ask", "manage"]), 200),
    ("POST /v1/sessions/{session}/archive", Scopes(&["ask", "manage"]), 200),
    ("POST /v1/sessions/{session}/tokens", Scopes(&["ask", "manage"]), 201),
    ("DELETE /v1/sessions/{session}/tokens/{token_id}", Scopes(&["ask", "manage"]), 204),
    ("POST /v1/sessions/{session}/unmute", Scopes(&["manage"]), 200),
    ("GET /v1/approvers", Scopes(&["manage"]), 200),
    ("POST /v1/approvers", Scopes(&["manage"]), 201),
    ("GET /v1/approvers/{id}", Scopes(&["manage"]), 200),
    ("PATCH /v1/approvers/{id}", Scopes(&["manage"]), 200),
    ("DELETE /v1/approvers/{id}", Scopes(&["manage"]), 204),
    ("DELETE /v1/approvers/{id}/passkeys", Scopes(&["manage"]), 204),
    ("GET /v1/policy", Scopes(&["manage"]), 200),
    ("PUT /v1/policy", Scopes(&["manage"]), 200),
    ("GET /v1/endpoints", Scopes(&["manage"]), 200),
    ("POST /v1/endpoints", Scopes(&["manage"]), 201),
    ("GET /v1/endpoints/{endpoint}", Scopes(&["manage"]), 200),
    ("PATCH /v1/endpoints/{endpoint}", Scopes(&["manage"]), 200),
    ("DELETE /v1/endpoints/{endpoint}", Scopes(&["manage"]), 204),
    ("POST /v1/endpoints/{endpoint}/enable", Scopes(&["manage"]), 200),
    ("POST /v1/endpoints/{endpoint}/test", Scopes(&["manage"]), 200),
    ("POST /v1/endpoints/{endpoint}/disable", Scopes(&["manage"]), 200),
    ("POST /v1/endpoints/{endpoint}/rotate", Scopes(&["manage"]), 200),
    ("GET /v1/issuers", Scopes(&["manage"]), 200),
    ("POST /v1/issuers", Scopes(&["manage"]), 201),
    ("GET /v1/issuers/{issuer}", Scopes(&["manage"]), 200),
    ("DELETE /v1/issuers/{issuer}", Scopes(&["manage"]), 204),
    ("GET /v1/keys", Scopes(&["manage"]), 200),
    ("POST /v1/keys", Scopes(&["manage"]), 201),
    ("GET /v1/keys/{key}", Scopes(&["manage"]), 200),
    ("DELETE /v1/keys/{key}", Scopes(&["manage"]), 204),
    ("POST /v1/keys/{key}/rotate", Scopes(&["manage"]), 200),
    ("GET /v1/tenants", Operator, 200),
    ("POST /v1/tenants", Operator, 201),
    ("GET /v1/tenants/{tenant}", Operator, 200),
    ("PATCH /v1/tenants/{tenant}", Operator, 200),
    ("DELETE /v1/tenants/{tenant}", Operator, 200),
    ("POST /v1/tenants/{tenant}/suspend", Operator, 200),
    ("POST /v1/tenants/{tenant}/resume", Operator, 200),
    ("GET /", Open, 303),
    ("GET /assets/{file}", Open, 200),
    ("GET /signin", Open, 200),
    ("GET /signin/{tenant}", Open, 200),
    ("POST /signin/{tenant}", OurPage, 422),      // without an address
    ("POST /signin/{tenant}/code", OurPage, 422), // without a code
    ("POST /signin/{tenant}/device", OurPage, 422), // without a device
    ("GET /signin/{tenant}/sso", Open, 404),      // none is registered
    ("POST /signin/{tenant}/sso", Open, 422),     // without a token
    ("GET /signin/{tenant}/link/{token}", Open, 422), // an ask token is no link
    ("POST /signin/{tenant}/link/{token}", OurPage, 422),
    ("POST /signout", Person, 303),
    ("GET /inbox", Person, 200),
    ("GET /inbox/batch", Person, 200),
    ("POST /inbox/batch", Person, 200), // about nothing
    ("GET /me", Person, 200),
    ("POST /me/revoke", Person, 403),  // without the token of the form
    ("POST /me/passkey", Person, 403), // without the token of the form
    ("GET /d/{tenant}/{reference}", Person, 200),
    ("POST /d/{tenant}/{reference}", Person, 403), // without the token of the form
];

/// Classes of credentials, each as a bearer; the ask token also stands in paths.
const CREDENTIALS: [&str; 17] = [
    "none",
    "garbage",
    "ask",
    "read",
    "decide",
    "manage",
    "codec",
    "all",
    "operator",
    "another operator",
    "ask token as bearer",
    "signing secret",
    "revoked",
    "expired",
    "wrong secret",
    "person",
    "person of another tenant",
];

/// What a path may name.
const OBJECTS: [&str; 3] = ["own", "foreign", "absent"];

/// One of each thing that a path can name.
struct Things(BTreeMap<&'static str, String>);

impl Things {
    /// Of a tenant: its objects are of the principal behind `key`, so that every scope may touch them.
    async fn of(web: &Web, tenant: &str, key: &str) -> Self {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let session = web.call("POST", "/v1/sessions", key, json!({})).await.expect(201).json();
        let token = text(&session["ask_token"]);
        let ask = json!({"message": "Send it?", "_meta": {"com.pulsemcp/request-id": "r1"}});
        let path = format!("/t/{token}/api/v1/elicitations");
        let asked = web.call("POST", &path, "", ask).await.expect(201).json();
        let approver = web.call("POST", "/v1/approvers", key, json!({"name": "X"})).await.expect(201).json();
        let endpoint = json!({"inbound": {"enabled": true, "actor_kinds": ["approver"]}});
        let endpoint = web.call("POST", "/v1/endpoints", key, endpoint).await.expect(201).json();
        let issuer =
            web.call("POST", "/v1/issuers", key, issuer("https://id.example")).await.expect(201).json();
        let made = json!({"name": "spare", "scopes": ["manage"]});
        let made = web.call("POST", "/v1/keys", key, made).await.expect(201).json();
        Self(BTreeMap::from([
            ("token", token),
            ("id", text(&asked["_meta"]["com.countersign/elicitation-id"])),
            ("handle", text(&asked["requestId"])),
            ("reference", text(&asked["_meta"]["com.countersign/reference"])),
            ("session", text(&session["id"])),
            ("token_id", text(&session["ask_token_id"])),
            ("approver", text(&approver["id"])),
            ("endpoint", text(&endpoint["id"])),
            ("signing_secret", text(&endpoint["inbound_secret"])),
            ("issuer", text(&issuer["id"])),
            ("key", text(&made["id"])),
            ("tenant", tenant.to_owned()),
        ]))
    }

    /// Things that never were, but that look as those of `tenant` do.
    fn absent(tenant: &str, token: &str) -> Self {
        let bits = "0".repeat(26);
        Self(BTreeMap::from([
            ("token", token.to_owned()),
            ("id", format!("el_{bits}")),
            ("handle", format!("el_{bits}")),
            ("reference", "000-000".into()),
            ("session", format!("se_{bits}")),
            ("token_id", format!("at_{bits}")),
            ("approver", format!("ap_{bits}")),
            ("endpoint", format!("ep_{tenant}.{bits}")),
            ("issuer", format!("is_{bits}")),
            ("key", format!("key_{bits}")),
            ("tenant", "never-was".into()),
        ]))
    }

    fn path(&self, template: &str) -> String {
        let part = |part: &str| {
            let Some(name) = part.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
                return part.to_owned();
            };
            let name = match name {
                "id" if template.starts_with("/v1/approvers") => "approver",
                "id" if template.starts_with("/t/") => "handle",
                "file" => return asset(),
                name => name,
            };
            self.0[name].clone()
        };
        template.split('/').map(part).collect::<Vec<_>>().join("/")
    }
}

/// The path of the stylesheet says its name.
fn asset() -> String {
    let css = include_bytes!("../../../shared/http/assets/countersign.css");
    format!("{}.css", &countersign_core::json::Sha256::of(css).hex()[..16])
}

fn issuer(iss: &str) -> Value {
    json!({"iss": iss, "shared_secret": "0123456789abcdef0123456789abcdef", "algorithm": "HS256", "scopes": []})
}

/// A body that the route takes; `turn` makes what it makes another each time.
fn body(route: &str, turn: usize) -> Value {
    match route {
        "POST /t/{token}/api/v1/elicitations" | "POST /api/v1/elicitations" => {
            json!({"message": "Send it?", "_meta": {"com.pulsemcp/request-id": "r2"}})
        }
        "POST /v1/elicitations" => json!({"message": "Send it?"}),
        "PATCH /api/v1/elicitations/{id}/respond" => json!({"action_type": "accept"}),
        "POST /v1/elicitations/{id}/respond" => json!({"action": "accept"}),
        "POST /v1/approvers" => json!({"name": "Bo"}),
        "POST /v1/endpoints" => json!({"url": "https://hooks.example.com"}),
        "POST /v1/issuers" => issuer(&format!("https://id-{turn}.example")),
        "POST /v1/keys" => json!({"name": "x", "scopes": ["manage"]}),
        "POST /v1/tenants" => json!({ "name": format!("another-{turn}") }),
        "PATCH /v1/tenants/{tenant}" => json!({"quota": {}}),
        _ if route.starts_with("GET") || route.starts_with("DELETE") => Value::Null,
        _ => json!({}),
    }
}

/// A fresh deployment with two tenants, and one credential of each class for the tenant `demo`.
struct Scene {
    web: Web,
    own: Things,
    foreign: Things,
    credentials: BTreeMap<&'static str, String>,
    people: BTreeMap<&'static str, String>,
}

impl Scene {
    async fn new() -> Self {
        // A table in memory: this scene is set a few hundred times.
        let clock = Arc::new(MockClock::at(START));
        let web = Web::over(TestApp::over(Arc::new(MemoryTable::default()), clock).await);
        let other = web.call("POST", "/v1/tenants", &web.operator, json!({"name": "other"})).await;
        let other = other.expect(201).json()["api_key"].as_str().unwrap().to_owned();
        let bo = json!({"name": "Bo", "email": "bo@example.com"});
        web.call("POST", "/v1/approvers", &other, bo).await.expect(201);
        let own = Things::of(&web, "demo", &web.key).await;
        let foreign = Things::of(&web, "other", &other).await;
        let mut credentials = BTreeMap::from([
            ("none", String::new()),
            ("garbage", "garbage".to_owned()),
            ("all", web.key.clone()),
            ("operator", web.operator.clone()),
            ("another operator", operator()),
            ("ask token as bearer", own.0["token"].clone()),
            ("signing secret", own.0["signing_secret"].clone()),
        ]);
        for scope in ["ask", "read", "decide", "manage", "codec"] {
            credentials.insert(scope, Self::key(&web, json!({"name": scope, "scopes": [scope]})).await.1);
        }
        let all = json!(["ask", "read", "decide", "manage", "codec"]);
        let (id, revoked) = Self::key(&web, json!({"name": "revoked", "scopes": all})).await;
        web.api("DELETE", &format!("/v1/keys/{id}"), Value::Null).await.expect(204);
        credentials.insert("revoked", revoked);
        let (_, expired) =
            Self::key(&web, json!({"name": "expired", "scopes": all, "expires_in_seconds": 1})).await;
        credentials.insert("expired", expired);
        let (id, wrong) = Self::key(&web, json!({"name": "wrong", "scopes": all})).await;
        web.api("POST", &format!("/v1/keys/{id}/rotate"), json!({"overlap_seconds": 0})).await.expect(200);
        credentials.insert("wrong secret", wrong);
        web.test.clock.advance(std::time::Duration::from_secs(1));
        let of_other = foreign.0["approver"].parse().unwrap();
        let of_other = Visitor::sign_in(&web, &"other".parse().unwrap(), of_other).await;
        let you = Visitor::you(&web).await;
        let people = [("person", you.cookies), ("person of another tenant", of_other.cookies)].into();
        Self { web, own, foreign, credentials, people }
    }

    async fn key(web: &Web, body: Value) -> (String, String) {
        let made = web.api("POST", "/v1/keys", body).await.expect(201).json();
        let text = |member: &str| made[member].as_str().unwrap().to_owned();
        (text("id"), text("key"))
    }

    async fn send(&self, route: &Route, credential: &str, things: &Things, turn: usize) -> Reply {
        let name = format!("{} {}", route.method, route.path);
        let mut path = things.path(route.path);
        if name == "GET /v1/elicitations" {
            path.push_str("?status=pending");
        }
        let body = body(&name, turn);
        let mut request = Request::builder().method(route.method).uri(path);
        if let Some(cookies) = self.people.get(credential) {
            request = request.header("cookie", cookies).header("origin", PAGE_ORIGIN);
        } else if !self.credentials[credential].is_empty() {
            request = request.header("authorization", format!("Bearer {}", self.credentials[credential]));
        }
        let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
        self.web.send(request.body(body).unwrap()).await
    }
}

fn operator() -> String {
    use countersign_core::credential::OperatorKey;
    use countersign_core::id::Bits130;
    OperatorKey::mint(Bits130::from_bytes([77; Bits130::BYTES])).reveal()
}

/// Whether the path names something that has an owner.
fn names_an_object(path: &str) -> bool {
    let is_of_nobody = path.starts_with("/assets/") || path.starts_with("/signin/");
    path.contains('{') && path != "/t/{token}/api/v1/elicitations" && !is_of_nobody
}

/// What the route answers, where it can be said from the table alone. `None` is whatever the object's own state says, but
/// neither 401 nor anything below 400.
fn expected(door: Door, good: u16, (method, path): (&str, &str), credential: &str, object: &str) -> u16 {
    let exists = object == "own" || !names_an_object(path);
    let found = |good: u16| if exists { good } else { 404 };
    match door {
        Signature => 401,
        AskToken => found(good),
        Operator if credential != "operator" => 401,
        Operator if object == "absent" && path.contains("{tenant}") => 404,
        Open | Operator => good,
        OurPage if credential.starts_with("person") => good,
        OurPage => 403,
        Person => match credential {
            "person" => found(good),
            // What is not theirs is not there; of a question's page, its tenant is another than theirs.
            "person of another tenant" if path.starts_with("/d/") => {
                if method == "GET" {
                    303
                } else {
                    401
                }
            }
            "person of another tenant" => good,
            _ if method == "GET" => 303,
            _ => 403,
        },
        Scopes(scopes) => match credential {
            "ask" | "read" | "decide" | "manage" | "codec" if !scopes.contains(&credential) => 403,
            // Its own: the objects here are another principal's, in the same tenant.
            "ask" if exists && names_an_object(path) => 404,
            "all" | "ask" | "read" | "decide" | "manage" => found(good),
            _ => 401,
        },
    }
}

#[tokio::test]
async fn every_route_lets_in_whom_it_says_and_a_foreign_object_is_one_that_never_was() {
    let names: Vec<String> = ROUTES.iter().map(|route| format!("{} {}", route.method, route.path)).collect();
    for name in &names {
        assert!(ROWS.iter().any(|(row, ..)| row == name), "{name} has no row in the matrix");
    }
    let (mut rows, mut wrong) = (0, Vec::new());
    for (name, door, good) in ROWS {
        let route = ROUTES.iter().find(|route| format!("{} {}", route.method, route.path) == *name);
        let route = route.unwrap_or_else(|| panic!("{name} is not served"));
        // What is decided, revoked or archived by one row must not be in the way of the next.
        let mut scene = Scene::new().await;
        for credential in CREDENTIALS {
            let mut absent = Things::absent("demo", &scene.own.0["token"].clone());
            let mut foreign = Things(scene.foreign.0.clone());
            if route.path.starts_with("/t/") {
                foreign.0.insert("token", scene.own.0["token"].clone());
            }
            if route.path.starts_with("/d/") {
                foreign.0.insert("tenant", "demo".into());
                absent.0.insert("tenant", "demo".into());
            }
            if route.path.starts_with("/signin/") {
                absent.0.insert("tenant", "demo".into());
            }
            let mut answers = BTreeMap::new();
            for object in ["foreign", "absent", "own"] {
                let things = match object {
                    "own" => &scene.own,
                    "foreign" => &foreign,
                    _ => &absent,
                };
                let reply = scene.send(route, credential, things, rows).await;
                rows += 1;
                let want = expected(*door, *good, (route.method, route.path), credential, object);
                if reply.status != want {
                    let text = String::from_utf8_lossy(&reply.bytes).into_owned();
                    wrong.push(format!(
                        "{name} by {credential} of {object}: {} for {want}: {text}",
                        reply.status
                    ));
                }
                answers.insert(object, (reply.status, reply.bytes));
                if route.path == "/signout" {
                    scene = Scene::new().await;
                }
            }
            let is_hidden = matches!(door, Scopes(_) | AskToken | Signature)
                || (*door == Person && credential == "person");
            if is_hidden && names_an_object(route.path) {
                assert_eq!(answers["foreign"], answers["absent"], "{name} by {credential}");
            }
            if answers["own"].0.is_success() && route.method != "GET" {
                scene = Scene::new().await;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(rows, names.len() * CREDENTIALS.len() * OBJECTS.len());
    println!(
        "{rows} rows: {} routes, {} credentials, {} objects",
        names.len(),
        CREDENTIALS.len(),
        OBJECTS.len()
    );
}
