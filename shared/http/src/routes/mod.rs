//! Which function serves what (DESIGN.md section 6): one router each, and all of them for the local binary.

mod elicitations;
mod fallback;
mod health;
mod page;
mod query;
mod sessions;
mod tenants;

use axum::Router;
use axum::routing::{delete, get, patch, post};
use tower_http::catch_panic::CatchPanicLayer;

use crate::Http;
use crate::middleware::{nothing_here, panicked, poll_panicked, surround};

/// Stores questions.
pub fn create(http: Http) -> Router {
    finish(create_routes(), http)
}

/// Tells what became of questions.
pub fn poll(http: Http) -> Router {
    finish(poll_routes(), http)
}

/// Ends questions.
pub fn respond(http: Http) -> Router {
    finish(respond_routes(), http)
}

/// Manages sessions, tenants and approvers.
pub fn manage(http: Http) -> Router {
    finish(manage_routes(), http)
}

/// Pages for people.
pub fn pages(http: Http) -> Router {
    finish(page_routes(), http)
}

/// All of them.
pub fn all(http: Http) -> Router {
    let routes = create_routes().merge(poll_routes()).merge(respond_routes());
    finish(routes.merge(manage_routes()).merge(page_routes()), http)
}

fn create_routes() -> Router<Http> {
    Router::new()
        .route("/t/{token}/api/v1/elicitations", post(fallback::create))
        .route("/api/v1/elicitations", post(fallback::create_by_key))
        .route("/v1/elicitations", post(elicitations::create))
}

fn poll_routes() -> Router<Http> {
    let fallback = Router::new()
        .route("/t/{token}/api/v1/elicitations/{id}", get(fallback::poll))
        .route("/t/{token}/api/v1/elicitations/{id}/", get(fallback::poll))
        .route("/api/v1/elicitations/{id}", get(fallback::poll_by_key))
        .route("/api/v1/elicitations/{id}/", get(fallback::poll_by_key))
        .layer(CatchPanicLayer::custom(poll_panicked));
    Router::new()
        .route("/v1/elicitations", get(elicitations::list))
        .route("/v1/elicitations/{id}", get(elicitations::read))
        .route("/healthz", get(health::live))
        .route("/readyz", get(health::ready))
        .merge(fallback)
}

fn respond_routes() -> Router<Http> {
    Router::new()
        .route("/api/v1/elicitations/{id}/respond", patch(fallback::respond))
        .route("/v1/elicitations/{id}/respond", post(elicitations::respond))
        .route("/v1/elicitations/{id}/withdraw", post(elicitations::withdraw))
}

fn manage_routes() -> Router<Http> {
    Router::new()
        .route("/v1/sessions", post(sessions::open))
        .route("/v1/sessions/{session}", get(sessions::read))
        .route("/v1/sessions/{session}/resume", post(sessions::resume))
        .route("/v1/sessions/{session}/archive", post(sessions::archive))
        .route("/v1/sessions/{session}/tokens", post(sessions::add_token))
        .route("/v1/sessions/{session}/tokens/{token_id}", delete(sessions::revoke_token))
        .route("/v1/approvers", get(tenants::approvers).post(tenants::add_approver))
        .route("/v1/tenants", get(tenants::list).post(tenants::create))
}

fn page_routes() -> Router<Http> {
    Router::new().route("/d/{tenant}/{reference}", get(page::question))
}

fn finish(routes: Router<Http>, http: Http) -> Router {
    routes
        .fallback(nothing_here)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(axum::middleware::from_fn_with_state(http.clone(), surround))
        .with_state(http)
}
