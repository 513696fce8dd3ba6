//! The table through the AWS SDK.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::delete_item::DeleteItemError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::error::ConditionalCheckFailedException;
use aws_sdk_dynamodb::types::{
    AttributeValue, CancellationReason, ConditionCheck, ConsumedCapacity, Delete, KeysAndAttributes, Put,
    ReturnConsumedCapacity, ReturnValue, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};

use crate::table::{Action, Failed, Item, Key, Query, Scan, ScanPage, Table, TableError, Write, names_in};

/// Rounds of one batch read whose answer was cut short.
const BATCH_ROUNDS: u32 = 5;

/// Is told of each call and what it consumed: for figures, not for decisions.
pub trait Meter: Send + Sync {
    /// One call was answered.
    fn called(&self, operation: &'static str, capacity_units: f64);
}

/// A table behind an SDK client.
pub struct DynamoTable {
    client: Client,
    name: String,
    meter: Option<Arc<dyn Meter>>,
}

impl DynamoTable {
    /// The table `name` behind `client`.
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self { client, name: name.into(), meter: None }
    }

    /// The same table, with each call told to `meter`.
    #[must_use]
    pub fn metered(self, meter: Arc<dyn Meter>) -> Self {
        Self { meter: Some(meter), ..self }
    }

    fn wants_capacity(&self) -> Option<ReturnConsumedCapacity> {
        self.meter.as_ref().map(|_| ReturnConsumedCapacity::Total)
    }

    fn count<'a>(&self, operation: &'static str, consumed: impl IntoIterator<Item = &'a ConsumedCapacity>) {
        if let Some(meter) = &self.meter {
            let units = consumed.into_iter().filter_map(ConsumedCapacity::capacity_units).sum();
            meter.called(operation, units);
        }
    }
}

#[async_trait]
impl Table for DynamoTable {
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError> {
        let call = self
            .client
            .get_item()
            .table_name(&self.name)
            .set_key(Some(key_item(key)))
            .consistent_read(true)
            .set_return_consumed_capacity(self.wants_capacity());
        let answer = call.send().await.map_err(|error| plain(&error))?;
        self.count("get", answer.consumed_capacity());
        Ok(answer.item)
    }

    async fn batch_get(&self, keys: &[Key]) -> Result<Vec<Item>, TableError> {
        let mut wanted = Some(batch(keys)?);
        let mut items = Vec::with_capacity(keys.len());
        for _ in 0..BATCH_ROUNDS {
            let Some(batch) = wanted.take() else { return Ok(items) };
            let call = self
                .client
                .batch_get_item()
                .request_items(&self.name, batch)
                .set_return_consumed_capacity(self.wants_capacity());
            let answer = call.send().await.map_err(|error| plain(&error))?;
            self.count("batch_get", answer.consumed_capacity());
            items.extend(
                answer.responses.and_then(|mut tables| tables.remove(&self.name)).unwrap_or_default(),
            );
            wanted = answer.unprocessed_keys.and_then(|mut tables| tables.remove(&self.name));
        }
        if wanted.is_none() { Ok(items) } else { Err(TableError::Throttled) }
    }

    async fn write(&self, write: &Write) -> Result<(), TableError> {
        match &write.action {
            Action::Put(item) => self.put(item, write).await,
            Action::Update(key, expression) => self.change(key, expression, write, None).await.map(drop),
            Action::Delete(key) => self.delete(key, write).await,
            Action::Check(_) => Err(TableError::Rejected("a check stands in transactions only".into())),
        }
    }

    async fn update(&self, write: &Write) -> Result<Item, TableError> {
        let Action::Update(key, expression) = &write.action else {
            return Err(TableError::Rejected("only an update returns its item".into()));
        };
        self.change(key, expression, write, Some(ReturnValue::AllNew)).await
    }

    async fn transact(&self, writes: &[Write]) -> Result<(), TableError> {
        let items = writes.iter().map(|write| self.transact_item(write)).collect::<Result<Vec<_>, _>>()?;
        let call = self
            .client
            .transact_write_items()
            .set_transact_items(Some(items))
            .set_return_consumed_capacity(self.wants_capacity());
        let answer = call.send().await.map_err(|error| transaction(&error))?;
        self.count("transact", answer.consumed_capacity());
        Ok(())
    }

