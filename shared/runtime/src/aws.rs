//! Clients of a real deployment.

use std::time::Duration;

use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, SdkConfig};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::Builder;

use crate::config::Config;

/// Attempts of one call.
const ATTEMPTS: u32 = 3;
/// Until a connection stands.
const CONNECT_LIMIT: Duration = Duration::from_secs(1);
/// One attempt.
const ATTEMPT_LIMIT: Duration = Duration::from_secs(2);
/// All attempts together: a poll answers within five seconds.
const OPERATION_LIMIT: Duration = Duration::from_secs(4);

/// A DynamoDB client with the credentials and the region of the surroundings.
pub async fn dynamodb(config: &Config) -> Client {
    dynamodb_of(&surroundings().await, config)
}

/// The same, where the surroundings are known.
pub(crate) fn dynamodb_of(shared: &SdkConfig, config: &Config) -> Client {
    let mut own = Builder::from(shared);
    own.set_endpoint_url(
        config.dynamodb_endpoint.clone().or_else(|| shared.endpoint_url().map(str::to_owned)),
    );
    Client::from_conf(own.build())
}

/// Credentials, region and limits for every client.
pub(crate) async fn surroundings() -> SdkConfig {
    let limits = TimeoutConfig::builder()
        .connect_timeout(CONNECT_LIMIT)
        .operation_attempt_timeout(ATTEMPT_LIMIT)
        .operation_timeout(OPERATION_LIMIT);
    aws_config::defaults(BehaviorVersion::latest())
        .retry_config(RetryConfig::standard().with_max_attempts(ATTEMPTS))
        .timeout_config(limits.build())
        .load()
        .await
}
