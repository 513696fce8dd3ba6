//! Which function serves what (DESIGN.md section 6): one table, from which the routers are built and against which the
//! tests, the template and the OpenAPI document are held.

mod approvers;
mod elicitations;
mod endpoints;
mod fallback;
mod health;
mod issuers;
mod keys;
mod policy;
mod query;
mod sessions;
mod tenants;

use axum::Router;
use axum::routing::{MethodRouter, delete, get, patch, post, put};
use tower_http::catch_panic::CatchPanicLayer;

use crate::Http;
use crate::middleware::{nothing_here, panicked, poll_panicked, surround};
use crate::pages::{assets, batch, decision, inbox, me, signin, sso};

/// A deployed function, with a role of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// Stores questions.
    Create,
    /// Tells what became of questions.
    Poll,
    /// Ends questions.
    Respond,
    /// Manages sessions, tenants and approvers.
    Manage,
    /// Shows pages to people.
    Pages,
}

/// One route.
#[derive(Clone, Copy)]
pub struct Route {
    /// Who serves it.
    pub function: Function,
    /// Its method.
    pub method: &'static str,
    /// Its path, with parameters in braces.
    pub path: &'static str,
    handler: fn() -> MethodRouter<Http>,
}

const fn route(
    function: Function,
    method: &'static str,
    path: &'static str,
    handler: fn() -> MethodRouter<Http>,
) -> Route {
    Route { function, method, path, handler }
}

/// A poll that panics is answered pending.
fn calm(handler: MethodRouter<Http>) -> MethodRouter<Http> {
    handler.layer(CatchPanicLayer::custom(poll_panicked))
}

const CREATE: &[Route] = &[
    route(Function::Create, "POST", "/t/{token}/api/v1/elicitations", || post(fallback::create)),
    route(Function::Create, "POST", "/api/v1/elicitations", || post(fallback::create_by_key)),
    route(Function::Create, "POST", "/v1/elicitations", || post(elicitations::create)),
];
const POLL: &[Route] = &[
    route(Function::Poll, "GET", "/t/{token}/api/v1/elicitations/{id}", || calm(get(fallback::poll))),
    route(Function::Poll, "GET", "/t/{token}/api/v1/elicitations/{id}/", || calm(get(fallback::poll))),
    route(Function::Poll, "GET", "/api/v1/elicitations/{id}", || calm(get(fallback::poll_by_key))),
    route(Function::Poll, "GET", "/api/v1/elicitations/{id}/", || calm(get(fallback::poll_by_key))),
    route(Function::Poll, "GET", "/v1/elicitations", || get(elicitations::list)),
    route(Function::Poll, "GET", "/v1/elicitations/{id}", || get(elicitations::read)),
    route(Function::Poll, "GET", "/healthz", || get(health::live)),
    route(Function::Poll, "GET", "/readyz", || get(health::ready)),
];
const RESPOND: &[Route] = &[
    route(Function::Respond, "PATCH", "/api/v1/elicitations/{id}/respond", || patch(fallback::respond)),
    route(Function::Respond, "POST", "/v1/elicitations/{id}/respond", || post(elicitations::respond)),
    route(Function::Respond, "POST", "/v1/elicitations/{id}/withdraw", || post(elicitations::withdraw)),
    route(Function::Respond, "POST", "/v1/elicitations/{id}/ack", || post(elicitations::acknowledge)),
    route(Function::Respond, "POST", "/v1/inbound/{endpoint}", || post(endpoints::inbound)),
];
const MANAGE: &[Route] = &[
    route(Function::Manage, "POST", "/v1/sessions", || post(sessions::open)),
    route(Function::Manage, "GET", "/v1/sessions/{session}", || get(sessions::read)),
    route(Function::Manage, "POST", "/v1/sessions/{session}/resume", || post(sessions::resume)),
    route(Function::Manage, "POST", "/v1/sessions/{session}/archive", || post(sessions::archive)),
    route(Function::Manage, "POST", "/v1/sessions/{session}/tokens", || post(sessions::add_token)),
    route(Function::Manage, "DELETE", "/v1/sessions/{session}/tokens/{token_id}", || {
        delete(sessions::revoke_token)
    }),
    route(Function::Manage, "POST", "/v1/sessions/{session}/unmute", || post(sessions::unmute)),
    route(Function::Manage, "GET", "/v1/approvers", || get(approvers::list)),
    route(Function::Manage, "POST", "/v1/approvers", || post(approvers::add)),
    route(Function::Manage, "GET", "/v1/approvers/{id}", || get(approvers::read)),
    route(Function::Manage, "PATCH", "/v1/approvers/{id}", || patch(approvers::change)),
    route(Function::Manage, "DELETE", "/v1/approvers/{id}", || delete(approvers::remove)),
    route(Function::Manage, "DELETE", "/v1/approvers/{id}/passkeys", || delete(approvers::forget_passkeys)),
    route(Function::Manage, "GET", "/v1/policy", || get(policy::read)),
    route(Function::Manage, "PUT", "/v1/policy", || put(policy::replace)),
    route(Function::Manage, "GET", "/v1/endpoints", || get(endpoints::list)),
    route(Function::Manage, "POST", "/v1/endpoints", || post(endpoints::create)),
    route(Function::Manage, "GET", "/v1/endpoints/{endpoint}", || get(endpoints::read)),
    route(Function::Manage, "PATCH", "/v1/endpoints/{endpoint}", || patch(endpoints::change)),
    route(Function::Manage, "DELETE", "/v1/endpoints/{endpoint}", || delete(endpoints::remove)),
    route(Function::Manage, "POST", "/v1/endpoints/{endpoint}/enable", || post(endpoints::enable)),
    route(Function::Manage, "POST", "/v1/endpoints/{endpoint}/test", || post(endpoints::test)),
    route(Function::Manage, "POST", "/v1/endpoints/{endpoint}/disable", || post(endpoints::disable)),
    route(Function::Manage, "POST", "/v1/endpoints/{endpoint}/rotate", || post(endpoints::rotate)),
    route(Function::Manage, "GET", "/v1/issuers", || get(issuers::list)),
    route(Function::Manage, "POST", "/v1/issuers", || post(issuers::register)),
    route(Function::Manage, "GET", "/v1/issuers/{issuer}", || get(issuers::read)),
    route(Function::Manage, "DELETE", "/v1/issuers/{issuer}", || delete(issuers::remove)),
    route(Function::Manage, "GET", "/v1/tenants", || get(tenants::list)),
    route(Function::Manage, "POST", "/v1/tenants", || post(tenants::create)),
    route(Function::Manage, "GET", "/v1/tenants/{tenant}", || get(tenants::read)),
    route(Function::Manage, "PATCH", "/v1/tenants/{tenant}", || patch(tenants::change)),
    route(Function::Manage, "DELETE", "/v1/tenants/{tenant}", || delete(tenants::delete)),
    route(Function::Manage, "POST", "/v1/tenants/{tenant}/suspend", || post(tenants::suspend)),
    route(Function::Manage, "POST", "/v1/tenants/{tenant}/resume", || post(tenants::resume)),
    route(Function::Manage, "GET", "/v1/keys", || get(keys::list)),
    route(Function::Manage, "POST", "/v1/keys", || post(keys::create)),
    route(Function::Manage, "GET", "/v1/keys/{key}", || get(keys::read)),
    route(Function::Manage, "DELETE", "/v1/keys/{key}", || delete(keys::revoke)),
    route(Function::Manage, "POST", "/v1/keys/{key}/rotate", || post(keys::rotate)),
];
const PAGES: &[Route] = &[
    route(Function::Pages, "GET", "/", || get(inbox::home)),
    route(Function::Pages, "GET", "/assets/{file}", || get(assets::file)),
    route(Function::Pages, "GET", "/signin", || get(signin::workspace)),
    route(Function::Pages, "GET", "/signin/{tenant}", || get(signin::page)),
    route(Function::Pages, "POST", "/signin/{tenant}", || post(signin::ask)),
    route(Function::Pages, "POST", "/signin/{tenant}/code", || post(signin::code)),
    route(Function::Pages, "POST", "/signin/{tenant}/device", || post(signin::device)),
    route(Function::Pages, "GET", "/signin/{tenant}/sso", || get(sso::start)),
    route(Function::Pages, "POST", "/signin/{tenant}/sso", || post(sso::arrive)),
    route(Function::Pages, "GET", "/signin/{tenant}/link/{token}", || get(signin::link)),
    route(Function::Pages, "POST", "/signin/{tenant}/link/{token}", || post(signin::use_link)),
    route(Function::Pages, "POST", "/signout", || post(signin::out)),
    route(Function::Pages, "GET", "/inbox", || get(inbox::page)),
    route(Function::Pages, "GET", "/inbox/batch", || get(batch::page)),
    route(Function::Pages, "POST", "/inbox/batch", || post(batch::answer)),
    route(Function::Pages, "GET", "/me", || get(me::page)),
    route(Function::Pages, "POST", "/me/revoke", || post(me::revoke)),
    route(Function::Pages, "POST", "/me/passkey", || post(me::passkey)),
    route(Function::Pages, "GET", "/d/{tenant}/{reference}", || get(decision::page)),
    route(Function::Pages, "POST", "/d/{tenant}/{reference}", || post(decision::answer)),
];

