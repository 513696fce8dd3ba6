//! What a browser brings: its cookies, where a request comes from, and what it would like back.

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::header::{ACCEPT, COOKIE, ORIGIN, SET_COOKIE, USER_AGENT};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Redirect, Response};
use countersign_app::humans::{SignedIn, Visitor};
use countersign_core::human::{CookieKind, HumanCookie};
use countersign_core::id::TenantId;
use countersign_core::limits::{BODY_ASKING, DEVICE_TTL, HUMAN_ABSOLUTE, SSO_STATE_TTL};
use url::form_urlencoded;

use super::words::EN;
use crate::Http;
use crate::body;
use crate::error::ApiError;
use crate::path::Path;

/// Where a request comes from on the network; put there by whoever accepts connections.
#[derive(Debug, Clone)]
pub struct SourceAddress(pub String);

/// The names of our cookies, which say more where the connection is safe.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cookies {
    is_secure: bool,
}

impl Cookies {
    pub(crate) fn of(http: &Http) -> Self {
        Self { is_secure: http.app.settings.page_url.starts_with("https://") }
    }

    const fn name(self, kind: CookieKind) -> &'static str {
        match (kind, self.is_secure) {
            (CookieKind::View, true) => "__Host-cs",
            (CookieKind::View, false) => "cs",
            (CookieKind::Act, true) => "__Host-cs-act",
            (CookieKind::Act, false) => "cs-act",
            (CookieKind::Device, true) => "__Host-cs-device",
            (CookieKind::Device, false) => "cs-device",
        }
    }

    /// The value that a request brings. Of two cookies of one name neither is taken: somebody planted one.
    pub(crate) fn value(self, headers: &HeaderMap, kind: CookieKind) -> Option<String> {
        Self::named(headers, self.name(kind))
    }

    fn named(headers: &HeaderMap, wanted: &str) -> Option<String> {
        let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
        let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let mut found = pairs.filter(|(name, _)| *name == wanted).map(|(_, value)| value);
        match (found.next(), found.next()) {
            (Some(value), None) => Some(value.to_owned()),
            _ => None,
        }
    }

    /// Of the state that a person took along to their tenant's own sign-in.
    const fn state_name(self) -> &'static str {
        if self.is_secure { "__Host-cs-sso" } else { "cs-sso" }
    }

    /// The state of the tenant's own sign-in that a request brings.
    pub(crate) fn state(self, headers: &HeaderMap) -> Option<String> {
        Self::named(headers, self.state_name())
    }

    /// The response with the cookie of that state.
    pub(crate) fn set_state(self, mut response: Response, state: &str) -> Response {
        let (name, seconds) = (self.state_name(), SSO_STATE_TTL.as_secs());
        let secure = if self.is_secure { "; Secure" } else { "" };
        let line = format!("{name}={state}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
        if let Ok(line) = HeaderValue::from_str(&line) {
            response.headers_mut().append(SET_COOKIE, line);
        }
        response
    }

    pub(crate) fn opened(self, http: &Http, headers: &HeaderMap, kind: CookieKind) -> Option<HumanCookie> {
        HumanCookie::open(kind, &self.value(headers, kind)?, &http.app.keys)
    }

    fn line(self, kind: CookieKind, value: &str, seconds: u64) -> Option<HeaderValue> {
        let site = match kind {
            CookieKind::Act => "Strict",
            // A link in a mail finds the person signed in, or the device known.
            CookieKind::View | CookieKind::Device => "Lax",
        };
        let secure = if self.is_secure { "; Secure" } else { "" };
        let name = self.name(kind);
        let line = format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite={site}{secure}");
        HeaderValue::from_str(&line).ok()
    }

    /// The response with the cookies of a person who has just signed in.
    pub(crate) fn set(self, mut response: Response, signed: &SignedIn) -> Response {
        let (session, device) = (HUMAN_ABSOLUTE.as_secs(), DEVICE_TTL.as_secs());
        let lines = [
            self.line(CookieKind::View, &signed.view, session),
            self.line(CookieKind::Act, &signed.act, session),
            signed.device.as_ref().and_then(|value| self.line(CookieKind::Device, value, device)),
        ];
        for line in lines.into_iter().flatten() {
            response.headers_mut().append(SET_COOKIE, line);
        }
        response
    }

    /// The response that takes the session's cookies away; a remembered device stays one.
    pub(crate) fn clear(self, mut response: Response) -> Response {
        for kind in [CookieKind::View, CookieKind::Act] {
            if let Some(line) = self.line(kind, "", 0) {
                response.headers_mut().append(SET_COOKIE, line);
            }
        }
        response
    }
}

/// Whether a request asks for JSON, as the terminal and our own scripts do.
pub(crate) fn wants_json(headers: &HeaderMap) -> bool {
    accepts(headers, "application/json")
}

