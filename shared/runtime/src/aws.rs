//! Clients of a deployment on AWS.
//!
//! Lambda gives a function its region and its credentials as environment variables, for as long as its sandbox lives. So
//! there is no chain of providers here: looking for credentials elsewhere is most of what a cold start would cost.

use std::time::Duration;

use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, Builder, Region};
use aws_types::SdkConfig;

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
pub(crate) fn dynamodb_of(shared: &SdkConfig, config: &Config) -> Client {
    let mut own = Builder::from(shared);
    own.set_endpoint_url(
        config.dynamodb_endpoint.clone().or_else(|| shared.endpoint_url().map(str::to_owned)),
    );
    Client::from_conf(own.build())
}

/// Credentials, region and limits for every client, in the variables that `lookup` knows. What is missing there is told by
/// the first call that needs it.
pub(crate) fn surroundings(lookup: impl Fn(&str) -> Option<String>) -> SdkConfig {
    let limits = TimeoutConfig::builder()
        .connect_timeout(CONNECT_LIMIT)
        .operation_attempt_timeout(ATTEMPT_LIMIT)
        .operation_timeout(OPERATION_LIMIT);
    let region = lookup("AWS_REGION").or_else(|| lookup("AWS_DEFAULT_REGION")).map(Region::new);
    let keys = lookup("AWS_ACCESS_KEY_ID").zip(lookup("AWS_SECRET_ACCESS_KEY"));
    let credentials = keys.map(|(id, secret)| {
        let credentials = Credentials::new(id, secret, lookup("AWS_SESSION_TOKEN"), None, "environment");
        SharedCredentialsProvider::new(credentials)
    });
    let mut config = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(region)
        .retry_config(RetryConfig::standard().with_max_attempts(ATTEMPTS))
        .timeout_config(limits.build());
    config.set_credentials_provider(credentials);
    config.set_endpoint_url(lookup("AWS_ENDPOINT_URL").filter(|url| !url.is_empty()));
    config.build()
}
