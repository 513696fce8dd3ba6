//! Faults of the table: what the embedded engine never does by itself, and DynamoDB does.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use countersign_store::table::{Item, Key, Query, Scan, ScanPage, Table, TableError, Write};

/// A kind of call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// Reads by key, single or batched.
    Get,
    /// Single puts.
    Put,
    /// Single updates and deletes.
    Update,
    /// Transactions.
    Transact,
    /// Queries and scans.
    Query,
    /// Every call.
    Any,
}

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Refused for load; nothing is applied.
    Throttle,
    /// Refused for another transaction; nothing is applied.
    Conflict,
    /// Fails; nothing is applied.
    Error,
    /// Never answers; nothing is applied. The caller's own limit ends it.
    Timeout,
    /// Applied, and then fails.
    ApplyThenError,
}

/// A word that names no fault or kind of call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownWord;

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown word")
    }
}

impl FromStr for Op {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        match word {
            "get" => Ok(Self::Get),
            "put" => Ok(Self::Put),
            "update" => Ok(Self::Update),
            "transact" => Ok(Self::Transact),
            "query" => Ok(Self::Query),
            "any" => Ok(Self::Any),
            _ => Err(UnknownWord),
        }
    }
}

impl FromStr for Fault {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        match word {
            "throttle" => Ok(Self::Throttle),
            "conflict" => Ok(Self::Conflict),
            "error" => Ok(Self::Error),
            "timeout" => Ok(Self::Timeout),
            "apply_then_error" => Ok(Self::ApplyThenError),
            _ => Err(UnknownWord),
        }
    }
}

/// The faults that are set.
#[derive(Debug, Default)]
pub struct Faults(Mutex<HashMap<Op, (Fault, u64)>>);

impl Faults {
    /// Makes the next `times` calls of `op` go wrong, instead of what was set for it; 0 clears.
    pub fn set(&self, op: Op, fault: Fault, times: u64) {
        let mut faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if times == 0 {
            faults.remove(&op);
        } else {
            faults.insert(op, (fault, times));
        }
    }

    fn next(&self, op: Op) -> Option<Fault> {
        let mut faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let hit = [op, Op::Any].into_iter().find(|op| faults.contains_key(op))?;
        let (fault, times) = faults.remove(&hit)?;
        if times > 1 {
            faults.insert(hit, (fault, times - 1));
        }
        Some(fault)
    }
}

/// A table whose calls go wrong as set. It sits above the SDK and its retries: one logical call is one fault.
pub struct FaultyTable {
    inner: Arc<dyn Table>,
    faults: Arc<Faults>,
}

impl FaultyTable {
    /// `inner` with the faults of `faults`.
    pub fn new(inner: Arc<dyn Table>, faults: Arc<Faults>) -> Self {
        Self { inner, faults }
    }

    async fn call<T>(
        &self,
        op: Op,
        call: impl Future<Output = Result<T, TableError>> + Send,
    ) -> Result<T, TableError> {
        match self.faults.next(op) {
            None => call.await,
            Some(Fault::Throttle) => Err(TableError::Throttled),
            Some(Fault::Conflict) => Err(TableError::Conflict),
            Some(Fault::Error) => Err(TableError::Unavailable("a fault that was set".into())),
            Some(Fault::Timeout) => std::future::pending().await,
            Some(Fault::ApplyThenError) => {
                call.await?;
                Err(TableError::Unavailable("a fault that was set, after applying".into()))
            }
        }
    }
}

#[async_trait]
impl Table for FaultyTable {
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError> {
        self.call(Op::Get, self.inner.get(key)).await
    }

    async fn batch_get(&self, keys: &[Key]) -> Result<Vec<Item>, TableError> {
        self.call(Op::Get, self.inner.batch_get(keys)).await
    }

    async fn write(&self, write: &Write) -> Result<(), TableError> {
        let op = match write.action {
            countersign_store::table::Action::Put(_) => Op::Put,
            countersign_store::table::Action::Update(..)
            | countersign_store::table::Action::Delete(_)
            | countersign_store::table::Action::Check(_) => Op::Update,
        };
        self.call(op, self.inner.write(write)).await
    }

    async fn transact(&self, writes: &[Write]) -> Result<(), TableError> {
        self.call(Op::Transact, self.inner.transact(writes)).await
    }

    async fn update(&self, write: &Write) -> Result<Item, TableError> {
        self.call(Op::Update, self.inner.update(write)).await
    }

    async fn scan(&self, scan: &Scan) -> Result<ScanPage, TableError> {
        self.call(Op::Query, self.inner.scan(scan)).await
    }

    async fn query(&self, query: &Query) -> Result<Vec<Item>, TableError> {
        self.call(Op::Query, self.inner.query(query)).await
    }
}
