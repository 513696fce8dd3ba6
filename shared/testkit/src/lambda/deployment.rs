//! All functions over one embedded engine, behind a gateway that knows which of them serves what.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::body::Bytes;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_core::time::Timestamp;
use countersign_embedded::engine::{Engine, TABLE};
use countersign_http::routes::{Function, ROUTES};
use countersign_store::dynamo::DynamoTable;
use http::{Method, Request};
use serde_json::json;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use super::event::{self, Origin};
use super::process::Process;
use crate::app::{SEAL_KEY, TestApp};
use crate::clock::MockClock;
use crate::web::{Reply, Web};

/// Function by function, the name of its binary.
pub const BINARIES: [(Function, &str); 5] = [
    (Function::Create, "create"),
    (Function::Poll, "poll"),
    (Function::Respond, "respond"),
    (Function::Manage, "manage"),
    (Function::Pages, "pages"),
];

/// 2024-01-01: before any clock that the functions read.
const LONG_AGO: Timestamp = Timestamp::from_millis(1_704_067_200_000);

/// A deployment on this machine; its processes are killed when it goes.
pub struct Deployment {
    functions: Vec<(Function, Process)>,
    binaries: PathBuf,
    folder: TempDir,
    endpoint: String,
    serving: JoinHandle<()>,
    /// The same rows through the routers of this process; it holds the keys.
    pub web: Web,
}

impl Deployment {
    /// The functions in the folder `binaries`, with a tenant whose asker may decide.
    pub async fn start(binaries: &Path) -> Self {
        let mut deployment = Self::without_functions(binaries).await;
        for (function, name) in BINARIES {
            let process = deployment.launch(name, &[]).await;
            let process = process.unwrap_or_else(|logged| panic!("{name} does not start: {logged}"));
            deployment.functions.push((function, process));
        }
        deployment
    }

    /// The same without any function started.
    pub async fn without_functions(binaries: &Path) -> Self {
        let engine = Engine::memory().await.expect("an engine in memory");
        let (address, serving) = engine.listen().await.expect("a port");
        #[expect(clippy::disallowed_methods, reason = "the engine of other processes")]
        let serving = tokio::spawn(serving);
        let table = Arc::new(DynamoTable::new(engine.client(), TABLE));
        let test = TestApp::over(table, Arc::new(MockClock::at(LONG_AGO))).await;
        let web = Web::over(TestApp { engine: Some(engine), ..test });
        let folder = tempfile::tempdir().expect("a folder");
        let (id, secret) = SEAL_KEY;
        let secrets = json!({
            "version": 1, "operator_key": web.operator,
            "seal_keys": [{"id": id, "secret_base64": STANDARD.encode(secret)}]
        });
        std::fs::write(folder.path().join("secrets.json"), secrets.to_string()).expect("a file");
        let endpoint = format!("http://{address}");
        Self { functions: vec![], binaries: binaries.to_owned(), folder, endpoint, serving, web }
    }

    /// Starts the binary `name`, with `variables` over those of this deployment.
    ///
    /// # Errors
    /// What it logged, where it does not come to ask for work.
    pub async fn launch(&self, name: &str, variables: &[(&str, &str)]) -> Result<Process, String> {
        let secrets = self.folder.path().join("secrets.json");
        let base_url = self.web.test.app.settings.base_url.clone();
        let mut all = vec![
            ("COUNTERSIGN_DYNAMODB_ENDPOINT", self.endpoint.clone()),
            ("COUNTERSIGN_SECRETS", format!("file:{}", secrets.display())),
            ("COUNTERSIGN_BASE_URL", base_url),
            ("COUNTERSIGN_LOG", "debug".into()),
        ];
        all.extend(variables.iter().map(|(name, value)| (*name, (*value).to_owned())));
        Process::start(&self.binaries.join(name), &all).await
    }

    /// Sends a request through the gateway.
    pub async fn send(&self, request: &Request<Bytes>, origin: Origin) -> Reply {
        let process = self.process(serving(request.method(), request.uri().path()));
        event::reply(&process.invoke(&event::of(request, origin)).await, origin)
    }

    /// The process of a function.
    pub fn process(&self, function: Function) -> &Process {
        let found = self.functions.iter().find(|(one, _)| *one == function);
        &found.expect("every function runs").1
    }

    /// Ends all functions: what they have logged, to the last line.
    pub fn end(mut self) -> String {
        std::mem::take(&mut self.functions).into_iter().map(|(_, process)| process.end()).collect()
    }
}

impl Drop for Deployment {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Who serves the route, or at least its path; the poll function gets the rest.
fn serving(method: &Method, path: &str) -> Function {
    let method = if method == Method::HEAD { &Method::GET } else { method };
    let by_path = || ROUTES.iter().filter(|route| fits(route.path, path));
    let route = by_path().find(|route| route.method == method.as_str()).or_else(|| by_path().next());
    route.map_or(Function::Poll, |route| route.function)
}

fn fits(template: &str, path: &str) -> bool {
    let (mut template, mut path) = (template.split('/'), path.split('/'));
    loop {
        match (template.next(), path.next()) {
            (None, None) => return true,
            (Some(name), Some(text)) if name == text || (name.starts_with('{') && !text.is_empty()) => {}
            _ => return false,
        }
    }
}
