//! The ready file: where the server is and how to talk to it, for the program that started it.

use std::path::Path;

use countersign_wire::session::Env;
use serde::Serialize;

use crate::error::StartError;
use crate::files::{remove, write_private};

/// What the file holds. No `Debug`: most of it is secret.
#[derive(Serialize)]
pub(crate) struct Ready {
    /// Where askers and people reach the server.
    pub(crate) base_url: String,
    /// The operator's key.
    pub(crate) operator_key: String,
    /// The tenant that is there from the start.
    pub(crate) tenant: String,
    /// Its first key, with every scope.
    pub(crate) api_key: String,
    /// The name of the session that the variables belong to.
    pub(crate) session: String,
    /// The five variables for a tool server.
    pub(crate) env: Env,
    /// A link that signs the first approver in, once; only at a first start.
    pub(crate) signin_url: Option<String>,
}

impl Ready {
    /// Writes the file; a reader finds all of it or nothing.
    pub(crate) fn write(&self, path: &Path) -> Result<(), StartError> {
        let write = || write_private(path, &serde_json::to_vec_pretty(self)?);
        write().map_err(|error| StartError::Ready { file: path.to_owned(), error })
    }
}

/// Removes the file of an earlier run, which would be taken for this one's.
pub(crate) fn remove_stale(path: &Path) -> Result<(), StartError> {
    remove(path).map_err(|error| StartError::Ready { file: path.to_owned(), error })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use countersign_core::id::{Bits130, SessionId};

    use super::*;

    #[test]
    fn the_file_has_the_documented_members() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ready.json");
        let session = SessionId::new(Bits130::from_bytes([1; 17]));
        let ready = Ready {
            base_url: "http://127.0.0.1:1".into(),
            operator_key: "csop_x".into(),
            tenant: "demo".into(),
            api_key: "csk_x".into(),
            session: "demo".into(),
            env: Env::new("http://ask".into(), "http://poll".into(), Duration::from_hours(1), session),
            signin_url: None,
        };
        ready.write(&path).unwrap();
        let read: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let members: Vec<_> = read.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(
            members,
            ["base_url", "operator_key", "tenant", "api_key", "session", "env", "signin_url"]
        );
        assert_eq!(read["env"]["ELICITATION_TTL_MS"], "3600000");
        assert!(read["signin_url"].is_null());
        remove_stale(&path).unwrap();
        remove_stale(&path).unwrap();
        assert!(!path.exists());
    }
}
