//! The tenant's own sign-in: out with a state of ours, back with a JWT of theirs.

use std::time::Duration;

use countersign_testkit::Web;
use countersign_testkit::person::{Person, cookies_of, encoded, hidden};
use countersign_testkit::web::Reply;
use http::Request;
use http::header::{CONTENT_TYPE, COOKIE, LOCATION, ORIGIN};
use serde_json::{Value, json};

use super::{asked, post, view};
use crate::tokens::{SECRET, signed};

const ISS: &str = "https://id.acme.example";
const AUDIENCE: &str = "http://127.0.0.1:8787/demo";

fn issuer(scopes: &[&str]) -> Value {
    json!({"iss": ISS, "shared_secret": SECRET, "algorithm": "HS256", "scopes": scopes,
        "sso_url": "https://id.acme.example/start?app=countersign"})
}

/// A deployment whose tenant signs its people in itself; the approver `Mara` is its `mara`.
async fn idp() -> Web {
    let web = Web::start().await;
    web.api("POST", "/v1/issuers", issuer(&["decide"])).await.expect(201);
    let mara = json!({"name": "Mara", "email": "mara@example.com", "external_ids": {"sub": "mara"}});
    web.api("POST", "/v1/approvers", mara).await.expect(201);
    web
}

fn location(reply: &Reply) -> String {
    reply.headers[LOCATION].to_str().unwrap().to_owned()
}

/// Goes to the tenant's page; the state and the cookies of the browser.
async fn leave(web: &Web, to: &str) -> (String, String) {
    let request = Request::get(format!("/signin/demo/sso{to}")).body("".into()).unwrap();
    let reply = web.send(request).await.expect(303);
    let page = location(&reply);
    let state = page.strip_prefix("https://id.acme.example/start?app=countersign&state=").expect(&page);
    (state.to_owned(), cookies_of(&reply))
}

fn claims(web: &Web, state: &str, more: Value) -> Value {
    let now = web.test.now().millis() / 1_000;
    let mut claims =
        json!({"iss": ISS, "aud": AUDIENCE, "sub": "mara", "exp": now + 240, "jti": "j1", "nonce": state});
    let own = claims.as_object_mut().unwrap();
    for (name, value) in more.as_object().unwrap() {
        match value {
            Value::Null => own.remove(name),
            value => own.insert(name.clone(), value.clone()),
        };
    }
    claims
}

/// What the tenant's page makes the browser post: from another site, so without our cookies.
async fn come_back(web: &Web, claims: &Value) -> Reply {
    let request = Request::post("/signin/demo/sso").header(ORIGIN, "https://id.acme.example");
    let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
    web.send(request.body(encoded(&[("token", &signed(claims))]).into()).unwrap()).await
}

/// Opens the page that the browser is led to and presses its button.
async fn press(web: &Web, arrived: &Reply, cookies: &str) -> Reply {
    let path = location(arrived);
    let page = web.send(Request::get(&path).header(COOKIE, cookies).body("".into()).unwrap()).await;
    let to = hidden(&page.text(), "to").unwrap_or_default();
    let link = path.split('?').next().unwrap().to_owned();
    post(web, &link, cookies, &[("to", &to)]).await
}

#[tokio::test]
async fn a_person_signs_in_where_they_work_and_goes_on_to_the_question() {
    let web = idp().await;
    let (created, path) = asked(&web, json!({"message": "Delete it?", "tier": "commit"})).await;
    let sign_in = web.send(Request::get("/signin/demo").body("".into()).unwrap()).await.expect(200).text();
    assert!(sign_in.contains("/signin/demo/sso"), "{sign_in}");
    let (state, cookies) = leave(&web, &format!("?to={}", path.rsplit('/').next().unwrap())).await;
    let arrived = come_back(&web, &claims(&web, &state, json!({}))).await.expect(303);
    let signed_in = press(&web, &arrived, &cookies).await.expect(303);
    assert_eq!(location(&signed_in), path);
    let mara = Person { cookies: cookies_of(&signed_in) };
    mara.answer(&web, &path, "accept", &[]).await.expect(303);
    assert_eq!(view(&web, &created).await["decided_by"]["name"], "Mara");
}

#[tokio::test]
async fn a_token_signs_in_once_and_only_in_the_browser_that_left() {
    let web = idp().await;
    let (state, cookies) = leave(&web, "").await;
    let (_, elsewhere) = leave(&web, "").await;
    let claims = claims(&web, &state, json!({}));
    let first = come_back(&web, &claims).await.expect(303);
    let second = come_back(&web, &claims).await.expect(303);
    for other in ["", elsewhere.as_str()] {
        press(&web, &first, other).await.expect(422);
    }
    press(&web, &first, &cookies).await.expect(303);
    press(&web, &first, &cookies).await.expect(422);
    press(&web, &second, &cookies).await.expect(422);
}

#[tokio::test]
async fn no_other_token_signs_anybody_in() {
    let web = idp().await;
    let (state, _) = leave(&web, "").await;
    let now = web.test.now().millis() / 1_000;
    for more in [
        json!({"nonce": null}),
        json!({"nonce": "x"}),
        json!({"nonce": 7}),
        json!({"jti": null}),
        json!({"sub": "stranger"}),
        json!({"aud": "http://127.0.0.1:8787/other"}),
        json!({"aud": "http://127.0.0.1:8787"}),
        json!({"iss": "https://id.evil.example"}),
        json!({"exp": now + 3_600}),
        json!({"exp": now - 31}),
        json!({"exp": null}),
        json!({"nbf": now + 60}),
    ] {
        come_back(&web, &claims(&web, &state, more.clone())).await.expect(422);
    }
    come_back(&web, &claims(&web, &state, json!({}))).await.expect(303);
    web.test.clock.advance(Duration::from_mins(10));
    let late = claims(&web, &state, json!({}));
    assert_eq!(come_back(&web, &late).await.status, 422, "the state ends after ten minutes");
}

#[tokio::test]
async fn coming_back_alone_signs_nobody_in() {
    let web = idp().await;
    let (state, _) = leave(&web, "").await;
    let arrived = come_back(&web, &claims(&web, &state, json!({}))).await.expect(303);
    assert_eq!(cookies_of(&arrived), "");
}

#[tokio::test]
async fn only_an_issuer_that_gives_decide_signs_people_in() {
    let web = Web::start().await;
    let refused = web.api("POST", "/v1/issuers", issuer(&["read"])).await.expect(422).json();
    assert_eq!(refused["errors"][0]["pointer"], "/sso_url");
    for url in ["http://id.acme.example", "https://u@id.acme.example", "javascript:alert(1)", "/start"] {
        let mut body = issuer(&["decide"]);
        body["sso_url"] = json!(url);
        let refused = web.api("POST", "/v1/issuers", body).await.expect(422).json();
        assert_eq!(refused["errors"][0]["pointer"], "/sso_url", "{url}");
    }
    let body = json!({"iss": ISS, "shared_secret": SECRET, "algorithm": "HS256", "scopes": ["decide"]});
    web.api("POST", "/v1/issuers", body).await.expect(201);
    web.send(Request::get("/signin/demo/sso").body("".into()).unwrap()).await.expect(404);
    let sign_in = web.send(Request::get("/signin/demo").body("".into()).unwrap()).await.expect(200).text();
    assert!(!sign_in.contains("/sso"), "{sign_in}");
}