    async fn query(&self, query: &Query) -> Result<Vec<Item>, TableError> {
        let mut items = Vec::new();
        let mut start = None;
        loop {
            let call = self
                .client
                .query()
                .table_name(&self.name)
                .set_index_name(query.index.map(str::to_owned))
                .consistent_read(query.index.is_none())
                .key_condition_expression(&query.condition)
                .set_expression_attribute_names(Some(names_in([query.condition.as_str()])))
                .set_expression_attribute_values(Some(query.values.clone()))
                .set_limit(query.limit.and_then(|limit| i32::try_from(limit).ok()))
                .set_exclusive_start_key(start)
                .set_return_consumed_capacity(self.wants_capacity());
            let answer = call.send().await.map_err(|error| plain(&error))?;
            self.count("query", answer.consumed_capacity());
            items.extend(answer.items.unwrap_or_default());
            start = answer.last_evaluated_key;
            if start.is_none() || query.limit.is_some_and(|limit| items.len() >= limit) {
                return Ok(items);
            }
        }
    }

    async fn scan(&self, scan: &Scan) -> Result<ScanPage, TableError> {
        let call = self
            .client
            .scan()
            .table_name(&self.name)
            .consistent_read(true)
            .filter_expression("begins_with(#PK, :prefix)")
            .projection_expression("#PK, #SK")
            .set_expression_attribute_names(Some(names_in(["#PK #SK"])))
            .expression_attribute_values(":prefix", AttributeValue::S(scan.prefix.clone()))
            .set_exclusive_start_key(scan.after.as_ref().map(key_item))
            .set_limit(i32::try_from(scan.limit).ok())
            .set_return_consumed_capacity(self.wants_capacity());
        let answer = call.send().await.map_err(|error| plain(&error))?;
        self.count("scan", answer.consumed_capacity());
        let keys = answer.items.unwrap_or_default().iter().filter_map(read_key).collect();
        Ok(ScanPage { keys, next: answer.last_evaluated_key.as_ref().and_then(read_key) })
    }
}

impl DynamoTable {
    async fn put(&self, item: &Item, write: &Write) -> Result<(), TableError> {
        let call = self
            .client
            .put_item()
            .table_name(&self.name)
            .set_item(Some(item.clone()))
            .set_condition_expression(write.condition.clone())
            .set_expression_attribute_names(some(write.names()))
            .set_expression_attribute_values(some(write.values.clone()))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .set_return_consumed_capacity(self.wants_capacity());
        let answer = call.send().await.map_err(|error| match error.as_service_error() {
            Some(PutItemError::ConditionalCheckFailedException(failed)) => single_failed(failed),
            _ => plain(&error),
        })?;
        self.count("put", answer.consumed_capacity());
        Ok(())
    }

    async fn delete(&self, key: &Key, write: &Write) -> Result<(), TableError> {
        let call = self
            .client
            .delete_item()
            .table_name(&self.name)
            .set_key(Some(key_item(key)))
            .set_condition_expression(write.condition.clone())
            .set_expression_attribute_names(some(write.names()))
            .set_expression_attribute_values(some(write.values.clone()))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .set_return_consumed_capacity(self.wants_capacity());
        let answer = call.send().await.map_err(|error| match error.as_service_error() {
            Some(DeleteItemError::ConditionalCheckFailedException(failed)) => single_failed(failed),
            _ => plain(&error),
        })?;
        self.count("delete", answer.consumed_capacity());
        Ok(())
    }

    async fn change(
        &self,
        key: &Key,
        expression: &str,
        write: &Write,
        wanted: Option<ReturnValue>,
    ) -> Result<Item, TableError> {
        let call = self
            .client
            .update_item()
            .table_name(&self.name)
            .set_key(Some(key_item(key)))
            .update_expression(expression)
            .set_return_values(wanted)
            .set_condition_expression(write.condition.clone())
            .set_expression_attribute_names(some(write.names()))
            .set_expression_attribute_values(some(write.values.clone()))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .set_return_consumed_capacity(self.wants_capacity());
        let answer = call.send().await.map_err(|error| match error.as_service_error() {
            Some(UpdateItemError::ConditionalCheckFailedException(failed)) => single_failed(failed),
            _ => plain(&error),
        })?;
        self.count("update", answer.consumed_capacity());
        Ok(answer.attributes.unwrap_or_default())
    }

