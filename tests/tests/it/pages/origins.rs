//! Which POST comes from one of our own pages (PROTOCOL.md section 4), and what every page says about itself.

use countersign_http::routes::{Function, ROUTES, Route};
use countersign_testkit::person::{PAGE_ORIGIN, hidden};
use http::Request;
use http::header::{CONTENT_TYPE, COOKIE};
use serde_json::json;

use super::{asked, scene, view};

#[tokio::test]
async fn only_our_own_pages_can_post() {
    let (web, you) = scene().await;
    let (created, path) = asked(&web, json!({"message": "Send it?"})).await;
    let token = hidden(&you.get(&web, &path).await.text(), "csrf").unwrap();
    let body = format!("csrf={token}&action=accept");
    let refused: &[&[(&str, &str)]] = &[
        &[],
        &[("origin", "null")],
        &[("origin", "https://evil.example")],
        &[("origin", "http://localhost:8787.evil.example")],
        &[("origin", "http://localhost")],
        &[("origin", "https://localhost:8787")],
        &[("origin", "HTTP://LOCALHOST:8787")],
        &[("origin", "")],
        &[("origin", PAGE_ORIGIN), ("origin", "https://evil.example")],
        &[("origin", "null"), ("sec-fetch-site", "same-origin")],
        &[("origin", "https://evil.example"), ("sec-fetch-site", "same-origin")],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
        &[("sec-fetch-site", "none")],
        &[("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")],
        &[("referer", PAGE_ORIGIN)],
    ];
    let send = |headers: &[(&str, &str)]| {
        let mut request = Request::builder().method("POST").uri(&path).header(COOKIE, &you.cookies);
        request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(body.clone().into()).unwrap()
    };
    for headers in refused {
        let reply = web.send(send(headers)).await;
        assert_eq!(reply.status, 403, "{headers:?}");
        assert_eq!(view(&web, &created).await["status"], "pending", "{headers:?}");
    }
    web.send(send(&[("sec-fetch-site", "same-origin")])).await.expect(303);
    assert_eq!(view(&web, &created).await["status"], "accept");
    web.send(send(&[("origin", PAGE_ORIGIN), ("sec-fetch-site", "cross-site")])).await.expect(303);
}

#[tokio::test]
async fn a_cookie_that_travels_across_sites_decides_nothing() {
    let (web, you) = scene().await;
    let (created, path) = asked(&web, json!({"message": "Send it?"})).await;
    let token = hidden(&you.get(&web, &path).await.text(), "csrf").unwrap();
    let lax = you.cookies.split("; ").find(|one| one.starts_with("cs=")).unwrap();
    let lax = countersign_testkit::person::Person { cookies: lax.to_owned() };
    lax.get(&web, &path).await.expect(200);
    lax.post(&web, &path, &[("csrf", &token), ("action", "accept")]).await.expect(401);
    assert_eq!(view(&web, &created).await["status"], "pending");
}

#[tokio::test]
async fn a_page_that_shows_several_tenants_cookies_takes_none() {
    let (web, you) = scene().await;
    let twice = format!("{}; {}", you.cookies, you.cookies);
    let twice = countersign_testkit::person::Person { cookies: twice };
    twice.get(&web, "/inbox").await.expect(303);
}

fn path_of(route: &Route) -> String {
    let path = route.path.replace("{tenant}", "demo").replace("{reference}", "AAAA-AAAA");
    path.replace("{file}", "none.css").replace("{token}", "none")
}

#[tokio::test]
async fn no_page_and_no_error_of_one_is_framed_indexed_or_named_to_others() {
    let (web, you) = scene().await;
    for route in ROUTES.iter().filter(|route| route.function == Function::Pages) {
        for cookies in [you.cookies.as_str(), ""] {
            let request = Request::builder().method(route.method).uri(path_of(route));
            let reply = web.send(request.header(COOKIE, cookies).body("".into()).unwrap()).await;
            let header = |name: &str| reply.headers.get(name).map_or("", |value| value.to_str().unwrap());
            let policy = header("content-security-policy");
            let named = format!("{} {} {}", route.method, route.path, reply.status);
            assert!(
                policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
                "{named}"
            );
            assert!(!policy.contains("unsafe"), "{named}");
            assert_eq!(header("referrer-policy"), "same-origin", "{named}");
            assert!(header("x-robots-tag").contains("noindex"), "{named}");
            assert_eq!(header("x-content-type-options"), "nosniff", "{named}");
        }
    }
}

#[tokio::test]
async fn looking_changes_nothing() {
    let (web, you) = scene().await;
    let (created, path) = asked(&web, json!({"message": "Send it?"})).await;
    let before = view(&web, &created).await;
    for method in ["GET", "HEAD"] {
        for query in ["", "?action=accept", "?csrf=x&action=decline"] {
            let request = Request::builder().method(method).uri(format!("{path}{query}"));
            let request = request.header(COOKIE, &you.cookies).header("sec-purpose", "prefetch");
            web.send(request.body("".into()).unwrap()).await;
        }
    }
    assert_eq!(view(&web, &created).await["status"], before["status"]);
    for method in ["PUT", "DELETE", "PATCH"] {
        let request = Request::builder().method(method).uri(&path).header(COOKIE, &you.cookies);
        web.send(request.body("".into()).unwrap()).await.expect(405);
    }
}
