//! The probe as a Lambda function.

use countersign_tests::probe;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    lambda_http::run(probe::router()).await
}
