//! HTTP: routers, extractors that carry authority, one error table, headers.
//!
//! A handler translates, calls a use-case, and translates back. Who may call it is in its arguments: if it compiles,
//! it was checked. What a function serves is one router of [`routes`].

pub mod authority;
pub mod body;
pub mod error;
mod headers;
mod middleware;
mod pages;
mod path;
pub mod routes;

pub use pages::browser::SourceAddress;

use std::sync::Arc;

use countersign_app::App;
use countersign_core::credential::OperatorKey;

/// What every handler has.
#[derive(Clone)]
pub struct Http {
    /// The use-cases.
    pub app: App,
    /// The operator's key.
    pub operator: Arc<OperatorKey>,
}
