//! Reading and writing single attributes.

use std::collections::HashMap;
use std::str::FromStr;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use countersign_app::ports::StoreError;
use countersign_core::id::ApproverId;
use countersign_core::time::Timestamp;

use crate::table::{Item, Key};

pub(crate) fn text(text: impl Into<String>) -> AttributeValue {
    AttributeValue::S(text.into())
}

pub(crate) fn number(number: impl ToString) -> AttributeValue {
    AttributeValue::N(number.to_string())
}

pub(crate) fn time(at: Timestamp) -> AttributeValue {
    number(at.millis())
}

/// An item under construction: absent values leave no attribute.
pub(super) struct Builder(Item);

impl Builder {
    pub(super) fn new(key: &Key) -> Self {
        Self(HashMap::from([("PK".to_owned(), text(&*key.pk)), ("SK".to_owned(), text(&*key.sk))]))
    }

    pub(super) fn bare() -> Self {
        Self(HashMap::new())
    }

    pub(super) fn set(mut self, name: &str, value: AttributeValue) -> Self {
        self.0.insert(name.to_owned(), value);
        self
    }

    pub(super) fn maybe(self, name: &str, value: Option<AttributeValue>) -> Self {
        match value {
            Some(value) => self.set(name, value),
            None => self,
        }
    }

    pub(super) fn build(self) -> Item {
        self.0
    }
}

/// Reads the attributes of one item.
pub(crate) struct Reader<'a> {
    item: &'a Item,
    kind: &'static str,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(item: &'a Item, kind: &'static str) -> Self {
        Self { item, kind }
    }

    pub(crate) fn corrupt(&self, what: &str) -> StoreError {
        StoreError::Corrupt(format!("{}: {what}", self.kind))
    }

    pub(crate) fn maybe_text(&self, name: &str) -> Result<Option<&'a str>, StoreError> {
        match self.item.get(name) {
            None => Ok(None),
            Some(AttributeValue::S(text)) => Ok(Some(text)),
            Some(_) => Err(self.corrupt(name)),
        }
    }

    pub(crate) fn text(&self, name: &str) -> Result<&'a str, StoreError> {
        self.maybe_text(name)?.ok_or_else(|| self.corrupt(name))
    }

    pub(crate) fn maybe_owned(&self, name: &str) -> Result<Option<String>, StoreError> {
        Ok(self.maybe_text(name)?.map(str::to_owned))
    }

    pub(crate) fn maybe_parsed<T: FromStr>(&self, name: &str) -> Result<Option<T>, StoreError> {
        let text = self.maybe_text(name)?;
        text.map(|text| text.parse().map_err(|_| self.corrupt(name))).transpose()
    }

    pub(crate) fn parsed<T: FromStr>(&self, name: &str) -> Result<T, StoreError> {
        self.maybe_parsed(name)?.ok_or_else(|| self.corrupt(name))
    }

    pub(crate) fn maybe_number<T: FromStr>(&self, name: &str) -> Result<Option<T>, StoreError> {
        match self.item.get(name) {
            None => Ok(None),
            Some(AttributeValue::N(digits)) => digits.parse().map(Some).map_err(|_| self.corrupt(name)),
            Some(_) => Err(self.corrupt(name)),
        }
    }

    pub(crate) fn number<T: FromStr>(&self, name: &str) -> Result<T, StoreError> {
        self.maybe_number(name)?.ok_or_else(|| self.corrupt(name))
    }

    pub(crate) fn maybe_time(&self, name: &str) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.maybe_number(name)?.map(Timestamp::from_millis))
    }

    pub(crate) fn time(&self, name: &str) -> Result<Timestamp, StoreError> {
        self.maybe_time(name)?.ok_or_else(|| self.corrupt(name))
    }

    pub(crate) fn maybe_millis(&self, name: &str) -> Result<Option<Duration>, StoreError> {
        Ok(self.maybe_number(name)?.map(Duration::from_millis))
    }

    pub(crate) fn maybe_bytes(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        match self.item.get(name) {
            None => Ok(None),
            Some(AttributeValue::B(bytes)) => Ok(Some(bytes.clone().into_inner())),
            Some(_) => Err(self.corrupt(name)),
        }
    }

    pub(crate) fn flag(&self, name: &str) -> Result<bool, StoreError> {
        match self.item.get(name) {
            None => Ok(false),
            Some(AttributeValue::Bool(flag)) => Ok(*flag),
            Some(_) => Err(self.corrupt(name)),
        }
    }

    pub(crate) fn maybe_map(&self, name: &str) -> Result<Option<&'a Item>, StoreError> {
        match self.item.get(name) {
            None => Ok(None),
            Some(AttributeValue::M(map)) => Ok(Some(map)),
            Some(_) => Err(self.corrupt(name)),
        }
    }

    pub(crate) fn map(&self, name: &str) -> Result<&'a Item, StoreError> {
        self.maybe_map(name)?.ok_or_else(|| self.corrupt(name))
    }

    pub(crate) fn words<T: FromStr>(&self, name: &str) -> Result<Vec<T>, StoreError> {
        let Some(AttributeValue::L(list)) = self.item.get(name) else { return Err(self.corrupt(name)) };
        let word = |value: &AttributeValue| value.as_s().ok().and_then(|word| word.parse().ok());
        list.iter().map(|value| word(value).ok_or_else(|| self.corrupt(name))).collect()
    }

    /// The approvers behind a credential or a question; none where the row says nothing.
    pub(super) fn people(&self) -> Result<Vec<ApproverId>, StoreError> {
        if self.item.contains_key(PEOPLE) { self.words(PEOPLE) } else { Ok(vec![]) }
    }
}

/// Name of the attribute with the approvers behind a credential or a question.
pub(super) const PEOPLE: &str = "people";

/// Approvers as a list attribute.
pub(crate) fn people(people: &[ApproverId]) -> AttributeValue {
    AttributeValue::L(people.iter().map(|one| text(one.to_string())).collect())
}

/// Words as a list attribute.
pub(super) fn words<'w>(words: impl IntoIterator<Item = &'w str>) -> AttributeValue {
    AttributeValue::L(words.into_iter().map(text).collect())
}
