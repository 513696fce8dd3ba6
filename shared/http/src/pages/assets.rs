//! The stylesheet, the script and the icon: one of each, named by their content, so that a browser may keep them.

use std::sync::OnceLock;

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use countersign_core::json::Sha256;
use serde_json::json;

use super::words::EN;
use crate::error::ApiError;
use crate::path::Path;

const CSS: &str = include_str!("../../assets/countersign.css");
/// Begins where `WORDS` stands, with the words that it puts on a page.
const SCRIPT: &str = include_str!("../../assets/countersign.js");
const WORDS: &str = "/* words */";
const ICON: &str = include_str!("../../assets/mark.svg");
/// Past this, names of content change with every release anyway.
const KEEP: &str = "public, max-age=31536000, immutable";

/// The address of the stylesheet.
pub(crate) fn css() -> &'static str {
    static PATH: OnceLock<String> = OnceLock::new();
    PATH.get_or_init(|| address(CSS, "css"))
}

/// The address of the script.
pub(crate) fn script() -> &'static str {
    static PATH: OnceLock<String> = OnceLock::new();
    PATH.get_or_init(|| address(spoken_script(), "js"))
}

/// The script with its words.
fn spoken_script() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let words = json!({"time": EN.time, "script": EN.script});
        SCRIPT.replacen(WORDS, &words.to_string(), 1)
    })
}

/// The address of the icon.
pub(crate) fn icon() -> &'static str {
    static PATH: OnceLock<String> = OnceLock::new();
    PATH.get_or_init(|| address(ICON, "svg"))
}

fn address(content: &str, suffix: &str) -> String {
    format!("/assets/{}.{suffix}", &Sha256::of(content.as_bytes()).hex()[..16])
}

/// `GET /assets/{file}`
pub(crate) async fn file(Path(file): Path<String>) -> Result<Response, ApiError> {
    let path = format!("/assets/{file}");
    let (content, kind) = if path == css() {
        (CSS, "text/css; charset=utf-8")
    } else if path == script() {
        (spoken_script(), "text/javascript; charset=utf-8")
    } else if path == icon() {
        (ICON, "image/svg+xml")
    } else {
        return Err(ApiError::not_found());
    };
    Ok(([(CONTENT_TYPE, kind), (CACHE_CONTROL, KEEP)], content).into_response())
}
