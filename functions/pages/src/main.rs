//! `pages`: the Lambda function that shows pages to people.

use axum::extract::Request;
use axum::middleware::map_request;
use countersign_http::{SourceAddress, routes};
use countersign_runtime::lambda;
use lambda_http::RequestExt as _;
use lambda_http::request::RequestContext;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    let http = lambda::boot().await?;
    lambda_http::run(routes::pages(http).layer(map_request(source))).await
}

/// Says where a request comes from, for the limits of signing in.
async fn source(mut request: Request) -> Request {
    let from = match request.request_context_ref() {
        Some(RequestContext::ApiGatewayV2(context)) => context.http.source_ip.clone(),
        _ => None,
    };
    if let Some(from) = from {
        request.extensions_mut().insert(SourceAddress(from));
    }
    request
}
