//! `sweep`: the Lambda function on a schedule that does what has become due.

mod counts;
mod mail;

use countersign_runtime::lambda;
use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::Value;

use counts::Counts;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let app = lambda::boot_sending(mail::channels).await?;
    // What the schedule says of itself changes nothing.
    lambda_runtime::run(service_fn(async |_: LambdaEvent<Value>| {
        app.sweep().await.map(Counts::from).map_err(Error::from)
    }))
    .await
}
