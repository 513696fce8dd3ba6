//! A person with a browser: cookies, forms, and an Origin of ours.

use axum::body::Body;
use countersign_app::humans::{Browser, SignedIn};
use countersign_core::id::{ApproverId, TenantId};
use http::Request;
use http::header::{CONTENT_TYPE, COOKIE, ORIGIN, SET_COOKIE};

use crate::web::{Reply, Web};

/// The Origin of every page in tests.
pub const PAGE_ORIGIN: &str = "http://localhost:8787";

/// Someone who is signed in.
#[derive(Debug, Clone)]
pub struct Person {
    /// Their cookies, as sent.
    pub cookies: String,
}

impl Person {
    /// Signs `approver` of `tenant` in by a one-time link.
    pub async fn sign_in(web: &Web, tenant: &TenantId, approver: ApproverId) -> Self {
        let app = &web.test.app;
        let link = app.new_signin_link(tenant, approver);
        let browser = Browser { label: "Chrome on Linux", before: None };
        let signed = app.sign_in_by_link(tenant, &link, None, browser).await.expect("a good link");
        let SignedIn { view, act, .. } = signed;
        Self { cookies: format!("cs={view}; cs-act={act}") }
    }

    /// Signs the one approver of the tenant `demo` in.
    pub async fn you(web: &Web) -> Self {
        let caller = web.test.caller().await;
        let approvers = web.test.app.approvers(&caller).await.expect("approvers");
        Self::sign_in(web, caller.tenant(), approvers[0].id).await
    }

    /// Opens a page.
    pub async fn get(&self, web: &Web, path: &str) -> Reply {
        let request = Request::builder().uri(path).header(COOKIE, &self.cookies);
        web.send(request.body(Body::empty()).expect("a request")).await
    }

    /// Asks for a page as JSON.
    pub async fn json(&self, web: &Web, path: &str) -> Reply {
        let request = Request::builder().uri(path).header(COOKIE, &self.cookies);
        let request = request.header("accept", "application/json");
        web.send(request.body(Body::empty()).expect("a request")).await
    }

    /// Posts a form from one of our pages.
    pub async fn post(&self, web: &Web, path: &str, form: &[(&str, &str)]) -> Reply {
        let request = Request::builder().method("POST").uri(path).header(COOKIE, &self.cookies);
        let request =
            request.header(ORIGIN, PAGE_ORIGIN).header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        web.send(request.body(Body::from(encoded(form))).expect("a request")).await
    }

    /// Opens the page of a question and posts its form with `action` and the fields of `form`.
    pub async fn answer(&self, web: &Web, path: &str, action: &str, form: &[(&str, &str)]) -> Reply {
        let page = self.get(web, path).await.expect(200).text();
        let token = hidden(&page, "csrf").expect("an open question");
        let all = [&[("csrf", token.as_str()), ("action", action)], form].concat();
        self.post(web, path, &all).await
    }
}

/// A form as a browser sends it.
pub fn encoded(form: &[(&str, &str)]) -> String {
    let plain = |text: &str| -> String {
        let escape = |byte: u8| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        };
        text.bytes().map(escape).collect()
    };
    let pairs: Vec<_> =
        form.iter().map(|(name, value)| format!("{}={}", plain(name), plain(value))).collect();
    pairs.join("&")
}

/// The value of a hidden field.
pub fn hidden(page: &str, name: &str) -> Option<String> {
    let at = page.find(&format!("name=\"{name}\" value=\""))?;
    let rest = &page[at..];
    let start = rest.find("value=\"")? + "value=\"".len();
    Some(rest[start..].split('"').next()?.to_owned())
}

/// The cookies that an answer sets, as a browser sends them back.
pub fn cookies_of(reply: &Reply) -> String {
    let lines = reply.headers.get_all(SET_COOKIE).iter().filter_map(|line| line.to_str().ok());
    lines.filter_map(|line| line.split(';').next()).collect::<Vec<_>>().join("; ")
}
