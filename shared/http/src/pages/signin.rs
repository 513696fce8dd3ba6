//! Signing in: by mailed code, by a remembered device, or by the one-time link of a local server.

use askama::Template;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use countersign_app::humans::{Browser, HumanRow, SignInError, SignedIn, Source};
use countersign_core::human::{CookieKind, typed_digits};
use countersign_core::id::TenantId;
use serde::Deserialize;

use super::browser::{Acting, Cookies, OurForm, label, sign_in_path, wants_json};
use super::frame::{ErrorPage, Frame, html};
use super::json;
use super::shown::Foreign;
use super::words::{EN, put};
use crate::Http;
use crate::error::ApiError;
use crate::path::Path;

/// Characters of an address that are worth looking at.
const MAIL_CHARS: usize = 254;

#[derive(Template)]
#[template(path = "signin.html")]
struct AddressPage {
    f: Frame,
    tenant: String,
    to: Option<String>,
    mail: String,
    error: Option<&'static str>,
    notice: Option<&'static str>,
    has_device: bool,
    has_sso: bool,
}

#[derive(Template)]
#[template(path = "signin_code.html")]
struct CodePage {
    f: Frame,
    tenant: String,
    tenant_name: String,
    to: Option<String>,
    mail: String,
    attempt: String,
    typed: String,
    error: Option<String>,
}

impl CodePage {
    fn on_its_way(&self) -> String {
        put(self.f.w.code_is_on_its_way, &[&self.mail])
    }
    fn remember(&self) -> String {
        put(self.f.w.remember, &[&self.tenant_name])
    }
    fn no_mail_yet(&self) -> String {
        put(self.f.w.no_mail_yet, &[&self.tenant_name])
    }
}

#[derive(Template)]
#[template(path = "signin_over.html")]
struct OverPage {
    f: Frame,
    tenant: String,
    to: Option<String>,
}

#[derive(Template)]
#[template(path = "signin_link.html")]
struct LinkPage {
    f: Frame,
    action: String,
    to: Option<String>,
    says: String,
}

#[derive(Template)]
#[template(path = "signin_where.html")]
struct WherePage {
    f: Frame,
    bad: Option<&'static str>,
}

/// What a sign-in page is asked with.
#[derive(Debug, Deserialize)]
pub(crate) struct Wish {
    pub(crate) to: Option<String>,
    tenant: Option<String>,
}

/// `GET /signin`: which tenant.
pub(crate) async fn workspace(Query(wish): Query<Wish>) -> Response {
    let Some(text) = wish.tenant else {
        return html(StatusCode::OK, &WherePage { f: Frame::bare(), bad: None });
    };
    let Ok(tenant) = text.trim().to_lowercase().parse::<TenantId>() else {
        let page = WherePage { f: Frame::bare(), bad: Some(EN.workspace_hint) };
        return html(StatusCode::UNPROCESSABLE_ENTITY, &page);
    };
    Redirect::to(&sign_in_path(Some(&tenant), None)).into_response()
}

/// A question to go on to: only what can stand in a path of ours.
pub(crate) fn onward(to: Option<&str>) -> Option<String> {
    let is_plain = |text: &&str| {
        (1..=64).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
    };
    to.filter(is_plain).map(str::to_owned)
}

/// `GET /signin/{tenant}`
pub(crate) async fn page(
    State(http): State<Http>,
    Path(tenant): Path<String>,
    Query(wish): Query<Wish>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let tenant = known(&tenant)?;
    let device = Cookies::of(&http).opened(&http, &headers, CookieKind::Device);
    let page = AddressPage {
        f: Frame::bare(),
        has_device: device.is_some_and(|device| device.tenant == tenant),
        // Without the store there is still a code to ask for, once it answers again.
        has_sso: http.app.start_sso(&tenant, None).await.is_ok_and(|start| start.is_some()),
        tenant: tenant.to_string(),
        to: onward(wish.to.as_deref()),
        mail: String::new(),
        error: None,
        notice: None,
    };
    Ok(html(StatusCode::OK, &page))
}

pub(crate) fn known(tenant: &str) -> Result<TenantId, ApiError> {
    tenant.parse().map_err(|_| ApiError::no_question())
}

