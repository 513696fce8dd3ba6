//! An event for an endpoint: one attempt chain.

use countersign_app::ports::StoreError;
use countersign_core::delivery::DeliveryStatus;
use countersign_core::event::EventDelivery;
use countersign_core::time::Timestamp;

use super::attributes::{Builder, Reader, number, text, time};
use crate::keys::{Keys, due_place, due_shard, read_event, shard};
use crate::table::Item;

pub(crate) fn event_item(keys: &Keys, one: &EventDelivery, keep_until: Timestamp) -> Item {
    let key = keys.event(&one.key);
    let due = one.next_attempt_at;
    Builder::new(&key)
        .set("elicitation", text(one.key.elicitation.to_string()))
        .set("status", text(one.status.word()))
        .set("attempts", number(one.attempts))
        .set("happened_at", time(one.happened_at))
        .set("at", time(one.at))
        .maybe("next_attempt_at", due.map(time))
        .maybe("due_pk", due.map(|_| text(due_shard(shard(one.key.elicitation)))))
        .maybe("due_sk", due.map(|at| text(due_place(at, &key))))
        .set("ttl", number(keep_until.seconds()))
        .build()
}

pub(crate) fn read_event_row(item: &Item) -> Result<EventDelivery, StoreError> {
    let row = Reader::new(item, "event");
    let elicitation = row.parsed("elicitation")?;
    Ok(EventDelivery {
        key: read_event(elicitation, row.text("SK")?).ok_or_else(|| row.corrupt("SK"))?,
        status: row.parsed::<DeliveryStatus>("status")?,
        attempts: row.number("attempts")?,
        happened_at: row.time("happened_at")?,
        at: row.time("at")?,
        next_attempt_at: row.maybe_time("next_attempt_at")?,
    })
}
