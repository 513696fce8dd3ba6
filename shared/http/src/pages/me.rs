//! A person's own devices and passkeys.

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use countersign_app::App;
use countersign_app::humans::{HumanRow, Visitor};
use countersign_app::passkeys::{Passkey, PasskeyError, PasskeyForm, encode};
use countersign_core::json::Sha256;

use super::browser::{Acting, Looking, label, sign_in_path};
use super::decision::Alert;
use super::frame::{Frame, html};
use super::passkey::PasskeyAsk;
use super::shown::Foreign;
use super::when::Instant;
use super::words::{EN, put};
use crate::Http;
use crate::error::ApiError;

/// What the form tokens of this page are for.
const DEVICES: &str = "devices";
const PASSKEYS: &str = "passkeys";

struct Line {
    id: String,
    label: String,
    is_this: bool,
    facts: Vec<String>,
}

#[derive(Template)]
#[template(path = "me.html")]
struct DevicesPage {
    f: Frame,
    alert: Option<Alert>,
    csrf: String,
    sessions: Vec<Line>,
    devices: Vec<Line>,
    passkeys: Vec<Line>,
    passkey_csrf: String,
    to_create: PasskeyAsk,
    /// What the device calls the passkey's owner.
    person: String,
    /// By what the device tells two owners apart: always the same, and nothing that names somebody.
    user: String,
    to_use: Option<PasskeyAsk>,
}

/// `GET /me`
pub(crate) async fn page(State(http): State<Http>, looking: Looking) -> Result<Response, ApiError> {
    show(&http.app, &looking.visitor, None, StatusCode::OK).await
}

async fn show(
    app: &App,
    visitor: &Visitor,
    alert: Option<Alert>,
    status: StatusCode,
) -> Result<Response, ApiError> {
    let own = app.devices(visitor).await?;
    let now = app.clock.now();
    let since = |at| put(EN.device_since, &[&Instant::of(at, now).shown]);
    let sessions = own.sessions.into_iter().map(|one| Line {
        id: one.id.to_string(),
        is_this: one.id == visitor.session.id,
        facts: vec![
            since(one.created_at),
            (if one.is_fresh { EN.fresh_yes } else { EN.fresh_no }).to_owned(),
        ],
        label: one.label,
    });
    let devices = own.devices.into_iter().map(|one| Line {
        id: one.id.to_string(),
        is_this: false,
        facts: vec![since(one.created_at), put(EN.device_until, &[&Instant::dated(one.expires_at).shown])],
        label: one.label,
    });
    let passkey = |one: &Passkey| Line {
        id: one.name().hex(),
        is_this: false,
        facts: vec![
            since(one.created_at),
            one.used_at.map_or_else(
                || EN.own.unused.to_owned(),
                |at| put(EN.own.used, &[&Instant::of(at, now).shown]),
            ),
            (if one.credential.is_synced { EN.own.synced } else { EN.own.bound }).to_owned(),
        ],
        label: one.label.clone(),
    };
    let passkey_csrf = app.form_token(visitor, PASSKEYS);
    let page = DevicesPage {
        f: Frame::of(visitor, Some(EN.inbox.to_owned())),
        alert,
        csrf: app.form_token(visitor, DEVICES),
        sessions: sessions.collect(),
        devices: devices.collect(),
        passkeys: own.passkeys.iter().map(passkey).collect(),
        to_create: PasskeyAsk::to_create(app, &own.passkeys, &passkey_csrf),
        to_use: PasskeyAsk::to_use(app, &own.passkeys, &passkey_csrf),
        passkey_csrf,
        user: encode(Sha256::of(visitor.approver.id.to_string().as_bytes()).bytes()),
        person: visitor.approver.email.clone().unwrap_or_else(|| Foreign::plain(&visitor.approver.name)),
    };
    Ok(html(status, &page))
}

/// `POST /me/revoke`: `device` is a session or device of one's own.
pub(crate) async fn revoke(State(http): State<Http>, acting: Acting) -> Result<Response, ApiError> {
    let visitor = acting.visitor?;
    let token = acting.posted.get("csrf").unwrap_or_default();
    if !http.app.is_form_token(&visitor, DEVICES, token) {
        return Err(ApiError::stale_form());
    }
    let named = acting.posted.get("device").unwrap_or_default();
    let row = match (named.parse(), named.parse()) {
        (Ok(session), _) => Some(HumanRow::Session(session)),
        (_, Ok(device)) => Some(HumanRow::Device(device)),
        _ => None,
    };
    if let Some(row) = row {
        http.app.revoke(&visitor, row).await?;
    }
    Ok(Redirect::to("/me").into_response())
}

/// `POST /me/passkey`: adds what `passkey` says, or removes the one that `name` names.
pub(crate) async fn passkey(
    State(http): State<Http>,
    headers: HeaderMap,
    acting: Acting,
) -> Result<Response, ApiError> {
    let (visitor, posted, app) = (acting.visitor?, acting.posted, &http.app);
    let of = |name: &str| posted.get(name).unwrap_or_default();
    let form = PasskeyForm { token: of("csrf"), made: of("passkey"), proof: of("proof") };
    if !app.is_form_token(&visitor, PASSKEYS, form.token) {
        return Err(ApiError::stale_form());
    }
    let done = match Sha256::from_hex(of("name")) {
        Some(name) => app.remove_passkey(&visitor, form, name).await,
        None => app.add_passkey(&visitor, form, &label(&headers)).await,
    };
    let alert = match done {
        // The same form again: what it did the first time is on the page.
        Ok(()) | Err(PasskeyError::Spent) => return Ok(Redirect::to("/me").into_response()),
        Err(PasskeyError::Store(error)) => return Err(error.into()),
        Err(PasskeyError::Refused(_)) => Alert::new(EN.own.refused, EN.own.refused_why),
        Err(PasskeyError::ProofNeeded) => Alert::new(EN.own.refused, EN.own.proof_why),
        Err(PasskeyError::TooMany) => Alert::calm(EN.own.too_many, EN.own.too_many_why),
        Err(PasskeyError::FreshSignInNeeded) => {
            let to = sign_in_path(Some(&visitor.tenant.id), None);
            Alert::calm(EN.own.fresh, EN.own.fresh_why).leading(&to, EN.sign_in_by_code)
        }
    };
    if acting.wants_json {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        return Err(super::json::refused(status, &[alert], None, vec![]));
    }
    show(app, &visitor, Some(alert), StatusCode::UNPROCESSABLE_ENTITY).await
}
