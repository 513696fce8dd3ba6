//! Key sets as issuers would publish them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use countersign_identity::{FetchFailed, FetchJwks};

/// What is published, by URL.
#[derive(Default)]
pub struct PublishedKeys(Mutex<HashMap<String, Vec<u8>>>);

impl PublishedKeys {
    /// Publishes `set` at `url`.
    pub fn publish(&self, url: &str, set: Vec<u8>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(url.to_owned(), set);
    }
}

#[async_trait]
impl FetchJwks for PublishedKeys {
    async fn fetch(&self, url: &str) -> Result<Vec<u8>, FetchFailed> {
        let found = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(url).cloned();
        found.ok_or_else(|| FetchFailed("nothing is published there".into()))
    }
}
