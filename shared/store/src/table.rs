//! The operations of a DynamoDB table that we use, as one small port: what injects faults wraps it.

use std::collections::HashMap;

use async_trait::async_trait;
use aws_sdk_dynamodb::types::AttributeValue;

/// The attributes of one item.
pub type Item = HashMap<String, AttributeValue>;

/// A primary key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    /// Partition key.
    pub pk: String,
    /// Sort key.
    pub sk: String,
}

/// What a write does to its item.
#[derive(Debug, Clone)]
pub enum Action {
    /// Writes the whole item.
    Put(Item),
    /// Applies an update expression to the item of that key.
    Update(Key, String),
    /// Removes the item of that key; nothing there is fine.
    Delete(Key),
    /// Changes nothing, and fails the transaction that it stands in where its condition does not hold.
    Check(Key),
}

/// One write. In its expressions every `#name` stands for the attribute `name`: many good names are reserved words.
#[derive(Debug, Clone)]
pub struct Write {
    /// What it does.
    pub action: Action,
    /// The condition expression that must hold.
    pub condition: Option<String>,
    /// The values of the expressions, `:name` to value.
    pub values: HashMap<String, AttributeValue>,
}

impl Write {
    /// Writes `item`, whatever is there.
    pub fn put(item: Item) -> Self {
        Self { action: Action::Put(item), condition: None, values: HashMap::new() }
    }

    /// Applies `expression` to the item of `key`.
    pub fn update(key: Key, expression: impl Into<String>) -> Self {
        Self { action: Action::Update(key, expression.into()), condition: None, values: HashMap::new() }
    }

    /// Removes the item of `key`.
    pub fn delete(key: Key) -> Self {
        Self { action: Action::Delete(key), condition: None, values: HashMap::new() }
    }

    /// Only looks whether `condition` holds on the item of `key`; for transactions.
    pub fn check(key: Key, condition: impl Into<String>) -> Self {
        Self { action: Action::Check(key), condition: Some(condition.into()), values: HashMap::new() }
    }

    /// The same write under a condition.
    #[must_use]
    pub fn when(mut self, condition: impl Into<String>) -> Self {
        self.condition = Some(condition.into());
        self
    }

    /// The same write where no item of its key exists.
    #[must_use]
    pub fn when_new(self) -> Self {
        self.when("attribute_not_exists(#PK)")
    }

    /// The same write with the value of a `:name`.
    #[must_use]
    pub fn value(mut self, name: &str, value: AttributeValue) -> Self {
        self.values.insert(name.to_owned(), value);
        self
    }

    /// The names of its expressions, `#name` to name.
    pub fn names(&self) -> HashMap<String, String> {
        let update = match &self.action {
            Action::Put(_) | Action::Delete(_) | Action::Check(_) => "",
            Action::Update(_, expression) => expression,
        };
        names_in([update, self.condition.as_deref().unwrap_or_default()])
    }
}

/// Every `#name` of the expressions.
pub(crate) fn names_in<'a>(expressions: impl IntoIterator<Item = &'a str>) -> HashMap<String, String> {
    let mut names = HashMap::new();
    for expression in expressions {
        for part in expression.split('#').skip(1) {
            let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(part.len());
            names.insert(format!("#{}", &part[..end]), part[..end].to_owned());
        }
    }
    names
}

/// The items of one partition of the table or an index, in order of the sort key.
#[derive(Debug, Clone)]
pub struct Query {
    /// The index; `None` for the table itself, which is read consistently.
    pub index: Option<&'static str>,
    /// Key condition expression.
    pub condition: String,
    /// Values of the expression.
    pub values: HashMap<String, AttributeValue>,
    /// Most items to return.
    pub limit: Option<usize>,
}

/// A walk over all items of some partitions, a page at a time.
#[derive(Debug, Clone)]
pub struct Scan {
    /// What the partition keys start with.
    pub prefix: String,
    /// The last key of the page before.
    pub after: Option<Key>,
    /// Most items to look at, others than those of the prefix included.
    pub limit: usize,
}

/// A page of a [`Scan`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScanPage {
    /// The keys of the prefix.
    pub keys: Vec<Key>,
    /// Where the next page starts; `None` at the end.
    pub next: Option<Key>,
}

/// Why an operation did not do as asked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum TableError {
    /// Too many requests; nothing was applied.
    #[error("throttled")]
    Throttled,
    /// Another transaction was on the item; nothing was applied.
    #[error("conflict with another transaction")]
    Conflict,
    /// No usable answer: a write may have been applied.
    #[error("no usable answer: {0}")]
    Unavailable(String),
    /// A condition did not hold; one entry per write, with the item as it stands where it failed.
    #[error("a condition did not hold")]
    Condition(Vec<Option<Failed>>),
    /// The request itself is wrong: a fault of ours.
    #[error("refused by the table: {0}")]
    Rejected(String),
}

/// A condition that did not hold.
#[derive(Debug, Clone, Default)]
pub struct Failed {
    /// The item as it stands; empty if there is none.
    pub item: Item,
}

/// A table.
#[async_trait]
pub trait Table: Send + Sync {
    /// One item, consistently.
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError>;

    /// Up to 100 items in one consistent read, in no order.
    async fn batch_get(&self, keys: &[Key]) -> Result<Vec<Item>, TableError>;

    /// One write.
    async fn write(&self, write: &Write) -> Result<(), TableError>;

    /// One update; the item as it stands after it.
    async fn update(&self, write: &Write) -> Result<Item, TableError>;

    /// Up to 100 writes, all or none.
    async fn transact(&self, writes: &[Write]) -> Result<(), TableError>;

    /// The items of a query, up to its limit; all of them where it has none.
    async fn query(&self, query: &Query) -> Result<Vec<Item>, TableError>;

    /// A page of a walk over the whole table. It costs what it passes: for purging, never for requests.
    async fn scan(&self, scan: &Scan) -> Result<ScanPage, TableError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hash_name_of_the_expressions_is_bound() {
        let key = Key { pk: "p".into(), sk: "s".into() };
        let write = Write::update(key, "SET #open.#el_0a = :d REMOVE #lost").when("size(#open) < :n");
        let names = write.names();
        assert_eq!(names.len(), 3);
        assert_eq!(names["#el_0a"], "el_0a");
    }
}
