//! `respond`: the Lambda function that ends questions.

use countersign_http::routes;
use countersign_runtime::lambda;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    let http = lambda::boot().await?;
    lambda_http::run(routes::respond(http)).await
}
