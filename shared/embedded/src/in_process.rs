//! The engine behind the SDK without a socket: the SDK's HTTP requests are answered in this process.

use aws_smithy_runtime_api::client::http::{
    HttpConnector, HttpConnectorFuture, SharedHttpClient, SharedHttpConnector, http_client_fn,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::body::SdkBody;
use dynoxide::{Database, DynoxideError};
use serde::Serialize;
use serde::de::DeserializeOwned;

const TARGET_PREFIX: &str = "DynamoDB_20120810.";

/// What stands in for an HTTP client.
pub(crate) fn client(database: &Database) -> SharedHttpClient {
    let connector = SharedHttpConnector::new(InProcess(database.clone()));
    http_client_fn(move |_, _| connector.clone())
}

#[derive(Clone)]
struct InProcess(Database);

impl std::fmt::Debug for InProcess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("InProcess")
    }
}

impl HttpConnector for InProcess {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let database = self.0.clone();
        HttpConnectorFuture::new(async move {
            let target = request.headers().get("x-amz-target").unwrap_or_default();
            let operation = target.strip_prefix(TARGET_PREFIX).unwrap_or_default().to_owned();
            let body = request.body().bytes().unwrap_or_default().to_vec();
            // The engine waits for the disk: not on a thread that serves others.
            let answered = tokio::task::spawn_blocking(move || answer(&database, &operation, &body)).await;
            let (status, body) = answered.map_err(|error| ConnectorError::other(error.into(), None))?;
            respond(status, body)
        })
    }
}

fn respond(status: u16, body: String) -> Result<HttpResponse, ConnectorError> {
    let response = http::Response::builder()
        .status(status)
        .header("content-type", "application/x-amz-json-1.0")
        .body(SdkBody::from(body))
        .map_err(|error| ConnectorError::other(error.into(), None))?;
    HttpResponse::try_from(response).map_err(|error| ConnectorError::other(error.into(), None))
}

fn answer(database: &Database, operation: &str, body: &[u8]) -> (u16, String) {
    match run(database, operation, body) {
        Ok(json) => (200, json),
        Err(error) => (error.status_code(), error.to_json()),
    }
}

/// The operations that the store uses.
fn run(database: &Database, operation: &str, body: &[u8]) -> Result<String, DynoxideError> {
    match operation {
        "GetItem" => call(body, |request| database.get_item(request)),
        "BatchGetItem" => call(body, |request| database.batch_get_item(request)),
        "PutItem" => call(body, |request| database.put_item(request)),
        "UpdateItem" => call(body, |request| database.update_item(request)),
        "TransactWriteItems" => call(body, |request| database.transact_write_items(request)),
        "Query" => call(body, |request| database.query(request)),
        "Scan" => call(body, |request| database.scan(request)),
        "DeleteItem" => call(body, |request| database.delete_item(request)),
        "CreateTable" => call(body, |request| database.create_table(request)),
        "DescribeTable" => call(body, |request| database.describe_table(request)),
        "DescribeTimeToLive" => call(body, |request| database.describe_time_to_live(request)),
        "UpdateTimeToLive" => call(body, |request| database.update_time_to_live(request)),
        other => Err(DynoxideError::ValidationException(format!("the store does not use {other}"))),
    }
}

fn call<Request: DeserializeOwned, Answer: Serialize>(
    body: &[u8],
    operation: impl FnOnce(Request) -> Result<Answer, DynoxideError>,
) -> Result<String, DynoxideError> {
    let request = serde_json::from_slice(body).map_err(|error| invalid(&error))?;
    let answer = operation(request)?;
    serde_json::to_string(&answer).map_err(|error| invalid(&error))
}

fn invalid(error: &serde_json::Error) -> DynoxideError {
    DynoxideError::ValidationException(error.to_string())
}
