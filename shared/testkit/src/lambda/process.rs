//! One execution environment: a built binary as a process, and the Runtime API that it polls.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle as Reader;

use axum::body::Bytes;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::api::{Api, Outcome, Phase};

/// What AWS sets for every function.
const SURROUNDINGS: [(&str, &str); 8] = [
    ("AWS_ACCESS_KEY_ID", "local"),
    ("AWS_SECRET_ACCESS_KEY", "local"),
    ("AWS_REGION", "eu-central-1"),
    ("AWS_LAMBDA_FUNCTION_NAME", "under-test"),
    ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
    ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256"),
    ("AWS_LAMBDA_LOG_GROUP_NAME", "/aws/lambda/under-test"),
    ("AWS_LAMBDA_LOG_STREAM_NAME", "stream"),
];

/// A running function; killed when it goes.
pub struct Process {
    child: Child,
    api: Arc<Api>,
    serving: JoinHandle<()>,
    logged: Arc<Mutex<String>>,
    reader: Option<Reader<()>>,
}

impl Process {
    /// Starts `binary` with `variables` and nothing else of our environment, and waits until it asks for work.
    ///
    /// # Errors
    /// What it logged, where it ends instead.
    pub async fn start(binary: &Path, variables: &[(&str, String)]) -> Result<Self, String> {
        let api = Api::new();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let router = Arc::clone(&api).router();
        #[expect(clippy::disallowed_methods, reason = "AWS's side of the wire, not ours")]
        let serving = tokio::spawn(async move {
            let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
                drop(stream.set_nodelay(true));
            });
            drop(axum::serve(listener, router).await);
        });
        let mut child = Command::new(binary)
            .env_clear()
            .envs(SURROUNDINGS)
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .env("AWS_LAMBDA_RUNTIME_API", address.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", binary.display()));
        let (logged, reader) = collect(child.stderr.take().expect("a pipe"), Arc::clone(&api));
        let process = Self { child, api, serving, logged, reader: Some(reader) };
        match process.api.booted().await {
            Phase::Ready => Ok(process),
            Phase::Failed(why) => Err(why),
            Phase::Booting | Phase::Ended => Err(process.logged()),
        }
    }

    /// One invocation.
    pub async fn invoke(&self, event: &Value) -> Outcome {
        self.api.invoke(Bytes::from(event.to_string())).await
    }

    /// What it has logged, as far as that has arrived.
    pub fn logged(&self) -> String {
        self.logged.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends it: all that it has logged, to the last line.
    pub fn end(mut self) -> String {
        self.kill();
        if let Some(reader) = self.reader.take() {
            reader.join().expect("a reader that does not panic");
        }
        self.logged()
    }

    fn kill(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }

    /// The id of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        self.serving.abort();
    }
}

/// Keeps what comes from `pipe`; its end is the end of the process.
fn collect(pipe: ChildStderr, api: Arc<Api>) -> (Arc<Mutex<String>>, Reader<()>) {
    let logged = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&logged);
    #[expect(clippy::disallowed_methods, reason = "reads what another process writes until that ends")]
    let reader = std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.push_str(&line);
            kept.push('\n');
        }
        api.ended();
    });
    (logged, reader)
}
