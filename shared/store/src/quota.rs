//! What a tenant has asked: one row, charged by an addition that sits in no transaction.

use countersign_app::ports::StoreError;
use countersign_core::quota::Bucket;
use countersign_core::time::Timestamp;

use crate::rows::{Reader, number, time};
use crate::scoped::{TenantRows, trouble};
use crate::table::{Item, TableError, Write};

/// What the attributes that count a day start with.
const DAY: &str = "day_";

impl TenantRows {
    /// Takes one, in one attempt. `base` moves the base of the count up to what was read.
    pub(crate) async fn charge_bucket(
        &self,
        read: &Bucket,
        rebase: bool,
        forgotten: &[u64],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let day = format!("#{DAY}{}", Bucket::day(now));
        let add = format!("ADD #taken :one, {day} :one");
        if rebase {
            let remove: Vec<_> = forgotten.iter().map(|day| format!("#{DAY}{day}")).collect();
            let remove =
                if remove.is_empty() { String::new() } else { format!(" REMOVE {}", remove.join(", ")) };
            let update = format!("SET #base_taken = :taken, #base_at = :now{remove} {add}");
            let write = Write::update(self.keys.bucket(), update)
                .value(":taken", number(read.taken))
                .value(":now", time(now))
                .value(":one", number(1));
            let write = match read.base {
                Some((_, at)) => write.value(":before", time(at)).when("#base_at = :before"),
                None => write.when("attribute_not_exists(#base_at)"),
            };
            match self.store.table.write(&write).await {
                Ok(()) => return Ok(()),
                Err(TableError::Condition(_)) => {} // another create has moved it
                Err(error) => return Err(trouble(error)),
            }
        }
        let write = Write::update(self.keys.bucket(), add).value(":one", number(1));
        self.store.table.write(&write).await.map_err(trouble)
    }

    /// Gives one back: it was a repeat.
    pub(crate) async fn refund_bucket(&self, now: Timestamp) -> Result<(), StoreError> {
        let day = format!("#{DAY}{}", Bucket::day(now));
        let write = Write::update(self.keys.bucket(), format!("ADD #taken :less, {day} :less"))
            .value(":less", number(-1))
            .when("attribute_exists(#PK)");
        self.once(&write).await.map(drop)
    }
}

/// The bucket that an item is.
pub(crate) fn read_bucket(item: &Item) -> Result<Bucket, StoreError> {
    let row = Reader::new(item, "quota");
    let base = row.maybe_number::<u64>("base_taken")?.zip(row.maybe_time("base_at")?);
    let days = item.keys().filter_map(|name| {
        let day = name.strip_prefix(DAY)?.parse::<u64>().ok()?;
        let count = row.maybe_number::<i64>(name).ok()??;
        Some((day, u64::try_from(count).unwrap_or(0)))
    });
    let taken = row.maybe_number::<i64>("taken")?.unwrap_or(0);
    Ok(Bucket { taken: u64::try_from(taken).unwrap_or(0), base, days: days.collect() })
}
