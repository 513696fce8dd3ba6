//! The Runtime API (2018-06-01), as a function's process sees it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::Value;
use tokio::sync::{Notify, oneshot, watch};

/// Long after every test: 2100-01-01.
const DEADLINE_MS: &str = "4102444800000";
const ARN: &str = "arn:aws:lambda:eu-central-1:123456789012:function:under-test";

/// How an invocation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The function's answer.
    Response(Bytes),
    /// What the function said of its failure.
    Error(Bytes),
    /// The process ended first.
    Died,
}

/// How far a process is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Phase {
    /// In its init phase.
    Booting,
    /// It asked for work.
    Ready,
    /// It gave up in its init phase, and said why.
    Failed(String),
    /// It is gone.
    Ended,
}

struct Call {
    event: Bytes,
    answer: oneshot::Sender<Outcome>,
}

#[derive(Default)]
struct Calls {
    queued: VecDeque<Call>,
    under_way: HashMap<String, oneshot::Sender<Outcome>>,
    taken: u64,
    ended: bool,
}

/// The API of one process.
pub(super) struct Api {
    calls: Mutex<Calls>,
    queued: Notify,
    phase: watch::Sender<Phase>,
}

impl Api {
    pub(super) fn new() -> Arc<Self> {
        let phase = watch::Sender::new(Phase::Booting);
        Arc::new(Self { calls: Mutex::default(), queued: Notify::new(), phase })
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The phase, once the init phase is over.
    pub(super) async fn booted(&self) -> Phase {
        let mut phase = self.phase.subscribe();
        let seen = phase.wait_for(|phase| *phase != Phase::Booting).await;
        seen.map_or(Phase::Ended, |phase| phase.clone())
    }

    /// Hands `event` to the process and waits for its end.
    pub(super) async fn invoke(&self, event: Bytes) -> Outcome {
        let (answer, answered) = oneshot::channel();
        {
            let mut calls = self.calls();
            if calls.ended {
                return Outcome::Died;
            }
            calls.queued.push_back(Call { event, answer });
        }
        self.queued.notify_one();
        answered.await.unwrap_or(Outcome::Died)
    }

    /// The process is gone: nobody waits for it any more.
    pub(super) fn ended(&self) {
        let mut calls = self.calls();
        *calls = Calls { ended: true, ..Calls::default() };
        self.phase.send_replace(Phase::Ended);
    }

    fn take(&self) -> Option<(String, Bytes)> {
        let mut calls = self.calls();
        let Call { event, answer } = calls.queued.pop_front()?;
        calls.taken += 1;
        let id = format!("00000000-0000-4000-8000-{:012x}", calls.taken);
        calls.under_way.insert(id.clone(), answer);
        Some((id, event))
    }

    fn answer(&self, id: &str, outcome: Outcome) -> StatusCode {
        match self.calls().under_way.remove(id) {
            Some(answer) => {
                // Nobody listens where the test stopped waiting.
                let _ = answer.send(outcome);
                StatusCode::ACCEPTED
            }
            None => StatusCode::BAD_REQUEST,
        }
    }

    /// The routes that a process calls.
    pub(super) fn router(self: Arc<Self>) -> Router {
        Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next))
            .route("/2018-06-01/runtime/invocation/{id}/response", post(response))
            .route("/2018-06-01/runtime/invocation/{id}/error", post(error))
            .route("/2018-06-01/runtime/init/error", post(init_error))
            .with_state(self)
    }
}

async fn next(State(api): State<Arc<Api>>) -> Response {
    api.phase.send_replace(Phase::Ready);
    loop {
        if let Some((id, event)) = api.take() {
            let headers = [
                ("lambda-runtime-aws-request-id", id.as_str()),
                ("lambda-runtime-deadline-ms", DEADLINE_MS),
                ("lambda-runtime-invoked-function-arn", ARN),
                ("content-type", "application/json"),
            ];
            return (headers, event).into_response();
        }
        api.queued.notified().await;
    }
}

async fn response(State(api): State<Arc<Api>>, Path(id): Path<String>, body: Bytes) -> StatusCode {
    api.answer(&id, Outcome::Response(body))
}

async fn error(State(api): State<Arc<Api>>, Path(id): Path<String>, body: Bytes) -> StatusCode {
    api.answer(&id, Outcome::Error(body))
}

async fn init_error(State(api): State<Arc<Api>>, body: Bytes) -> StatusCode {
    let said: Value = serde_json::from_slice(&body).unwrap_or_default();
    api.phase.send_replace(Phase::Failed(said.to_string()));
    StatusCode::ACCEPTED
}
