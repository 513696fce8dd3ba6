//! Proof that the model test can fail: each of these tables drops one thing that the store writes, and the model
//! must notice within a few cases.

use std::sync::Arc;

use async_trait::async_trait;
use countersign_store::table::{Action, Item, Key, Query, Scan, ScanPage, Table, TableError, Write};

use crate::model::{self, Run};

/// Cases in which a mutant must be found; the unmutated table passes the same ones.
const RUN: Run = Run { cases: 300, seed: 4_711, shrinks: 0 };

/// A table that tampers with each transaction before it is done.
struct Tampering {
    inner: Arc<dyn Table>,
    tamper: fn(&mut Vec<Write>),
}

#[async_trait]
impl Table for Tampering {
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError> {
        self.inner.get(key).await
    }

    async fn batch_get(&self, keys: &[Key]) -> Result<Vec<Item>, TableError> {
        self.inner.batch_get(keys).await
    }

    async fn write(&self, write: &Write) -> Result<(), TableError> {
        let mut writes = vec![write.clone()];
        (self.tamper)(&mut writes);
        self.inner.write(&writes[0]).await
    }

    async fn transact(&self, writes: &[Write]) -> Result<(), TableError> {
        let mut writes = writes.to_vec();
        (self.tamper)(&mut writes);
        self.inner.transact(&writes).await
    }

    async fn update(&self, write: &Write) -> Result<Item, TableError> {
        let mut writes = vec![write.clone()];
        (self.tamper)(&mut writes);
        self.inner.update(&writes[0]).await
    }

    async fn scan(&self, scan: &Scan) -> Result<ScanPage, TableError> {
        self.inner.scan(scan).await
    }

    async fn query(&self, query: &Query) -> Result<Vec<Item>, TableError> {
        self.inner.query(query).await
    }
}

/// The steps that show what the tampering breaks, as text; none if the model saw nothing.
fn found(tamper: fn(&mut Vec<Write>)) -> Option<String> {
    let wrap = |inner| -> Arc<dyn Table> { Arc::new(Tampering { inner, tamper }) };
    model::run(RUN, wrap).err()
}

/// Drops `part` from each expression and condition of a row of that sort key, and the values that nothing uses then.
fn drop_part(writes: &mut [Write], sort_key: &str, part: &str) {
    for write in writes {
        let Action::Update(key, update) = &mut write.action else { continue };
        if key.sk != sort_key {
            continue;
        }
        *update = update.replace(part, "");
        let condition = write.condition.take().unwrap_or_default().replace(part, "");
        let used = format!("{update} {condition} ");
        write.values.retain(|name, _| {
            used.match_indices(name.as_str()).any(|(at, _)| {
                !used[at + name.len()..].starts_with(|next: char| next.is_ascii_alphanumeric() || next == '_')
            })
        });
        write.condition = Some(condition);
    }
}

#[test]
fn the_untampered_table_passes() {
    assert_eq!(found(|_| ()), None);
}

#[test]
fn a_session_that_is_not_unblocked_is_found() {
    let lost_unlock = |writes: &mut Vec<Write>| {
        writes.retain(|write| {
            let Action::Update(key, update) = &write.action else { return true };
            !(key.sk == "SESSION" && update.contains("REMOVE #open."))
        });
    };
    assert!(found(lost_unlock).is_some());
}

#[test]
fn a_question_that_can_be_settled_twice_is_found() {
    let double_settle = |writes: &mut Vec<Write>| {
        drop_part(writes, "STATE", "#status = :pending AND attribute_not_exists(#collected_at) AND ");
    };
    assert!(found(double_settle).is_some());
}

#[test]
fn a_decision_on_what_its_asker_was_told_has_expired_is_found() {
    let untold = |writes: &mut Vec<Write>| {
        drop_part(writes, "STATE", " AND attribute_not_exists(#collected_at)");
    };
    assert!(found(untold).is_some());
}

#[test]
fn a_decision_after_its_last_moment_is_found() {
    let no_deadline = |writes: &mut Vec<Write>| drop_part(writes, "STATE", " AND #decide_by > :now");
    assert!(found(no_deadline).is_some());
}

#[test]
fn a_decision_by_somebody_who_may_answer_no_more_is_found() {
    let unchecked = |writes: &mut Vec<Write>| {
        writes.retain(|write| !matches!(write.action, Action::Check(_)));
    };
    assert!(found(unchecked).is_some());
}

#[test]
fn a_question_that_was_declined_meanwhile_and_is_asked_again_is_found() {
    let unheard = |writes: &mut Vec<Write>| drop_part(writes, "SESSION", " AND #answers = :answers");
    assert!(found(unheard).is_some());
}

#[test]
fn a_session_without_a_limit_is_found() {
    let no_limit = |writes: &mut Vec<Write>| drop_part(writes, "SESSION", " AND size(#open) < :room");
    assert!(found(no_limit).is_some());
}
