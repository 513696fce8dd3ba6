//! Planning and delivering: rows first, effects after.

use std::collections::HashMap;

use countersign_app::ports::StoreError;
use countersign_app::records::{AttemptEnd, Planned};
use countersign_core::delivery::{Delivery, DeliveryKey, DeliveryStatus};
use countersign_core::elicitation::Elicitation;
use countersign_core::id::ElicitationId;
use countersign_core::time::Timestamp;

use crate::keys::due_place;
use crate::rows::{STATUS_PENDING, delivery_item, number, read_delivery_row, text, time};
use crate::scoped::{TenantRows, trouble};
use crate::table::{Query, TableError, Write};

impl TenantRows {
    /// Stores who is told, and arms the question for its expiry in the same write.
    pub(crate) async fn plan_rows(
        &self,
        question: &Elicitation,
        planned: &Planned,
    ) -> Result<bool, StoreError> {
        // Inboxes first: a question that was planned is in all of them.
        self.route(question, &planned.routed, planned.keep_until).await?;
        let key = self.keys.state(question.id);
        let none = if planned.deliveries.is_empty() { ", #no_target = :yes" } else { "" };
        let armed = due_place(question.deadlines.expires_at, &key);
        let mut state = Write::update(key, format!("SET #planned_at = :now, #due_sk = :armed{none}"))
            .value(":now", time(planned.at))
            .value(":armed", text(armed))
            .value(":pending", text(STATUS_PENDING))
            .when("#status = :pending AND attribute_not_exists(#planned_at) AND #expires_at > :now");
        if planned.deliveries.is_empty() {
            state = state.value(":yes", aws_sdk_dynamodb::types::AttributeValue::Bool(true));
        }
        let deliveries = planned.deliveries.iter().map(|key| self.queued(*key, planned));
        let writes: Vec<_> = [state].into_iter().chain(deliveries).collect();
        let table = &self.store.table;
        match self.store.retrying(self.store.budget(), || table.transact(&writes)).await {
            Ok(()) => Ok(true),
            Err(TableError::Condition(reasons)) => {
                // After a lost answer the row was planned by this very call: then its deliveries are ours to make.
                let found = reasons.first().and_then(Option::as_ref).filter(|failed| !failed.item.is_empty());
                let found = self.maybe_question(found.map(|failed| &failed.item)).await?;
                Ok(found.is_some_and(|found| found.evidence.planned_at == Some(planned.at)))
            }
            Err(error) => Err(trouble(error)),
        }
    }

    fn queued(&self, key: DeliveryKey, planned: &Planned) -> Write {
        let delivery = Delivery {
            key,
            status: DeliveryStatus::Queued,
            attempts: 0,
            at: planned.at,
            next_attempt_at: Some(planned.attempt_by),
        };
        Write::put(delivery_item(&self.keys, &delivery, planned.keep_until)).when_new()
    }

    pub(crate) async fn read_deliveries(&self, id: ElicitationId) -> Result<Vec<Delivery>, StoreError> {
        let prefix = self.keys.deliveries(id);
        let query = Query {
            index: None,
            condition: "#PK = :pk AND begins_with(#SK, :prefix)".into(),
            values: HashMap::from([
                (":pk".to_owned(), text(prefix.pk)),
                (":prefix".to_owned(), text(prefix.sk)),
            ]),
            limit: None,
        };
        self.query(&query).await?.iter().map(read_delivery_row).collect()
    }

    pub(crate) async fn count_attempt(
        &self,
        delivery: &Delivery,
        lease: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let key = self.keys.delivery(&delivery.key);
        let place = due_place(lease, &key);
        let update = "SET #attempts = :next, #at = :now, #next_attempt_at = :lease, #due_sk = :place";
        let write = Write::update(key, update)
            .value(":next", number(delivery.attempts + 1))
            .value(":now", time(now))
            .value(":lease", time(lease))
            .value(":place", text(place))
            .value(":seen", number(delivery.attempts))
            .value(":queued", text(DeliveryStatus::Queued.word()))
            .when("#status = :queued AND #attempts = :seen");
        Ok(self.repeated(&write).await?.is_none())
    }

    pub(crate) async fn store_end(
        &self,
        delivery: &Delivery,
        end: AttemptEnd,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let counter = match end {
            AttemptEnd::Sent => "reached",
            AttemptEnd::Failed => "failed",
            AttemptEnd::Again(_) | AttemptEnd::Dropped => {
                return self.repeated(&self.end_write(delivery, end, now)).await.map(drop);
            }
        };
        let fold = Write::update(self.keys.state(delivery.key.elicitation), format!("ADD #{counter} :one"))
            .value(":one", number(1))
            .value(":now", time(now))
            .value(":pending", text(STATUS_PENDING))
            .when("#status = :pending AND #expires_at > :now");
        let writes = [self.end_write(delivery, end, now), fold];
        let table = &self.store.table;
        match self.store.retrying(self.store.budget(), || table.transact(&writes)).await {
            // The question has ended: evidence counts no more, the delivery is over all the same.
            Err(TableError::Condition(reasons)) if reasons.first().is_some_and(Option::is_none) => {
                self.repeated(&writes[0]).await.map(drop)
            }
            Ok(()) | Err(TableError::Condition(_)) => Ok(()), // another attempt may have moved on
            Err(error) => Err(trouble(error)),
        }
    }

    fn end_write(&self, delivery: &Delivery, end: AttemptEnd, now: Timestamp) -> Write {
        let key = self.keys.delivery(&delivery.key);
        let write = match end {
            AttemptEnd::Again(at) => {
                let place = due_place(at, &key);
                Write::update(key, "SET #at = :now, #next_attempt_at = :next, #due_sk = :place")
                    .value(":next", time(at))
                    .value(":place", text(place))
            }
            AttemptEnd::Sent => self.over(key, DeliveryStatus::Sent),
            AttemptEnd::Failed => self.over(key, DeliveryStatus::Failed),
            AttemptEnd::Dropped => self.over(key, DeliveryStatus::Dropped),
        };
        write
            .value(":now", time(now))
            .value(":seen", number(delivery.attempts))
            .value(":queued", text(DeliveryStatus::Queued.word()))
            .when("#status = :queued AND #attempts = :seen")
    }

    #[expect(clippy::unused_self, reason = "the key is the tenant's")]
    fn over(&self, key: crate::table::Key, status: DeliveryStatus) -> Write {
        Write::update(key, "SET #status = :status, #at = :now REMOVE #next_attempt_at, #due_pk, #due_sk")
            .value(":status", text(status.word()))
    }
}
