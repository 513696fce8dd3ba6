//! What every page has: its frame, and the headers of every answer that a browser may show.

use askama::Template;
use axum::http::header::{
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use countersign_app::humans::Visitor;

use super::assets;
use super::shown::Foreign;
use super::words::{EN, Words};
use crate::error::ApiError;

const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);
const ROBOTS: HeaderName = HeaderName::from_static("x-robots-tag");
const PERMISSIONS: HeaderName = HeaderName::from_static("permissions-policy");
const OPENER: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// Gives an answer the headers that make a browser treat it as ours alone: errors and redirects too.
pub(crate) fn secure(headers: &mut HeaderMap) {
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(ROBOTS, HeaderValue::from_static("noindex"));
    headers.insert(PERMISSIONS, HeaderValue::from_static("camera=(), geolocation=(), microphone=()"));
    headers.insert(OPENER, HeaderValue::from_static("same-origin"));
}

/// The frame around a page.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    /// The words.
    pub(crate) w: &'static Words,
    /// The stylesheet's address.
    pub(crate) css: &'static str,
    /// The icon's address.
    pub(crate) icon: &'static str,
    /// The script's address; none where the page needs none.
    pub(crate) script: Option<&'static str>,
    /// The link at the top: where it leads, and its text.
    pub(crate) top: Option<(&'static str, String)>,
    /// Who is signed in, for the foot.
    pub(crate) foot: Option<Foot>,
}

/// Who is signed in.
#[derive(Debug, Clone)]
pub(crate) struct Foot {
    pub(crate) tenant: String,
    pub(crate) who: String,
}

impl Frame {
    /// For a page that anybody may see.
    pub(crate) fn bare() -> Self {
        Self { w: &EN, css: assets::css(), icon: assets::icon(), script: None, top: None, foot: None }
    }

    /// For a page of a person who is signed in.
    pub(crate) fn of(visitor: &Visitor, top: Option<String>) -> Self {
        let who = visitor.approver.email.as_deref().unwrap_or(&visitor.approver.name);
        Self {
            script: Some(assets::script()),
            top: top.map(|text| ("/inbox", text)),
            foot: Some(Foot { tenant: Foreign::plain(&visitor.tenant.name), who: Foreign::plain(who) }),
            ..Self::bare()
        }
    }
}

/// A page.
pub(crate) fn html(status: StatusCode, page: &impl Template) -> Response {
    match page.render() {
        Ok(text) => (status, [(CONTENT_TYPE, "text/html; charset=utf-8")], text).into_response(),
        Err(error) => ApiError::internal(format!("template: {error}")).into_response(),
    }
}

/// A page that says one thing.
#[derive(Template)]
#[template(path = "notice.html")]
pub(crate) struct ErrorPage {
    f: Frame,
    title: String,
    text: String,
    door: Option<(String, &'static str)>,
}

impl ErrorPage {
    /// A page of a title and a text, with a way out.
    pub(crate) fn new(title: String, text: String, door: Option<(String, &'static str)>) -> Self {
        Self { f: Frame::bare(), title, text, door }
    }

    /// The page of an error: what happened, what holds, and where to go.
    pub(crate) fn of(status: StatusCode, title: &str, text: &str) -> Response {
        let door = match status {
            StatusCode::UNAUTHORIZED => Some(("/inbox".to_owned(), EN.sign_in)),
            _ => Some(("/inbox".to_owned(), EN.to_inbox)),
        };
        html(status, &Self::new(title.to_owned(), text.to_owned(), door))
    }
}
