//! The row of an Idempotency-Key: written with what it made, so that a repeat finds it.

use std::collections::HashMap;

use countersign_app::ports::StoreError;
use countersign_app::records::Idempotency;
use countersign_core::json::Sha256;

use crate::rows::{Reader, number, text};
use crate::scoped::TenantRows;
use crate::table::{Failed, Item, Write};

/// What the row of an earlier request says.
pub(crate) enum Earlier {
    /// The same request made this.
    Made(String),
    /// Another request used the key.
    Other,
}

impl TenantRows {
    pub(crate) fn idempotency_write(&self, idempotency: &Idempotency, object: &str) -> Write {
        let key = self.keys.idempotency(idempotency.id);
        let item: Item = HashMap::from([
            ("PK".to_owned(), text(key.pk)),
            ("SK".to_owned(), text(key.sk)),
            ("request_sha256".to_owned(), text(idempotency.request_sha256.hex())),
            ("object".to_owned(), text(object)),
            ("ttl".to_owned(), number(idempotency.until.seconds())),
        ]);
        Write::put(item).when_new()
    }
}

/// What the row that a write of ours met says.
pub(crate) fn earlier(idempotency: &Idempotency, failed: &Failed) -> Result<Earlier, StoreError> {
    let row = Reader::new(&failed.item, "idempotency");
    let is_same = Sha256::from_hex(row.text("request_sha256")?) == Some(idempotency.request_sha256);
    Ok(if is_same { Earlier::Made(row.text("object")?.to_owned()) } else { Earlier::Other })
}
