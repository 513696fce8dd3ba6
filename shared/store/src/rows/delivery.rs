//! The delivery row: one attempt chain.

use countersign_app::ports::StoreError;
use countersign_core::delivery::{Delivery, DeliveryStatus};
use countersign_core::id::ElicitationId;
use countersign_core::time::Timestamp;

use super::attributes::{Builder, Reader, number, text, time};
use crate::keys::{Keys, due_place, due_shard, read_delivery, shard};
use crate::table::Item;

/// The item of a queued delivery.
pub(crate) fn delivery_item(keys: &Keys, delivery: &Delivery, keep_until: Timestamp) -> Item {
    let key = keys.delivery(&delivery.key);
    let due = delivery.next_attempt_at;
    Builder::new(&key)
        .set("elicitation", text(delivery.key.elicitation.to_string()))
        .set("status", text(delivery.status.word()))
        .set("attempts", number(delivery.attempts))
        .set("at", time(delivery.at))
        .maybe("next_attempt_at", due.map(time))
        .maybe("due_pk", due.map(|_| text(due_shard(shard(delivery.key.elicitation)))))
        .maybe("due_sk", due.map(|at| text(due_place(at, &key))))
        .set("ttl", number(keep_until.seconds()))
        .build()
}

/// The delivery that an item is.
pub(crate) fn read_delivery_row(item: &Item) -> Result<Delivery, StoreError> {
    let row = Reader::new(item, "delivery");
    let elicitation: ElicitationId = row.parsed("elicitation")?;
    Ok(Delivery {
        key: read_delivery(elicitation, row.text("SK")?).ok_or_else(|| row.corrupt("SK"))?,
        status: row.parsed::<DeliveryStatus>("status")?,
        attempts: row.number("attempts")?,
        at: row.time("at")?,
        next_attempt_at: row.maybe_time("next_attempt_at")?,
    })
}
