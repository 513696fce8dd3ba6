//! What people see and do (PROTOCOL.md section 4; RELIABILITY.md rows 3 and 11 to 22).

mod answering;
mod inbox;
mod origins;
mod passkeys;
mod signing_in;
mod sso;
mod words;

use countersign_testkit::Web;
use countersign_testkit::person::{PAGE_ORIGIN, Person, cookies_of, encoded, hidden};
use countersign_testkit::web::Reply;
use http::Request;
use http::header::{CONTENT_TYPE, COOKIE, ORIGIN};
use serde_json::{Value, json};

/// A deployment with one person, `you`, who is signed in.
async fn scene() -> (Web, Person) {
    let web = Web::start().await;
    let you = Person::you(&web).await;
    (web, you)
}

/// A question, planned, and the path of its page.
async fn asked(web: &Web, body: Value) -> (Value, String) {
    let created = web.api("POST", "/v1/elicitations", body).await.expect(201).json();
    web.test.drain().await;
    let path = format!("/d/demo/{}", created["reference"].as_str().unwrap());
    (created, path)
}

async fn view(web: &Web, created: &Value) -> Value {
    let path = format!("/v1/elicitations/{}", created["id"].as_str().unwrap());
    web.api("GET", &path, Value::Null).await.expect(200).json()
}

/// Makes questions of every tier need `assurance`.
async fn needs(web: &Web, assurance: &str) {
    let tier = json!({ "assurance": assurance });
    let policy = json!({"tiers": {"read": tier, "write": tier, "commit": tier, "external": tier},
                        "self_approval": "allow"});
    web.api("PUT", "/v1/policy", policy).await.expect(200);
}

/// A browser that nobody is signed in to, perhaps with cookies of its own.
async fn post(web: &Web, path: &str, cookies: &str, form: &[(&str, &str)]) -> Reply {
    let request = Request::builder().method("POST").uri(path).header(ORIGIN, PAGE_ORIGIN);
    let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").header(COOKIE, cookies);
    web.send(request.body(encoded(form).into()).unwrap()).await
}

async fn ask_for_code(web: &Web, email: &str) -> String {
    let page = post(web, "/signin/demo", "", &[("email", email)]).await.expect(200).text();
    hidden(&page, "attempt").unwrap()
}

fn mailed(web: &Web) -> String {
    web.test.channel.codes().last().map(|code| code.digits.expose().clone()).unwrap()
}

/// The cookies of a browser that a person signed in on and asked to be remembered.
async fn remembered(web: &Web) -> String {
    let attempt = ask_for_code(web, "you@localhost").await;
    web.test.drain().await;
    let code = mailed(web);
    let form = [("attempt", attempt.as_str()), ("code", code.as_str()), ("remember", "30d")];
    cookies_of(&post(web, "/signin/demo/code", "", &form).await.expect(303))
}

/// Somebody whom only a remembered device vouches for.
async fn by_device(web: &Web) -> Person {
    let cookies = remembered(web).await;
    Person { cookies: cookies_of(&post(web, "/signin/demo/device", &cookies, &[]).await.expect(303)) }
}
