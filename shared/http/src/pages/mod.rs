//! Pages for people (PROTOCOL.md section 4): signing in, the inbox, and the question itself.
//!
//! A link grants nothing, and GET and HEAD change nothing. Who may look is in [`browser::Looking`], who may act in
//! [`browser::Acting`]: the second needs the strict cookie and an Origin of our own. What a form posts is looked at only
//! with a token that is bound to the person's session and the question.

pub(crate) mod assets;
pub(crate) mod batch;
pub(crate) mod browser;
pub(crate) mod decision;
mod fields;
mod frame;
pub(crate) mod inbox;
mod json;
pub(crate) mod me;
mod outcome;
mod passkey;
mod sheet;

mod shown;
pub(crate) mod signin;
pub(crate) mod sso;
mod when;
pub(crate) mod words;

pub(crate) use frame::{ErrorPage, secure};

/// Whether `path` is one that people open, so that its errors are pages too.
pub(crate) fn is_page(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    matches!(first, "" | "d" | "inbox" | "signin" | "signout" | "me" | "assets")
}