const SERVED: [&[Route]; 5] = [CREATE, POLL, RESPOND, MANAGE, PAGES];
const COUNT: usize = CREATE.len() + POLL.len() + RESPOND.len() + MANAGE.len() + PAGES.len();

/// Every route there is.
pub const ROUTES: &[Route] = &gathered();

const fn gathered() -> [Route; COUNT] {
    let mut all = [CREATE[0]; COUNT];
    let (mut group, mut filled) = (0, 0);
    while group < SERVED.len() {
        let mut index = 0;
        while index < SERVED[group].len() {
            all[filled] = SERVED[group][index];
            filled += 1;
            index += 1;
        }
        group += 1;
    }
    all
}

/// What the function `create` serves. Each function has a list of its own, so that its binary holds no handler of
/// another: a poll could not decide if it wanted to.
pub fn create(http: Http) -> Router {
    build(CREATE, http)
}

/// What the function `poll` serves.
pub fn poll(http: Http) -> Router {
    build(POLL, http)
}

/// What the function `respond` serves.
pub fn respond(http: Http) -> Router {
    build(RESPOND, http)
}

/// What the function `manage` serves.
pub fn manage(http: Http) -> Router {
    build(MANAGE, http)
}

/// What the function `pages` serves.
pub fn pages(http: Http) -> Router {
    build(PAGES, http)
}

/// What all of them serve together.
pub fn all(http: Http) -> Router {
    build(ROUTES, http)
}

fn build(routes: &[Route], http: Http) -> Router {
    routes
        .iter()
        .fold(Router::new(), |router, route| router.route(route.path, (route.handler)()))
        .fallback(nothing_here)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(axum::middleware::from_fn_with_state(http.clone(), surround))
        .with_state(http)
}
