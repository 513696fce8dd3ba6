//! A table in plain memory: fifty times as quick as the engine behind the SDK, so that a model test has time for
//! thousands of cases. [`twins`] holds it to the engine, call by call.

mod expression;
mod twins;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use aws_sdk_dynamodb::types::AttributeValue;
use countersign_store::table::{Action, Failed, Item, Key, Query, Scan, ScanPage, Table, TableError, Write};

pub(crate) use twins::Twins;

type Rows = BTreeMap<(String, String), Item>;

/// The table. It knows as much of DynamoDB's expressions as the store writes, and refuses the rest.
#[derive(Default)]
pub(crate) struct MemoryTable(Mutex<Rows>);

impl MemoryTable {
    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn apply(&self, writes: &[Write]) -> Result<(), TableError> {
        let mut rows = self.rows();
        for write in writes {
            expression::check(write)?;
        }
        let mut reasons = Vec::new();
        for write in writes {
            let found = rows.get(&place(write)?);
            let condition = write.condition.as_deref().unwrap_or_default();
            let holds = condition.is_empty() || expression::holds(condition, found, &write.values)?;
            reasons.push((!holds).then(|| Failed { item: found.cloned().unwrap_or_default() }));
        }
        if reasons.iter().any(Option::is_some) {
            return Err(TableError::Condition(reasons));
        }
        let (mut next, mut gone) = (Vec::new(), Vec::new());
        for write in writes {
            let place = place(write)?;
            let item = match &write.action {
                Action::Put(item) => item.clone(),
                Action::Update(key, update) => {
                    let mut item = rows.get(&place).cloned().unwrap_or_else(|| bare(key));
                    expression::update(update, &mut item, &write.values)?;
                    item
                }
                Action::Delete(_) => {
                    gone.push(place);
                    continue;
                }
                Action::Check(_) => continue,
            };
            next.push((place, item));
        }
        rows.extend(next);
        rows.retain(|place, _| !gone.contains(place));
        Ok(())
    }
}

#[async_trait]
impl Table for MemoryTable {
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError> {
        Ok(self.rows().get(&(key.pk.clone(), key.sk.clone())).cloned())
    }

    async fn batch_get(&self, keys: &[Key]) -> Result<Vec<Item>, TableError> {
        let rows = self.rows();
        Ok(keys.iter().filter_map(|key| rows.get(&(key.pk.clone(), key.sk.clone())).cloned()).collect())
    }

    async fn write(&self, write: &Write) -> Result<(), TableError> {
        self.apply(std::slice::from_ref(write))
    }

    async fn transact(&self, writes: &[Write]) -> Result<(), TableError> {
        self.apply(writes)
    }

    async fn update(&self, write: &Write) -> Result<Item, TableError> {
        self.apply(std::slice::from_ref(write))?;
        self.get(&key_of(write)?).await.map(Option::unwrap_or_default)
    }

    async fn scan(&self, scan: &Scan) -> Result<ScanPage, TableError> {
        let rows = self.rows();
        let after = scan.after.clone().map(|key| (key.pk, key.sk));
        let passed = rows.keys().filter(|place| after.as_ref().is_none_or(|after| *place > after));
        let page: Vec<Key> =
            passed.take(scan.limit).map(|(pk, sk)| Key { pk: pk.clone(), sk: sk.clone() }).collect();
        let next = page.last().filter(|_| page.len() == scan.limit).cloned();
        Ok(ScanPage { keys: page.into_iter().filter(|key| key.pk.starts_with(&scan.prefix)).collect(), next })
    }

    async fn query(&self, query: &Query) -> Result<Vec<Item>, TableError> {
        let sort = query.index.map_or_else(|| "SK".to_owned(), |index| format!("{index}_sk"));
        let mut found = Vec::new();
        for item in self.rows().values() {
            // What lacks the index's sort key is not in it.
            if let Some(AttributeValue::S(sort)) = item.get(&sort)
                && expression::holds(&query.condition, Some(item), &query.values)?
            {
                found.push((sort.clone(), item.clone()));
            }
        }
        found.sort_by(|(left, _), (right, _)| left.cmp(right));
        if let Some(index) = query.index {
            let keys = ["PK", "SK", &format!("{index}_pk"), &format!("{index}_sk")];
            for (_, item) in &mut found {
                item.retain(|name, _| keys.contains(&name.as_str()));
            }
        }
        Ok(found.into_iter().map(|(_, item)| item).take(query.limit.unwrap_or(usize::MAX)).collect())
    }
}

fn place(write: &Write) -> Result<(String, String), TableError> {
    let of = |item: &Item, name| match item.get(name) {
        Some(AttributeValue::S(text)) => Ok(text.clone()),
        _ => Err(TableError::Rejected(format!("no key attribute {name}"))),
    };
    match &write.action {
        Action::Put(item) => Ok((of(item, "PK")?, of(item, "SK")?)),
        Action::Update(key, _) | Action::Delete(key) | Action::Check(key) => {
            Ok((key.pk.clone(), key.sk.clone()))
        }
    }
}

fn key_of(write: &Write) -> Result<Key, TableError> {
    place(write).map(|(pk, sk)| Key { pk, sk })
}

fn bare(key: &Key) -> Item {
    let text = |text: &str| AttributeValue::S(text.to_owned());
    Item::from([("PK".to_owned(), text(&key.pk)), ("SK".to_owned(), text(&key.sk))])
}
