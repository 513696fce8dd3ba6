//! The tenant's own sign-in.

use axum::extract::{Query, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use countersign_app::authority::AuthError;
use countersign_app::sso::SsoError;
use countersign_core::limits::BODY_ASKING;
use url::form_urlencoded;

use super::browser::{Cookies, Posted, sign_in_path};
use super::frame::{ErrorPage, html};
use super::signin::{Wish, known, onward};
use super::words::EN;
use crate::Http;
use crate::body;
use crate::error::ApiError;
use crate::path::Path;

/// `GET /signin/{tenant}/sso`: on to the tenant's own page.
pub(crate) async fn start(
    State(http): State<Http>,
    Path(tenant): Path<String>,
    Query(wish): Query<Wish>,
) -> Result<Response, ApiError> {
    let tenant = known(&tenant)?;
    let to = onward(wish.to.as_deref());
    let Some(start) = http.app.start_sso(&tenant, to.as_deref()).await? else {
        let door = Some((sign_in_path(Some(&tenant), to.as_deref()), EN.sign_in));
        let page = ErrorPage::new(EN.no_sso.to_owned(), EN.no_sso_why.to_owned(), door);
        return Ok(html(StatusCode::NOT_FOUND, &page));
    };
    Ok(Cookies::of(&http).set_state(Redirect::to(&start.location).into_response(), &start.state))
}

/// `POST /signin/{tenant}/sso`: somebody comes back with a `token`. The one POST that other sites send: it signs nobody in
/// and stores nothing, it leads to a button.
pub(crate) async fn arrive(
    State(http): State<Http>,
    Path(tenant): Path<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let tenant = known(&tenant)?;
    let posted = Posted::parse(&body::read(request, BODY_ASKING).await?);
    let arrival = match http.app.finish_sso(&tenant, posted.get("token").unwrap_or_default()).await {
        Ok(arrival) => arrival,
        Err(SsoError::Unavailable) => return Err(AuthError::KeysUnavailable.into()),
        Err(SsoError::Refused) => {
            let door = Some((sign_in_path(Some(&tenant), None), EN.sign_in));
            let page = ErrorPage::new(EN.sso_refused.to_owned(), EN.sso_refused_why.to_owned(), door);
            return Ok(html(StatusCode::UNPROCESSABLE_ENTITY, &page));
        }
    };
    let to: Option<String> = arrival.to.map(|to| form_urlencoded::byte_serialize(to.as_bytes()).collect());
    let to = to.map(|to| format!("?to={to}")).unwrap_or_default();
    Ok(Redirect::to(&format!("/signin/{tenant}/link/{}{to}", arrival.link)).into_response())
}
