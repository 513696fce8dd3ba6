//! Idempotency-Key on creates of something else than a question (PROTOCOL.md section 0): principal and route are the
//! scope, and a key is known for at least a day.

use countersign_core::id::IdempotencyKey;
use countersign_core::json::Sha256;
use countersign_core::limits::IDEMPOTENCY_MEMORY;
use serde_json::json;

use crate::App;
use crate::authority::Caller;
use crate::records::Idempotency;

/// A key that came with a request, and the hash of the request's body.
#[derive(Debug, Clone)]
pub struct RequestKey {
    /// The key.
    pub key: IdempotencyKey,
    /// Hash of the canonical body.
    pub request_sha256: Sha256,
}

impl App {
    pub(crate) fn idempotency(&self, caller: &Caller, route: &str, request: &RequestKey) -> Idempotency {
        let parts = json!(["idempotency", caller.principal().as_str(), route, request.key.as_str()]);
        Idempotency {
            id: Sha256::of_json(&parts),
            request_sha256: request.request_sha256,
            until: self.clock.now().plus(IDEMPOTENCY_MEMORY),
        }
    }
}