/// `POST /signin/{tenant}`: a code is asked for.
pub(crate) async fn ask(
    State(http): State<Http>,
    Path(tenant): Path<String>,
    form: OurForm,
) -> Result<Response, ApiError> {
    let tenant = known(&tenant)?;
    let mail = form.posted.get("email").unwrap_or_default().trim().to_owned();
    let to = onward(form.posted.get("to"));
    let is_mail = mail.split_once('@').is_some_and(|(local, domain)| !local.is_empty() && !domain.is_empty());
    if !is_mail || mail.chars().count() > MAIL_CHARS {
        let page = AddressPage {
            f: Frame::bare(),
            tenant: tenant.to_string(),
            to,
            mail: Foreign::plain(&mail),
            error: Some(EN.bad_mail),
            notice: None,
            has_device: false,
            has_sso: false,
        };
        return Ok(html(StatusCode::UNPROCESSABLE_ENTITY, &page));
    }
    let device = Cookies::of(&http).value(&form.headers, CookieKind::Device);
    let source = Source { address: &form.source, device: device.as_deref() };
    let attempt = match http.app.request_code(&tenant, &mail, source).await {
        Ok(attempt) => attempt,
        Err(SignInError::TooMany) => {
            return Err(ApiError::too_many_codes());
        }
        Err(SignInError::Store(error)) => return Err(error.into()),
        Err(SignInError::UnknownTenant | SignInError::Over | SignInError::Wrong { .. }) => {
            return Err(ApiError::no_question());
        }
    };
    if wants_json(&form.headers) {
        return Ok(json::attempt(&attempt.to_string()));
    }
    let page = CodePage {
        f: Frame::bare(),
        tenant_name: tenant.to_string(),
        tenant: tenant.to_string(),
        to,
        mail: Foreign::plain(&mail),
        attempt: attempt.to_string(),
        typed: String::new(),
        error: None,
    };
    Ok(html(StatusCode::OK, &page))
}

/// `POST /signin/{tenant}/code`: a code is typed.
pub(crate) async fn code(
    State(http): State<Http>,
    Path(tenant): Path<String>,
    form: OurForm,
) -> Result<Response, ApiError> {
    let tenant = known(&tenant)?;
    let posted = &form.posted;
    let to = onward(posted.get("to"));
    let typed = typed_digits(posted.get("code").unwrap_or_default());
    let over = || {
        let page = OverPage { f: Frame::bare(), tenant: tenant.to_string(), to: to.clone() };
        html(StatusCode::UNPROCESSABLE_ENTITY, &page)
    };
    let json = wants_json(&form.headers);
    let Some(attempt) = posted.get("attempt").and_then(|id| id.parse().ok()) else {
        return if json { Err(ApiError::code_is_over()) } else { Ok(over()) };
    };
    let cookies = Cookies::of(&http);
    let before = cookies.value(&form.headers, CookieKind::View);
    let named = label(&form.headers);
    let browser = Browser { label: &named, before: before.as_deref() };
    let remember = posted.get("remember").is_some();
    match http.app.enter_code(&tenant, attempt, &typed, remember, browser).await {
        Ok(signed) => Ok(arrived(cookies, &tenant, to.as_deref(), &signed, json)),
        Err(SignInError::Store(error)) => Err(error.into()),
        Err(SignInError::Wrong { left }) if json => Err(ApiError::wrong_sign_in_code(&tries(left))),
        Err(SignInError::Wrong { left }) => {
            let page = CodePage {
                f: Frame::bare(),
                tenant_name: tenant.to_string(),
                tenant: tenant.to_string(),
                to,
                mail: Foreign::plain(posted.get("email").unwrap_or_default()),
                attempt: attempt.to_string(),
                typed,
                error: Some(put(EN.wrong_code, &[&tries(left)])),
            };
            Ok(html(StatusCode::UNPROCESSABLE_ENTITY, &page))
        }
        Err(SignInError::Over | SignInError::UnknownTenant | SignInError::TooMany) if json => {
            Err(ApiError::code_is_over())
        }
        Err(SignInError::Over | SignInError::UnknownTenant | SignInError::TooMany) => Ok(over()),
    }
}

/// `3 tries`, `1 try`.
pub(crate) fn tries(left: u32) -> String {
    if left == 1 { "1 try".to_owned() } else { format!("{left} tries") }
}

