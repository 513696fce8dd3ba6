//! What surrounds every route: an id for the request, headers on every answer, one log line, the shape of errors.

use std::any::Any;
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{CACHE_CONTROL, HeaderName, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use countersign_app::ports::StoreError;
use countersign_core::limits::WAIT_MAX;
use tokio::time::timeout;

use crate::Http;
use crate::body::whole;
use crate::error::{ApiError, Shape};
use crate::pages;

/// What the log says where no route fits.
const NO_ROUTE: &str = "none";
const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");

/// Runs around the whole router.
pub(crate) async fn surround(State(http): State<Http>, request: Request, next: Next) -> Response {
    let method = request.method().clone();
    // The template, never the path: paths carry tokens.
    let route = request.extensions().get::<MatchedPath>().map_or(NO_ROUTE, MatchedPath::as_str).to_owned();
    let mut shape = Shape::of(request.uri().path(), pages::browser::wants_json(request.headers()));
    if shape == Shape::Problem && route == NO_ROUTE && pages::browser::wants_html(request.headers()) {
        shape = Shape::Page; // somebody mistyped an address
    }
    let is_page = shape == Shape::Page || pages::is_page(request.uri().path());
    let id = format!("req_{}", http.app.entropy.bits130());
    let began = http.app.clock.now();
    let limit = http.app.settings.request_limit + held_for(&route);
    let answered = async {
        match whole(request).await {
            Ok(request) => next.run(request).await,
            Err(error) => error.into_response(),
        }
    };
    let mut response = match timeout(limit, answered).await {
        Ok(response) => response,
        Err(_) => ApiError::from(StoreError::Unavailable("no answer within the request's limit".into()))
            .into_response(),
    };
    let error = response.extensions_mut().remove::<ApiError>();
    let logged = error.as_ref().and_then(|error| error.logged().map(str::to_owned));
    if let Some(error) = error {
        response = error.render(shape);
    } else if response.status() == StatusCode::METHOD_NOT_ALLOWED {
        let allow = response.headers().get(axum::http::header::ALLOW).cloned();
        response = ApiError::method_not_allowed(allow).render(shape);
    }
    let took = http.app.clock.now().since(began).as_millis();
    log(&method, &route, response.status(), &id, took, logged.as_deref());
    let headers = response.headers_mut();
    if is_page {
        pages::secure(headers);
    }
    // The stylesheet and the script are named by their content.
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Ok(id) = HeaderValue::from_str(&id) {
        headers.insert(REQUEST_ID, id);
    }
    response
}

/// How long a read of the route may be held.
fn held_for(route: &str) -> Duration {
    if route.trim_end_matches('/').ends_with("/elicitations/{id}") { WAIT_MAX } else { Duration::ZERO }
}

fn log(
    method: &axum::http::Method,
    route: &str,
    status: StatusCode,
    id: &str,
    took_ms: u128,
    logged: Option<&str>,
) {
    let status = status.as_u16();
    let logged = logged.unwrap_or_default();
    if status >= 500 {
        tracing::error!(request.id = id, status, took_ms, "{method} {route} answered {status} {logged}");
    } else {
        tracing::debug!(request.id = id, status, took_ms, "{method} {route} answered {status}");
    }
}

/// A panic is a fault of ours: it is answered, and the next request works.
pub(crate) fn panicked(cause: Box<dyn Any + Send>) -> Response {
    ApiError::internal(format!("panic: {}", panic_text(&*cause))).into_response()
}

/// A panic behind a poll: pending is the answer that releases nothing and ends no wait.
pub(crate) fn poll_panicked(cause: Box<dyn Any + Send>) -> Response {
    tracing::error!("a poll panicked and was answered pending: {}", panic_text(&*cause));
    axum::Json(countersign_wire::fallback::pending_unread(None)).into_response()
}

fn panic_text(cause: &(dyn Any + Send)) -> &str {
    let text = cause.downcast_ref::<&str>().copied();
    text.or_else(|| cause.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text")
}

/// The answer to a path that nothing serves.
pub(crate) async fn nothing_here() -> ApiError {
    ApiError::not_found()
}
