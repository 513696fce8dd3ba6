//! A person's visit to a deployment: its cookies, kept in a file of theirs alone, and the requests that carry them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use axum::http::header::{ACCEPT, CONTENT_TYPE, COOKIE, ORIGIN, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue};
use countersign_outbound::{Client, Limits, Over, Reach, Request};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::form_urlencoded;

use super::args::Place;
use crate::files::{make_folder, make_private, remove, write_private};
use crate::remote::is_loopback;

const LOCAL: &str = "http://127.0.0.1:8787";
const TIME_LIMIT: Duration = Duration::from_secs(20);
const REPLY_BYTES: usize = 16 * 1024 * 1024;

/// Why a command did not do as asked.
#[derive(Debug, thiserror::Error)]
pub(super) enum VisitError {
    /// The arguments or what was typed cannot be used.
    #[error("{0}")]
    Usage(String),
    /// The question had ended before the answer came.
    #[error("{0}")]
    Ended(String),
    /// Nobody is signed in, and nobody is there to ask.
    #[error("you are not signed in, or not any more; run countersign signin in a terminal")]
    NotSignedIn,
    /// What keeps the sign-in cannot be read or written.
    #[error("cannot use {}: {why}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What the system says.
        why: String,
    },
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
    /// The server refused, and says why.
    #[error("{}", said(.0))]
    Refused(Value),
}

impl VisitError {
    /// The code of a refusal.
    pub(super) fn code(&self) -> &str {
        match self {
            Self::Refused(problem) => problem["code"].as_str().unwrap_or_default(),
            _ => "",
        }
    }

    /// What the process ends with.
    pub(super) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Usage(_) | Self::NotSignedIn | Self::File { .. } => 2,
            Self::Ended(_) | Self::Unreachable { .. } | Self::Foreign { .. } | Self::Refused(_) => 1,
        })
    }
}

fn said(problem: &Value) -> String {
    let text = |member: &str| problem[member].as_str().unwrap_or_default();
    super::shown::plain(&format!("{}: {}", text("title"), text("detail")))
}

/// What the file holds.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    version: u32,
    url: String,
    tenant: String,
    cookies: BTreeMap<String, String>,
}

/// A visit.
pub(super) struct Visit {
    file: PathBuf,
    kept: Kept,
    client: Client,
}

impl Visit {
    /// The deployment and tenant that the arguments name, or those of the last sign-in.
    pub(super) fn to(place: &Place) -> Result<Self, VisitError> {
        let usage = |text: &str| VisitError::Usage(text.to_owned());
        let file = place.file().ok_or_else(|| usage("there is no home folder: give --signin-file"))?;
        let mut kept = read(&file)?;
        let url = place.url.as_deref().map(|url| url.trim_end_matches('/').to_owned());
        let url =
            url.unwrap_or_else(|| if kept.url.is_empty() { LOCAL.to_owned() } else { kept.url.clone() });
        if !is_loopback(&url) && !url.starts_with("https://") {
            return Err(VisitError::Usage(format!(
                "{url} is not https: your sign-in would cross the network in the open; use the https address"
            )));
        }
        let tenant = place.tenant.clone().unwrap_or_else(|| kept.tenant.clone());
        let tenant = if tenant.is_empty() && is_loopback(&url) { "demo".to_owned() } else { tenant };
        if !tenant.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            || tenant.is_empty()
        {
            return Err(usage("which tenant? Give its name with --tenant, as in the links of your mails"));
        }
        if (&kept.url, &kept.tenant) != (&url, &tenant) {
            // The cookies of one deployment are nobody else's business.
            kept = Kept { version: 1, url, tenant, cookies: BTreeMap::new() };
        }
        let unreachable = |error: countersign_outbound::OutboundError| VisitError::Unreachable {
            url: kept.url.clone(),
            why: error.to_string(),
        };
        let client = Client::new(Reach::Anything).map_err(unreachable)?;
        Ok(Self { file, kept, client })
    }

    /// The tenant.
    pub(super) fn tenant(&self) -> &str {
        &self.kept.tenant
    }

    /// Whether the server is on this machine.
    pub(super) fn is_here(&self) -> bool {
        is_loopback(&self.kept.url)
    }

