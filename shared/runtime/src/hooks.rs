//! Events to the tenants' own systems: Standard Webhooks, through the guarded client.

use std::time::Duration;

use async_trait::async_trait;
use countersign_app::events::{Event, HookReply, Hooks, What};
use countersign_core::signature::SigningSecret;
use countersign_core::time::Timestamp;
use countersign_outbound::{Client, Limits, OutboundError, Over, Reach, Request};
use countersign_wire::event::EventBody;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, Method};

/// What one attempt may take (PROTOCOL.md section 2.6).
const LIMITS: Limits = Limits { total: Duration::from_secs(10), reply_bytes: 16 * 1024, over: Over::Cut };

/// Posts events to the internet, and to nowhere else.
pub struct GuardedHooks(Result<Client, OutboundError>);

impl GuardedHooks {
    /// As far as `reach`.
    pub fn new(reach: Reach) -> Self {
        Self(Client::new(reach))
    }
}

#[async_trait]
impl Hooks for GuardedHooks {
    async fn post(&self, url: &str, secrets: &[SigningSecret], event: &Event, now: Timestamp) -> HookReply {
        let unreachable = |error: &dyn std::fmt::Display| HookReply::Unreachable(error.to_string());
        let client = match &self.0 {
            Ok(client) => client,
            Err(error) => return unreachable(error),
        };
        let body = match &event.what {
            What::Question(kind, question) => EventBody::of(*kind, event.happened_at, question, now),
            What::Test => EventBody::test(now),
        };
        let request = serde_json::to_vec(&body).map_err(|error| unreachable(&error)).and_then(|body| {
            let headers = signed(secrets, &event.id, now, &body).map_err(|error| unreachable(&error))?;
            Ok(Request { method: Method::POST, url: url.to_owned(), headers, body, limits: LIMITS })
        });
        let request = match request {
            Ok(request) => request,
            Err(reply) => return reply,
        };
        match client.send(request).await {
            Ok(reply) => {
                let wish = reply.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
                let retry_after = wish.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
                HookReply::Answered { status: reply.status, retry_after }
            }
            Err(error) => unreachable(&error),
        }
    }
}

/// The headers of Standard Webhooks: one signature for each secret that is good.
fn signed(
    secrets: &[SigningSecret],
    id: &str,
    now: Timestamp,
    body: &[u8],
) -> Result<HeaderMap, http::header::InvalidHeaderValue> {
    let signatures: Vec<_> = secrets.iter().map(|secret| secret.sign(id, now.seconds(), body)).collect();
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(HeaderName::from_static("webhook-id"), id.parse()?);
    headers.insert(HeaderName::from_static("webhook-timestamp"), HeaderValue::from(now.seconds()));
    headers.insert(HeaderName::from_static("webhook-signature"), signatures.join(" ").parse()?);
    Ok(headers)
}
