//! Events for endpoints: planned once, attempted one at a time.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use countersign_app::events::ToldOf;
use countersign_app::ports::StoreError;
use countersign_app::records::AttemptEnd;
use countersign_core::delivery::DeliveryStatus;
use countersign_core::elicitation::Elicitation;
use countersign_core::event::{EventDelivery, EventKey};
use countersign_core::id::ElicitationId;
use countersign_core::state::State;
use countersign_core::time::Timestamp;

use crate::keys::due_place;
use crate::rows::{STATUS_PENDING, event_item, number, read_event_row, text, time};
use crate::scoped::{TenantRows, trouble};
use crate::table::{Query, TableError, Write};

impl TenantRows {
    /// One transaction: the rows, and the note on the question that they were made. What has ended is due no more.
    pub(crate) async fn plan_event_rows(
        &self,
        question: &Elicitation,
        told: ToldOf,
        rows: &[EventDelivery],
        keep_until: Timestamp,
    ) -> Result<bool, StoreError> {
        let is_pending = question.stored == State::Pending;
        let over = if is_pending { "" } else { " REMOVE #due_pk, #due_sk" };
        // Of what happens after the read that this follows, the mark must stay.
        let stands = match (is_pending, question.asker.collected_at) {
            (true, _) => "#status = :pending",
            (false, None) => "#status <> :pending AND attribute_not_exists(#collected_at)",
            (false, Some(_)) => "#status <> :pending",
        };
        let seen = match question.evidence.told {
            0 => "attribute_not_exists(#told)",
            _ => "#told = :seen",
        };
        let key = self.keys.state(question.id);
        let mut state = Write::update(key, format!("SET #told = :told, #is_awaited = :awaited{over}"))
            .value(":told", number(told.bits))
            .value(":awaited", AttributeValue::Bool(told.is_awaited))
            .value(":pending", text(STATUS_PENDING))
            .when(format!("{stands} AND {seen}"));
        if question.evidence.told != 0 {
            state = state.value(":seen", number(question.evidence.told));
        }
        if rows.is_empty() {
            return Ok(self.repeated(&state).await?.is_none());
        }
        let puts = rows.iter().map(|row| Write::put(event_item(&self.keys, row, keep_until)).when_new());
        let writes: Vec<_> = [state].into_iter().chain(puts).collect();
        let table = &self.store.table;
        match self.store.retrying(self.store.budget(), || table.transact(&writes)).await {
            Ok(()) => Ok(true),
            // Somebody was faster, or it was this very call, whose answer was lost: the rows are there, and due.
            Err(TableError::Condition(_)) => Ok(false),
            Err(error) => Err(trouble(error)),
        }
    }

    pub(crate) async fn read_events(&self, id: ElicitationId) -> Result<Vec<EventDelivery>, StoreError> {
        let prefix = self.keys.events(id);
        let query = Query {
            index: None,
            condition: "#PK = :pk AND begins_with(#SK, :prefix)".into(),
            values: HashMap::from([
                (":pk".to_owned(), text(prefix.pk)),
                (":prefix".to_owned(), text(prefix.sk)),
            ]),
            limit: None,
        };
        self.query(&query).await?.iter().map(read_event_row).collect()
    }

    pub(crate) async fn read_event_of(&self, key: &EventKey) -> Result<Option<EventDelivery>, StoreError> {
        self.get(self.keys.event(key)).await?.as_ref().map(read_event_row).transpose()
    }

    pub(crate) async fn count_event(
        &self,
        event: &EventDelivery,
        lease: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let key = self.keys.event(&event.key);
        let place = due_place(lease, &key);
        let update = "SET #attempts = :next, #at = :now, #next_attempt_at = :lease, #due_sk = :place";
        let write = Write::update(key, update)
            .value(":next", number(event.attempts + 1))
            .value(":now", time(now))
            .value(":lease", time(lease))
            .value(":place", text(place))
            .value(":seen", number(event.attempts))
            .value(":queued", text(DeliveryStatus::Queued.word()))
            .when("#status = :queued AND #attempts = :seen");
        Ok(self.repeated(&write).await?.is_none())
    }

    pub(crate) async fn store_event_end(
        &self,
        event: &EventDelivery,
        end: AttemptEnd,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let key = self.keys.event(&event.key);
        let over = |key, status: DeliveryStatus| {
            let update = "SET #status = :status, #at = :now REMOVE #next_attempt_at, #due_pk, #due_sk";
            Write::update(key, update).value(":status", text(status.word()))
        };
        let write = match end {
            AttemptEnd::Again(at) => {
                let place = due_place(at, &key);
                Write::update(key, "SET #at = :now, #next_attempt_at = :next, #due_sk = :place")
                    .value(":next", time(at))
                    .value(":place", text(place))
            }
            AttemptEnd::Sent => over(key, DeliveryStatus::Sent),
            AttemptEnd::Failed => over(key, DeliveryStatus::Failed),
            AttemptEnd::Dropped => over(key, DeliveryStatus::Dropped),
        };
        let write = write
            .value(":now", time(now))
            .value(":seen", number(event.attempts))
            .value(":queued", text(DeliveryStatus::Queued.word()))
            .when("#status = :queued AND #attempts = :seen");
        self.repeated(&write).await.map(drop)
    }
}