/// Whether a browser asks that is to show what comes.
pub(crate) fn wants_html(headers: &HeaderMap) -> bool {
    accepts(headers, "text/html")
}

fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    accept.split(',').any(|one| one.trim().starts_with(kind))
}

/// What a browser calls itself, in a few words of ours.
pub(crate) fn label(headers: &HeaderMap) -> String {
    let agent = headers.get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let first = |known: &[(&str, &'static str)], other| {
        known.iter().find(|(sign, _)| agent.contains(sign)).map_or(other, |(_, name)| *name)
    };
    let browser = first(
        &[
            ("countersign/", "Terminal"),
            ("Edg", "Edge"),
            ("Firefox/", "Firefox"),
            ("Chrome/", "Chrome"),
            ("Safari/", "Safari"),
        ],
        "A browser",
    );
    let system = first(
        &[
            ("Android", "Android"),
            ("iPhone", "iPhone"),
            ("iPad", "iPad"),
            ("Windows", "Windows"),
            ("Mac OS X", "macOS"),
            ("Linux", "Linux"),
        ],
        "",
    );
    if system.is_empty() { browser.to_owned() } else { format!("{browser} on {system}") }
}

/// Whether a POST comes from one of our own pages: its Origin is ours, or it has none and the browser vouches for it.
pub(crate) fn is_from_our_page(http: &Http, headers: &HeaderMap) -> bool {
    let one = |name: &str| {
        let mut values = headers.get_all(name).iter();
        match (values.next(), values.next()) {
            (Some(value), None) => Some(value.to_str().unwrap_or("null")),
            (None, _) => None,
            (Some(_), Some(_)) => Some("null"),
        }
    };
    let settings = &http.app.settings;
    match (one(ORIGIN.as_str()), one("sec-fetch-site")) {
        // Locally the same server answers to its address and to its name.
        (Some(origin), _) => origin == settings.page_url || origin == settings.base_url,
        (None, Some(site)) => site == "same-origin",
        (None, None) => false,
    }
}

/// The page that a person wanted, for after they have signed in.
fn wanted(parts: &Parts) -> (Option<TenantId>, Option<String>) {
    let mut segments = parts.uri.path().trim_start_matches('/').split('/');
    match (segments.next(), segments.next(), segments.next()) {
        (Some("d"), Some(tenant), Some(reference)) => (tenant.parse().ok(), Some(reference.to_owned())),
        _ => (None, None),
    }
}

/// The sign-in page of `tenant`, which then leads on to question `to`.
pub(crate) fn sign_in_path(tenant: Option<&TenantId>, to: Option<&str>) -> String {
    let Some(tenant) = tenant else { return "/signin".to_owned() };
    match to {
        Some(to) => {
            let to: String = form_urlencoded::byte_serialize(to.as_bytes()).collect();
            format!("/signin/{tenant}?to={to}")
        }
        None => format!("/signin/{tenant}"),
    }
}

/// A person who may look at the page of the path.
pub(crate) struct Looking {
    /// Who.
    pub(crate) visitor: Visitor,
    /// They came from one of our own pages, or typed the address: what they do counts as being there.
    pub(crate) is_present: bool,
}

/// Why a person is not let in.
pub(crate) enum NotIn {
    /// They are to sign in here.
    SignIn(String),
    /// Something else.
    Error(ApiError),
}

impl IntoResponse for NotIn {
    fn into_response(self) -> Response {
        match self {
            Self::SignIn(path) => Redirect::to(&path).into_response(),
            Self::Error(error) => error.into_response(),
        }
    }
}

impl From<ApiError> for NotIn {
    fn from(error: ApiError) -> Self {
        Self::Error(error)
    }
}

impl FromRequestParts<Http> for Looking {
    type Rejection = NotIn;

    async fn from_request_parts(parts: &mut Parts, http: &Http) -> Result<Self, NotIn> {
        let cookies = Cookies::of(http);
        let act = cookies.opened(http, &parts.headers, CookieKind::Act);
        let is_present = act.is_some();
        let cookie = cookies.opened(http, &parts.headers, CookieKind::View).or(act);
        let (of, to) = wanted(parts);
        let tenant = of.or_else(|| cookie.as_ref().map(|cookie| cookie.tenant.clone()));
        let sign_in = || {
            if wants_json(&parts.headers) {
                NotIn::Error(ApiError::not_signed_in())
            } else {
                NotIn::SignIn(sign_in_path(tenant.as_ref(), to.as_deref()))
            }
        };
        let cookie = cookie.filter(|cookie| tenant.as_ref() == Some(&cookie.tenant)).ok_or_else(sign_in)?;
        match http.app.visitor(&cookie).await {
            Ok(Some(visitor)) => Ok(Self { visitor, is_present }),
            Ok(None) => Err(sign_in()),
            Err(error) => {
                let (title, why) = match to {
                    Some(_) => (EN.not_read, EN.not_read_why),
                    None => (EN.inbox_unread, EN.inbox_unread_why),
                };
                Err(ApiError::from(error).saying(title, why).into())
            }
        }
    }
}

/// What a form posted, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Posted(Vec<(String, String)>);

impl Posted {
    /// The body of a form.
    pub(crate) fn parse(body: &[u8]) -> Self {
        let pairs = form_urlencoded::parse(body);
        // A browser sends line breaks as CR LF, whatever was typed.
        Self(pairs.map(|(name, value)| (name.into_owned(), value.replace("\r\n", "\n"))).collect())
    }

    /// The first value of a name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_str())
    }

    /// All values of a name.
    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        self.0.iter().filter(|(one, _)| one == name).map(|(_, value)| value.as_str()).collect()
    }

    /// Everything.
    pub(crate) fn pairs(&self) -> &[(String, String)] {
        &self.0
    }
}

