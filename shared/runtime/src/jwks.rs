//! Key sets of the tenants' own issuers, through the guarded client.

use async_trait::async_trait;
use countersign_identity::limits::{JWKS_BYTES, JWKS_LIMIT};
use countersign_identity::{FetchFailed, FetchJwks};
use countersign_outbound::{Client, Limits, OutboundError, Over, Reach, Request};
use http::{HeaderMap, HeaderValue, Method};

/// Fetches key sets from the internet, and from nowhere else.
pub struct GuardedJwks(Result<Client, OutboundError>);

impl GuardedJwks {
    /// As far as `reach`.
    pub fn new(reach: Reach) -> Self {
        Self(Client::new(reach))
    }
}

#[async_trait]
impl FetchJwks for GuardedJwks {
    async fn fetch(&self, url: &str) -> Result<Vec<u8>, FetchFailed> {
        let failed = |error: &dyn std::fmt::Display| FetchFailed(error.to_string());
        let client = self.0.as_ref().map_err(|error| failed(error))?;
        let mut headers = HeaderMap::new();
        headers.insert(http::header::ACCEPT, HeaderValue::from_static("application/json"));
        let limits = Limits { total: JWKS_LIMIT, reply_bytes: JWKS_BYTES, over: Over::Refuse };
        let request = Request { method: Method::GET, url: url.to_owned(), headers, body: vec![], limits };
        let reply = client.send(request).await.map_err(|error| failed(&error))?;
        if reply.status == 200 {
            Ok(reply.body)
        } else {
            Err(FetchFailed(format!("status {}", reply.status)))
        }
    }
}