fn arrived(cookies: Cookies, tenant: &TenantId, to: Option<&str>, signed: &SignedIn, json: bool) -> Response {
    let path = to.map_or_else(|| "/inbox".to_owned(), |to| format!("/d/{tenant}/{to}"));
    let response = if json { json::signed_in() } else { Redirect::to(&path).into_response() };
    cookies.set(response, signed)
}

/// `POST /signin/{tenant}/device`: a remembered device signs in again.
pub(crate) async fn device(
    State(http): State<Http>,
    Path(tenant): Path<String>,
    form: OurForm,
) -> Result<Response, ApiError> {
    let tenant = known(&tenant)?;
    let cookies = Cookies::of(&http);
    let to = onward(form.posted.get("to"));
    let before = cookies.value(&form.headers, CookieKind::View);
    let named = label(&form.headers);
    let browser = Browser { label: &named, before: before.as_deref() };
    let cookie = cookies.value(&form.headers, CookieKind::Device).unwrap_or_default();
    let json = wants_json(&form.headers);
    match http.app.sign_in_by_device(&tenant, &cookie, browser).await {
        Ok(signed) => Ok(arrived(cookies, &tenant, to.as_deref(), &signed, json)),
        Err(SignInError::Store(error)) => Err(error.into()),
        Err(_) if json => Err(ApiError::not_signed_in()),
        Err(_) => {
            let page = AddressPage {
                f: Frame::bare(),
                tenant: tenant.to_string(),
                to,
                mail: String::new(),
                error: None,
                notice: Some(EN.device_is_over),
                has_device: false,
                has_sso: false,
            };
            Ok(html(StatusCode::UNPROCESSABLE_ENTITY, &page))
        }
    }
}

/// `GET /signin/{tenant}/link/{token}`: a button. Opening it spends nothing.
pub(crate) async fn link(
    State(http): State<Http>,
    Path((tenant, token)): Path<(String, String)>,
    Query(wish): Query<Wish>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let tenant = known(&tenant)?;
    let state = Cookies::of(&http).state(&headers);
    let Some(found) = http.app.signin_link(&tenant, &token, state.as_deref()) else {
        return Ok(link_is_over());
    };
    let name = http.app.approver_name(&tenant, found.approver).await?;
    let Some(name) = name else { return Ok(link_is_over()) };
    let page = LinkPage {
        f: Frame::bare(),
        action: format!("/signin/{tenant}/link/{token}"),
        to: onward(wish.to.as_deref()),
        says: put(EN.link_says, &[&Foreign::plain(&name)]),
    };
    Ok(html(StatusCode::OK, &page))
}

/// `POST /signin/{tenant}/link/{token}`: the button was pressed.
pub(crate) async fn use_link(
    State(http): State<Http>,
    Path((tenant, token)): Path<(String, String)>,
    form: OurForm,
) -> Result<Response, ApiError> {
    let tenant = known(&tenant)?;
    let cookies = Cookies::of(&http);
    let before = cookies.value(&form.headers, CookieKind::View);
    let named = label(&form.headers);
    let browser = Browser { label: &named, before: before.as_deref() };
    let to = onward(form.posted.get("to"));
    let state = cookies.state(&form.headers);
    match http.app.sign_in_by_link(&tenant, &token, state.as_deref(), browser).await {
        Ok(signed) => Ok(arrived(cookies, &tenant, to.as_deref(), &signed, false)),
        Err(SignInError::Store(error)) => Err(error.into()),
        Err(_) => Ok(link_is_over()),
    }
}

pub(crate) fn link_is_over() -> Response {
    let door = Some(("/inbox".to_owned(), EN.sign_in));
    let page = ErrorPage::new(EN.link_is_over.to_owned(), EN.link_is_over_why.to_owned(), door);
    html(StatusCode::UNPROCESSABLE_ENTITY, &page)
}

/// `POST /signout`
pub(crate) async fn out(State(http): State<Http>, acting: Acting) -> Result<Response, ApiError> {
    let visitor = acting.visitor?;
    http.app.revoke(&visitor, HumanRow::Session(visitor.session.id)).await?;
    let path = sign_in_path(Some(&visitor.tenant.id), None);
    Ok(Cookies::of(&http).clear(Redirect::to(&path).into_response()))
}