/// A form that one of our own pages posted, without anybody being signed in.
pub(crate) struct OurForm {
    /// What it says.
    pub(crate) posted: Posted,
    /// Where it comes from.
    pub(crate) headers: HeaderMap,
    /// The address on the network.
    pub(crate) source: String,
}

impl FromRequest<Http> for OurForm {
    type Rejection = ApiError;

    async fn from_request(request: Request, http: &Http) -> Result<Self, ApiError> {
        if !is_from_our_page(http, request.headers()) {
            return Err(ApiError::not_from_our_page(EN.bad_origin));
        }
        let headers = request.headers().clone();
        let source = request.extensions().get::<SourceAddress>();
        let source = source.map_or_else(|| "unknown".to_owned(), |source| source.0.clone());
        let posted = Posted::parse(&body::read(request, BODY_ASKING).await?);
        Ok(Self { posted, headers, source })
    }
}

/// A person who may act, with what they posted.
pub(crate) struct Acting {
    /// Who; an error where nobody is signed in any more or the store could not be read, so that nothing that was typed
    /// is lost.
    pub(crate) visitor: Result<Visitor, ApiError>,
    /// The form.
    pub(crate) posted: Posted,
    /// They want JSON.
    pub(crate) wants_json: bool,
}

impl FromRequest<Http> for Acting {
    type Rejection = ApiError;

    async fn from_request(request: Request, http: &Http) -> Result<Self, ApiError> {
        let (mut parts, content) = request.into_parts();
        if !is_from_our_page(http, &parts.headers) {
            return Err(ApiError::not_from_our_page(EN.bad_origin));
        }
        let cookie = Cookies::of(http).opened(http, &parts.headers, CookieKind::Act);
        let path = Path::<Vec<(String, String)>>::from_request_parts(&mut parts, http).await;
        let of = path.ok().and_then(|Path(path)| path.into_iter().find(|(name, _)| name == "tenant"));
        let is_here =
            |cookie: &HumanCookie| of.as_ref().is_none_or(|(_, tenant)| *tenant == cookie.tenant.as_str());
        let cookie = cookie.filter(is_here);
        let wants_json = wants_json(&parts.headers);
        let posted = Posted::parse(&body::read(Request::from_parts(parts, content), BODY_ASKING).await?);
        let found = match &cookie {
            Some(cookie) => http.app.visitor(cookie).await,
            None => Ok(None),
        };
        let visitor =
            found.map_err(ApiError::from).and_then(|found| found.ok_or_else(ApiError::not_signed_in));
        if let Ok(visitor) = &visitor {
            http.app.note_seen(visitor).await;
        }
        Ok(Self { visitor, posted, wants_json })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_keeps_order_and_repeats_and_plain_line_breaks() {
        let posted = Posted::parse(b"a=1&b=x%0D%0Ay&a=2&c=%C3%A9");
        assert_eq!(posted.all("a"), ["1", "2"]);
        assert_eq!(posted.get("b"), Some("x\ny"));
        assert_eq!(posted.get("c"), Some("é"));
        assert_eq!(posted.get("d"), None);
    }

    #[test]
    fn of_two_cookies_of_one_name_neither_is_taken() {
        let cookies = Cookies { is_secure: false };
        let value = |line: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(COOKIE, HeaderValue::from_static(line));
            cookies.value(&headers, CookieKind::View)
        };
        assert_eq!(value("a=b; cs=v1; cs-act=v2"), Some("v1".into()));
        assert_eq!(value("cs=v1; cs=v2"), None);
        assert_eq!(value("xcs=v1"), None);
    }

    #[test]
    fn a_browser_is_named_in_our_words() {
        let named = |agent: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(USER_AGENT, HeaderValue::from_static(agent));
            label(&headers)
        };
        assert_eq!(named("Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0 Safari/537.36"), "Chrome on Linux");
        assert_eq!(named("countersign/0.1.0"), "Terminal");
        assert_eq!(named("<script>"), "A browser");
    }
}
