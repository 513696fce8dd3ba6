//! The `mine` index: what was routed to an approver, by its last moment.

use std::collections::HashMap;

use countersign_app::inbox::Question;
use countersign_app::ports::StoreError;
use countersign_core::elicitation::Elicitation;
use countersign_core::id::{ApproverId, ElicitationId};
use countersign_core::time::Timestamp;

use crate::keys::{Keys, MINE_INDEX, instant};
use crate::rows::{Reader, number, read_content, text};
use crate::scoped::{TenantRows, trouble};
use crate::table::{Item, Key, Query, Write};

/// Questions of one read: each is two rows, and a read takes a hundred.
const QUESTIONS_AT_ONCE: usize = 50;
/// Routes of one transaction.
const ROUTES_AT_ONCE: usize = 50;

impl TenantRows {
    /// Puts a question into the inboxes of those who may answer it. Done again it changes nothing.
    pub(crate) async fn route(
        &self,
        question: &Elicitation,
        approvers: &[ApproverId],
        keep_until: Timestamp,
    ) -> Result<(), StoreError> {
        for some in approvers.chunks(ROUTES_AT_ONCE) {
            let writes: Vec<_> = some
                .iter()
                .map(|approver| {
                    let key = self.keys.route(question.id, *approver);
                    let item: Item = HashMap::from([
                        ("PK".to_owned(), text(key.pk)),
                        ("SK".to_owned(), text(key.sk)),
                        ("mine_pk".to_owned(), text(self.keys.mine(*approver))),
                        (
                            "mine_sk".to_owned(),
                            text(Keys::list_place(question.deadlines.decide_by, question.id)),
                        ),
                        ("ttl".to_owned(), number(keep_until.seconds())),
                    ]);
                    Write::put(item)
                })
                .collect();
            let table = &self.store.table;
            self.store.retrying(self.store.budget(), || table.transact(&writes)).await.map_err(trouble)?;
        }
        Ok(())
    }

    pub(crate) async fn list_routed(
        &self,
        approver: ApproverId,
        from: Option<Timestamp>,
        limit: usize,
    ) -> Result<Vec<ElicitationId>, StoreError> {
        let query = Query {
            index: Some(MINE_INDEX),
            condition: "#mine_pk = :mine AND #mine_sk > :from".into(),
            values: HashMap::from([
                (":mine".to_owned(), text(self.keys.mine(approver))),
                (":from".to_owned(), text(from.map_or_else(|| "0".to_owned(), instant))),
            ]),
            // The latest come last: all are read for them, and a retention ends them.
            limit: from.map(|_| limit),
        };
        let items = self.query(&query).await?;
        let skipped = items.len().saturating_sub(limit);
        let mut ids = items[skipped..].iter().map(routed).collect::<Result<Vec<_>, _>>()?;
        if from.is_none() {
            ids.reverse();
        }
        Ok(ids)
    }

    pub(crate) async fn read_questions(&self, ids: &[ElicitationId]) -> Result<Vec<Question>, StoreError> {
        let pages = ids.chunks(QUESTIONS_AT_ONCE).map(|some| self.question_page(some));
        Ok(futures_util::future::try_join_all(pages).await?.into_iter().flatten().collect())
    }

    async fn question_page(&self, ids: &[ElicitationId]) -> Result<Vec<Question>, StoreError> {
        let keys: Vec<Key> = ids.iter().flat_map(|id| [self.keys.state(*id), self.keys.body(*id)]).collect();
        let table = &self.store.table;
        let items =
            self.store.retrying(self.store.budget(), || table.batch_get(&keys)).await.map_err(trouble)?;
        let at = |key: &Key| items.iter().find(|item| is_at(item, key));
        let mut found = Vec::with_capacity(ids.len());
        for id in ids {
            let (state, body) = (at(&self.keys.state(*id)), at(&self.keys.body(*id)));
            if let Some((state, body)) = state.zip(body) {
                found.push((self.question(state).await?, read_content(body)?));
            }
        }
        Ok(found)
    }
}

fn is_at(item: &Item, key: &Key) -> bool {
    let is = |name: &str, value: &str| {
        item.get(name).and_then(|one| one.as_s().ok()).is_some_and(|one| one == value)
    };
    is("PK", &key.pk) && is("SK", &key.sk)
}

fn routed(item: &Item) -> Result<ElicitationId, StoreError> {
    let row = Reader::new(item, "route");
    let place = row.text("mine_sk")?;
    place.split_once('#').and_then(|(_, id)| id.parse().ok()).ok_or_else(|| row.corrupt("mine_sk"))
}
