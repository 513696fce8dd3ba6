//! The request, the key that it carries, and what may go wrong.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use axum::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use countersign_outbound::{Client, Limits, OutboundError, Over, Reach, Request};
use serde_json::Value;

use super::args::Deployment;
use crate::credentials::FILE;

/// A request takes no longer; the server's own limit is ten seconds.
const TIME_LIMIT: Duration = Duration::from_secs(20);
/// Lists of a deployment fit in this.
const REPLY_BYTES: usize = 16 * 1024 * 1024;

/// Whose key a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// The operator's.
    Operator,
    /// One with the scope `manage`.
    Manager,
}

impl Need {
    /// Its member in the local server's credentials.
    const fn member(self) -> &'static str {
        match self {
            Self::Operator => "operator_key",
            Self::Manager => "api_key",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Operator => "the operator key (csop_…)",
            Self::Manager => "an API key with the scope manage (csk_…)",
        }
    }
}

/// Why a command did not do as asked.
#[derive(Debug, thiserror::Error)]
pub(super) enum RemoteError {
    /// No key is at hand.
    #[error(
        "no key: put {} into COUNTERSIGN_KEY, or into a file for --key-file{}",
        need.words(),
        looked(.folder.as_deref())
    )]
    NoKey {
        /// What would do.
        need: Need,
        /// The data folder that was looked into.
        folder: Option<PathBuf>,
    },
    /// The key's file cannot be read.
    #[error("cannot read the key in {}: {why}", file.display())]
    KeyFile {
        /// The file.
        file: PathBuf,
        /// What the system says.
        why: String,
    },
    /// The key is no text that a header takes.
    #[error("the key holds characters that no key has")]
    BadKey,
    /// A key over plain http to another machine would be anybody's.
    #[error("{0} is not https: the key would cross the network in the open; use the https address")]
    Plain(String),
    /// Nobody answers there.
    #[error("cannot reach {url}: {why}; is the server running, and is --url right?")]
    Unreachable {
        /// Where.
        url: String,
        /// What went wrong.
        why: String,
    },
    /// What answers is no Countersign.
    #[error("{url} answered {status}, and not as Countersign does; is --url right?")]
    Foreign {
        /// Where.
        url: String,
        /// What it answered.
        status: u16,
    },
    /// The server refused.
    #[error("{}", refusal(.0))]
    Refused(Value),
}

impl RemoteError {
    /// What the server said, where it did.
    pub(super) const fn problem(&self) -> Option<&Value> {
        match self {
            Self::Refused(problem) => Some(problem),
            _ => None,
        }
    }

    /// What the process ends with.
    pub(super) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::NoKey { .. } | Self::KeyFile { .. } | Self::BadKey | Self::Plain(_) => 2,
            Self::Refused(_) | Self::Unreachable { .. } | Self::Foreign { .. } => 1,
        })
    }
}

fn looked(folder: Option<&Path>) -> String {
    let told =
        |folder: &Path| format!(" ({} has none; --data names another folder)", folder.join(FILE).display());
    folder.map(told).unwrap_or_default()
}

/// The problem's sentence, its faults, and the code to look up.
fn refusal(problem: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut said = text(&problem["detail"]);
    for fault in problem["errors"].as_array().into_iter().flatten().skip(1) {
        let (pointer, message) = (text(&fault["pointer"]), text(&fault["message"]));
        said.extend(["\n  ", &pointer, " ", &message]);
    }
    let said: String =
        said.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect();
    format!("{said} ({})", text(&problem["code"]))
}

/// A deployment, with the key for it.
pub(super) struct Server {
    url: String,
    key: String,
    client: Client,
}

impl Server {
    /// The deployment that the arguments name, with a key for what is `need`ed.
    pub(super) fn of(deployment: &Deployment, need: Need) -> Result<Self, RemoteError> {
        let url = deployment.url.trim_end_matches('/').to_owned();
        let is_here = is_loopback(&url);
        if !is_here && !url.starts_with("https://") {
            return Err(RemoteError::Plain(url));
        }
        let key = key(deployment, need, is_here)?;
        let failed =
            |error: OutboundError| RemoteError::Unreachable { url: url.clone(), why: error.to_string() };
        let client = Client::new(Reach::Anything).map_err(failed)?;
        Ok(Self { url, key, client })
    }