    /// Whether this terminal is remembered.
    pub(super) fn is_remembered(&self) -> bool {
        self.kept.cookies.keys().any(|name| name.ends_with("cs-device"))
    }

    /// Forgets the sign-in.
    pub(super) fn forget(&self) -> Result<(), VisitError> {
        remove(&self.file).map_err(|error| self.file_error(&error))
    }

    /// Reads a page as JSON.
    pub(super) async fn get(&mut self, path: &str) -> Result<Value, VisitError> {
        self.send("GET", path, None).await
    }

    /// Posts a form.
    pub(super) async fn post(&mut self, path: &str, form: &[(String, String)]) -> Result<Value, VisitError> {
        self.send("POST", path, Some(form)).await
    }

    async fn send(
        &mut self,
        method: &str,
        path: &str,
        form: Option<&[(String, String)]>,
    ) -> Result<Value, VisitError> {
        let url = self.kept.url.clone();
        let unreachable = |why: String| VisitError::Unreachable { url: url.clone(), why };
        let request = Request {
            method: method.parse().map_err(|_| unreachable(format!("{method} is no method")))?,
            url: format!("{url}{path}"),
            headers: self.headers(form.is_some()).ok_or(VisitError::NotSignedIn)?,
            body: form.map(encoded).unwrap_or_default().into_bytes(),
            limits: Limits { total: TIME_LIMIT, reply_bytes: REPLY_BYTES, over: Over::Refuse },
        };
        let reply = self.client.send(request).await.map_err(|error| unreachable(error.to_string()))?;
        self.keep(&reply.headers)?;
        let said: Option<Value> = serde_json::from_slice(&reply.body).ok();
        match (reply.status, said) {
            (200..=299, Some(said)) => Ok(said),
            (300..=399, None) => Ok(Value::Null),
            (_, Some(said)) if said["code"] == "not_signed_in" => Err(VisitError::NotSignedIn),
            (_, Some(said)) if said["code"].is_string() => Err(VisitError::Refused(said)),
            (status, _) => Err(VisitError::Foreign { url, status }),
        }
    }

    fn headers(&self, is_form: bool) -> Option<HeaderMap> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let cookies: Vec<_> =
            self.kept.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if !cookies.is_empty() {
            headers.insert(COOKIE, HeaderValue::from_str(&cookies.join("; ")).ok()?);
        }
        if is_form {
            headers.insert(ORIGIN, HeaderValue::from_str(&self.kept.url).ok()?);
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        }
        Some(headers)
    }

    /// Takes over the cookies of an answer.
    fn keep(&mut self, headers: &HeaderMap) -> Result<(), VisitError> {
        let lines = headers.get_all(SET_COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut changed = false;
        for line in lines {
            let Some((name, value)) = line.split(';').next().and_then(|pair| pair.split_once('=')) else {
                continue;
            };
            changed = true;
            if value.is_empty() {
                self.kept.cookies.remove(name);
            } else {
                self.kept.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        if !changed {
            return Ok(());
        }
        let folder = self.file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let text = serde_json::to_vec_pretty(&self.kept).unwrap_or_default();
        let written = folder.map_or(Ok(()), make_folder).and_then(|()| write_private(&self.file, &text));
        written.map_err(|error| self.file_error(&error))
    }

    fn file_error(&self, error: &std::io::Error) -> VisitError {
        VisitError::File { file: self.file.clone(), why: error.to_string() }
    }
}

fn read(file: &PathBuf) -> Result<Kept, VisitError> {
    let bad = |why: String| VisitError::File { file: file.clone(), why };
    match fs::read(file) {
        Ok(bytes) => {
            make_private(file).map_err(|error| bad(error.to_string()))?;
            let kept: Kept = serde_json::from_slice(&bytes)
                .map_err(|_| bad("it is none of ours; remove it and sign in again".to_owned()))?;
            match kept.version {
                1 => Ok(kept),
                other => Err(bad(format!("it is of version {other}, which this countersign does not know"))),
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Ok(Kept { version: 1, ..Kept::default() })
        }
        Err(error) => Err(bad(error.to_string())),
    }
}

fn encoded(form: &[(String, String)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish()
}