    fn transact_item(&self, write: &Write) -> Result<TransactWriteItem, TableError> {
        let old = ReturnValuesOnConditionCheckFailure::AllOld;
        let item = TransactWriteItem::builder();
        let item = match &write.action {
            Action::Put(content) => item.put(
                Put::builder()
                    .table_name(&self.name)
                    .set_item(Some(content.clone()))
                    .set_condition_expression(write.condition.clone())
                    .set_expression_attribute_names(some(write.names()))
                    .set_expression_attribute_values(some(write.values.clone()))
                    .return_values_on_condition_check_failure(old)
                    .build()
                    .map_err(ours)?,
            ),
            Action::Update(key, expression) => item.update(
                Update::builder()
                    .table_name(&self.name)
                    .set_key(Some(key_item(key)))
                    .update_expression(expression)
                    .set_condition_expression(write.condition.clone())
                    .set_expression_attribute_names(some(write.names()))
                    .set_expression_attribute_values(some(write.values.clone()))
                    .return_values_on_condition_check_failure(old)
                    .build()
                    .map_err(ours)?,
            ),
            Action::Delete(key) => item.delete(
                Delete::builder()
                    .table_name(&self.name)
                    .set_key(Some(key_item(key)))
                    .set_condition_expression(write.condition.clone())
                    .set_expression_attribute_names(some(write.names()))
                    .set_expression_attribute_values(some(write.values.clone()))
                    .return_values_on_condition_check_failure(old)
                    .build()
                    .map_err(ours)?,
            ),
            Action::Check(key) => item.condition_check(
                ConditionCheck::builder()
                    .table_name(&self.name)
                    .set_key(Some(key_item(key)))
                    .set_condition_expression(write.condition.clone())
                    .set_expression_attribute_names(some(write.names()))
                    .set_expression_attribute_values(some(write.values.clone()))
                    .return_values_on_condition_check_failure(old)
                    .build()
                    .map_err(ours)?,
            ),
        };
        Ok(item.build())
    }
}

fn key_item(key: &Key) -> Item {
    let text = |text: &str| AttributeValue::S(text.to_owned());
    HashMap::from([("PK".to_owned(), text(&key.pk)), ("SK".to_owned(), text(&key.sk))])
}

fn read_key(item: &Item) -> Option<Key> {
    let text = |name| item.get(name)?.as_s().ok().cloned();
    Some(Key { pk: text("PK")?, sk: text("SK")? })
}

fn batch(keys: &[Key]) -> Result<KeysAndAttributes, TableError> {
    let keys = keys.iter().map(key_item).collect();
    KeysAndAttributes::builder().set_keys(Some(keys)).consistent_read(true).build().map_err(ours)
}

/// The SDK refuses empty maps.
fn some<V>(map: HashMap<String, V>) -> Option<HashMap<String, V>> {
    Some(map).filter(|map| !map.is_empty())
}

fn ours(error: aws_sdk_dynamodb::error::BuildError) -> TableError {
    TableError::Rejected(error.to_string())
}

fn single_failed(failed: &ConditionalCheckFailedException) -> TableError {
    TableError::Condition(vec![Some(Failed { item: failed.item.clone().unwrap_or_default() })])
}

/// What an error means for any operation, conditions aside.
fn plain<E: ProvideErrorMetadata>(error: &SdkError<E>) -> TableError {
    let SdkError::ServiceError(service) = error else {
        return TableError::Unavailable(kind(error).to_owned());
    };
    let message = service.err().message().unwrap_or_default();
    match service.err().code().unwrap_or_default() {
        "ProvisionedThroughputExceededException" | "ThrottlingException" | "RequestLimitExceeded" => {
            TableError::Throttled
        }
        "TransactionConflictException" | "TransactionInProgressException" => TableError::Conflict,
        code @ ("ValidationException" | "ResourceNotFoundException" | "AccessDeniedException") => {
            TableError::Rejected(format!("{code}: {message}"))
        }
        code => TableError::Unavailable(code.to_owned()),
    }
}

fn kind<E>(error: &SdkError<E>) -> &'static str {
    match error {
        SdkError::TimeoutError(_) => "timed out",
        SdkError::DispatchFailure(_) => "no connection",
        SdkError::ResponseError(_) => "unreadable answer",
        _ => "not sent",
    }
}

fn transaction(error: &SdkError<TransactWriteItemsError>) -> TableError {
    let Some(TransactWriteItemsError::TransactionCanceledException(canceled)) = error.as_service_error()
    else {
        return plain(error);
    };
    let reasons = canceled.cancellation_reasons();
    let has = |code: &str| reasons.iter().any(|reason| reason.code() == Some(code));
    if has("ConditionalCheckFailed") {
        TableError::Condition(reasons.iter().map(failed).collect())
    } else if has("TransactionConflict") {
        TableError::Conflict
    } else if has("ThrottlingError") || has("ProvisionedThroughputExceeded") {
        TableError::Throttled
    } else {
        TableError::Rejected(canceled.message().unwrap_or("transaction canceled").to_owned())
    }
}

fn failed(reason: &CancellationReason) -> Option<Failed> {
    let unmet = reason.code() == Some("ConditionalCheckFailed");
    unmet.then(|| Failed { item: reason.item().cloned().unwrap_or_default() })
}
