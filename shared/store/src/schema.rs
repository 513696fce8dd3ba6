//! The table itself: keys and indexes.

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection,
    ProjectionType, ScalarAttributeType, TimeToLiveSpecification,
};

use crate::keys::{DUE_INDEX, LIST_INDEX, MINE_INDEX};

/// The attribute that DynamoDB's TTL looks at, in seconds: garbage collection, never expiry.
pub const TTL_ATTRIBUTE: &str = "ttl";

/// Name, partition key and sort key of each index. All are sparse and hold keys only.
pub const INDEXES: [(&str, &str, &str); 3] =
    [(DUE_INDEX, "due_pk", "due_sk"), (LIST_INDEX, "list_pk", "list_sk"), (MINE_INDEX, "mine_pk", "mine_sk")];

/// Makes the table if it is not there, and sets its TTL if that is not set. A start that dies in between is completed
/// by the next.
///
/// # Errors
/// What the engine says, as text.
pub async fn ensure_table(client: &Client, name: &str) -> Result<(), String> {
    if client.describe_table().table_name(name).send().await.is_err() {
        create_table(client, name).await?;
    }
    let current = client.describe_time_to_live().table_name(name).send().await;
    let described = current.ok().and_then(|answer| answer.time_to_live_description);
    if described.and_then(|ttl| ttl.attribute_name).is_some_and(|attribute| attribute == TTL_ATTRIBUTE) {
        return Ok(());
    }
    let ttl = TimeToLiveSpecification::builder().enabled(true).attribute_name(TTL_ATTRIBUTE).build();
    let call = client.update_time_to_live().table_name(name);
    let call = call.time_to_live_specification(ttl.map_err(text)?);
    call.send().await.map(drop).map_err(|error| format!("cannot set the TTL of {name}: {error:?}"))
}

async fn create_table(client: &Client, name: &str) -> Result<(), String> {
    let keys = [("PK", KeyType::Hash), ("SK", KeyType::Range)];
    let mut call = client.create_table().table_name(name).billing_mode(BillingMode::PayPerRequest);
    for (attribute, kind) in keys {
        call = call.key_schema(element(attribute, kind).map_err(text)?);
    }
    for attribute in ["PK", "SK"].into_iter().chain(INDEXES.iter().flat_map(|(_, pk, sk)| [*pk, *sk])) {
        call = call.attribute_definitions(definition(attribute).map_err(text)?);
    }
    for (index, pk, sk) in INDEXES {
        call = call.global_secondary_indexes(sparse_index(index, pk, sk).map_err(text)?);
    }
    call.send().await.map(drop).map_err(|error| format!("cannot make the table {name}: {error:?}"))
}

fn text(error: BuildError) -> String {
    error.to_string()
}

fn element(attribute: &str, kind: KeyType) -> Result<KeySchemaElement, BuildError> {
    KeySchemaElement::builder().attribute_name(attribute).key_type(kind).build()
}

fn definition(attribute: &str) -> Result<AttributeDefinition, BuildError> {
    AttributeDefinition::builder().attribute_name(attribute).attribute_type(ScalarAttributeType::S).build()
}

fn sparse_index(name: &str, pk: &str, sk: &str) -> Result<GlobalSecondaryIndex, BuildError> {
    GlobalSecondaryIndex::builder()
        .index_name(name)
        .key_schema(element(pk, KeyType::Hash)?)
        .key_schema(element(sk, KeyType::Range)?)
        .projection(Projection::builder().projection_type(ProjectionType::KeysOnly).build())
        .build()
}