    /// Sends a request; the answer's JSON, `null` where it has no body.
    pub(super) async fn call(&self, method: &str, path: &str, body: &Value) -> Result<Value, RemoteError> {
        let unreachable = |why: String| RemoteError::Unreachable { url: self.url.clone(), why };
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let bearer = HeaderValue::from_str(&format!("Bearer {}", self.key));
        headers.insert(AUTHORIZATION, bearer.map_err(|_| RemoteError::BadKey)?);
        let request = Request {
            method: method.parse().map_err(|_| unreachable(format!("{method} is no method")))?,
            url: format!("{}{path}", self.url),
            headers,
            body: if body.is_null() { vec![] } else { body.to_string().into_bytes() },
            limits: Limits { total: TIME_LIMIT, reply_bytes: REPLY_BYTES, over: Over::Refuse },
        };
        let reply = self.client.send(request).await.map_err(|error| unreachable(error.to_string()))?;
        let foreign = || RemoteError::Foreign { url: self.url.clone(), status: reply.status };
        let said: Value = if reply.body.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&reply.body).map_err(|_| foreign())?
        };
        match reply.status {
            200..=299 => Ok(said),
            _ if said["code"].is_string() => Err(RemoteError::Refused(said)),
            _ => Err(foreign()),
        }
    }
}

pub(crate) fn is_loopback(url: &str) -> bool {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    let host = if authority.starts_with('[') {
        authority.split_inclusive(']').next().unwrap_or_default()
    } else {
        authority.split(':').next().unwrap_or_default()
    };
    matches!(host, "127.0.0.1" | "localhost" | "[::1]")
}

fn key(deployment: &Deployment, need: Need, is_here: bool) -> Result<String, RemoteError> {
    if let Some(file) = &deployment.key_file {
        let read = fs::read_to_string(file);
        let text =
            read.map_err(|error| RemoteError::KeyFile { file: file.clone(), why: error.to_string() })?;
        return Ok(text.trim().to_owned());
    }
    if let Some(key) = &deployment.key {
        return Ok(key.trim().to_owned());
    }
    let folder = is_here.then(|| deployment.data.clone());
    let kept = folder.as_ref().and_then(|folder| fs::read(folder.join(FILE)).ok());
    let kept: Option<Value> = kept.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let found = kept.and_then(|kept| kept[need.member()].as_str().map(str::to_owned));
    found.ok_or(RemoteError::NoKey { need, folder })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_this_machine_is_spoken_to_in_the_open() {
        for here in ["http://127.0.0.1:8787", "http://localhost/x", "http://[::1]:1", "https://localhost"] {
            assert!(is_loopback(here), "{here}");
        }
        for away in
            ["http://example.com", "http://127.0.0.1.example.com", "http://localhost@example.com", "x"]
        {
            assert!(!is_loopback(away), "{away}");
        }
    }

    #[test]
    fn a_refusal_is_told_with_all_its_faults_and_its_code() {
        let problem = json!({"code": "invalid_request", "detail": "The request is not taken: /name is missing.",
            "errors": [{"pointer": "/name", "message": "is missing"}, {"pointer": "/scopes", "message": "is empty"}]});
        let want = "The request is not taken: /name is missing.\n  /scopes is empty (invalid_request)";
        assert_eq!(RemoteError::Refused(problem).to_string(), want);
    }

    #[test]
    fn what_is_missing_is_said_with_what_to_do() {
        let error = RemoteError::NoKey { need: Need::Operator, folder: Some("./.countersign".into()) };
        let want = "no key: put the operator key (csop_…) into COUNTERSIGN_KEY, or into a file for --key-file \
                    (./.countersign/credentials.json has none; --data names another folder)";
        assert_eq!(error.to_string(), want);
    }
}
