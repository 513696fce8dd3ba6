//! Where the link of a notice leads. It reads nothing, changes nothing and grants nothing: it says how to answer.

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_FRAME_OPTIONS};
use axum::response::{IntoResponse, Response};
use countersign_app::App;
use countersign_core::id::{Reference, TenantId};

use crate::path::Path;

const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";
const STYLE: &str = "body{margin:0;padding:2rem 1.25rem;background:#f3f1ec;color:#1b1b1e;font:1.0625rem/1.5 \
    system-ui,sans-serif}main{max-width:40rem;margin:0 auto}h1{font-size:1.875rem;line-height:1.2}h2{font-size:1.375rem}\
    pre{padding:1rem;background:#fffefc;border:1px solid #827e75;border-radius:3px;white-space:pre-wrap;\
    overflow-wrap:anywhere}@media(prefers-color-scheme:dark){body{background:#101113;color:#eceae4}\
    pre{background:#18191c;border-color:#7c7a76}}";

/// `GET /d/{tenant}/{reference}`
pub(super) async fn question(
    State(app): State<App>,
    Path((tenant, reference)): Path<(String, String)>,
) -> Response {
    let named = tenant.parse::<TenantId>().ok().zip(reference.parse::<Reference>().ok());
    let Some((_, reference)) = named else {
        let body = "<h1>There is no such page</h1><p>Check the link against the mail that it came in.</p>";
        return html(StatusCode::NOT_FOUND, "There is no such page", body);
    };
    let body = how_to_answer(&app.settings.base_url, &reference);
    html(StatusCode::OK, &format!("Answer {reference}"), &body)
}

fn how_to_answer(base_url: &str, reference: &Reference) -> String {
    format!(
        "<h1>Answer {reference}</h1>\
         <p>Opening this page decided nothing.</p>\
         <p>This version of Countersign has no sign-in page yet. Answer from a terminal, with an API key of your \
         tenant in <code>COUNTERSIGN_API_KEY</code>.</p>\
         <h2>Read what is asked</h2>\
         <pre>curl {base_url}/v1/elicitations/{reference} \\\n  \
         -H \"Authorization: Bearer $COUNTERSIGN_API_KEY\"</pre>\
         <p>What is asked stands under <code>question</code>. The key needs the scope <code>read</code>.</p>\
         <h2>Answer it</h2>\
         <pre>curl {base_url}/v1/elicitations/{reference}/respond \\\n  \
         -H \"Authorization: Bearer $COUNTERSIGN_API_KEY\" \\\n  \
         -d '{{\"action\": \"decline\", \"reason\": \"…\"}}'</pre>\
         <p>The action is <code>accept</code>, <code>decline</code> or <code>cancel</code>; an accept of a form \
         brings its values as <code>content</code>. The key needs the scope <code>decide</code>.</p>"
    )
}

fn html(status: StatusCode, title: &str, body: &str) -> Response {
    let page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\">\
         <title>{title} · Countersign</title><style>{STYLE}</style></head><body><main>{body}</main></body></html>"
    );
    let headers = [
        (CONTENT_TYPE.as_str(), "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY.as_str(), POLICY),
        (REFERRER_POLICY.as_str(), "same-origin"),
        (X_FRAME_OPTIONS.as_str(), "DENY"),
        ("x-robots-tag", "noindex"),
    ];
    (status, headers, page).into_response()
}
