//! A person's own devices.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use countersign_app::humans::HumanRow;

use super::browser::{Acting, Looking};
use super::frame::{Frame, html};
use super::when::Instant;
use super::words::{EN, put};
use crate::Http;
use crate::error::ApiError;

/// What the form tokens of this page are for.
const WHAT: &str = "devices";

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
    csrf: String,
    sessions: Vec<Line>,
    devices: Vec<Line>,
}

/// `GET /me`
pub(crate) async fn page(State(http): State<Http>, looking: Looking) -> Result<Response, ApiError> {
    let visitor = looking.visitor;
    let (sessions, devices) = http.app.devices(&visitor).await?;
    let now = http.app.clock.now();
    let since = |at| put(EN.device_since, &[&Instant::of(at, now).shown]);
    let sessions = sessions.into_iter().map(|one| Line {
        id: one.id.to_string(),
        is_this: one.id == visitor.session.id,
        facts: vec![
            since(one.created_at),
            (if one.is_fresh { EN.fresh_yes } else { EN.fresh_no }).to_owned(),
        ],
        label: one.label,
    });
    let devices = devices.into_iter().map(|one| Line {
        id: one.id.to_string(),
        is_this: false,
        facts: vec![since(one.created_at), put(EN.device_until, &[&Instant::dated(one.expires_at).shown])],
        label: one.label,
    });
    let page = DevicesPage {
        f: Frame::of(&visitor, Some(EN.inbox.to_owned())),
        csrf: http.app.form_token(&visitor, WHAT),
        sessions: sessions.collect(),
        devices: devices.collect(),
    };
    Ok(html(StatusCode::OK, &page))
}

/// `POST /me/revoke`: `device` is a session or device of one's own.
pub(crate) async fn revoke(State(http): State<Http>, acting: Acting) -> Result<Response, ApiError> {
    let visitor = acting.visitor?;
    let token = acting.posted.get("csrf").unwrap_or_default();
    if !http.app.is_form_token(&visitor, WHAT, token) {
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
