//! One conditional write ends a question; its session is unblocked in the same transaction.

use std::collections::HashMap;

use countersign_app::ports::{SessionLoss, StoreError};
use countersign_app::records::{Nonce, Settled, Settlement};
use countersign_core::elicitation::Elicitation;
use countersign_core::id::{ElicitationId, SessionId};
use countersign_core::json::Sha256;
use countersign_core::limits::PLAN_BACKSTOP;
use countersign_core::retry::Budget;
use countersign_core::state::{Decision, ExpiryCause, Verdict};
use countersign_core::time::Timestamp;

use crate::keys::{due_place, due_shard, shard};
use crate::rows::{
    STATUS_DECIDED, STATUS_EXPIRED, STATUS_PENDING, STATUS_WITHDRAWN, decider_map, lost_map, number, text,
    time,
};
use crate::scoped::{TenantRows, trouble};
use crate::sealing::SealedWords;
use crate::sessions::forget_content;
use crate::table::{Failed, Item, TableError, Write};

impl TenantRows {
    pub(crate) async fn settle_rows(
        &self,
        elicitation: &Elicitation,
        settlement: &Settlement,
        budget: Budget,
    ) -> Result<Settled, StoreError> {
        let words = match settlement {
            Settlement::Decided { decision, .. } => self.seal_words(elicitation.id, decision).await?,
            Settlement::Withdrawn { .. } | Settlement::Expired { .. } => SealedWords::default(),
        };
        let session = self.session_write(elicitation, settlement).map(|write| (Part::Session, write));
        let rest = self.rest_writes(elicitation, settlement);
        let beside: Vec<_> = session.into_iter().chain(rest.iter().cloned()).collect();
        let attempt = self.try_settle(elicitation.id, settlement, &words, &beside, budget).await?;
        let attempt = match attempt {
            // The session is gone: the question ends without it.
            Attempt::Failed(Part::Session, found) if found.item.is_empty() => {
                self.try_settle(elicitation.id, settlement, &words, &rest, budget).await?
            }
            attempt => attempt,
        };
        match attempt {
            Attempt::Done => Ok(Settled::Won),
            Attempt::Failed(Part::State, found) if found.item.is_empty() => Ok(Settled::Missing),
            Attempt::Failed(Part::State, found) => {
                Ok(Settled::Lost { current: Box::new(self.question(&found.item).await?) })
            }
            Attempt::Failed(Part::Session, _) => Ok(Settled::SessionMoved),
            Attempt::Failed(Part::Spent, _) => Ok(Settled::Spent),
            Attempt::Failed(Part::Standing, _) => Ok(Settled::NotEligible),
            Attempt::Failed(Part::Audit, _) => {
                Err(StoreError::Corrupt("a settlement failed on no condition of its own".into()))
            }
        }
    }

    /// What is written besides question and session.
    fn rest_writes(&self, elicitation: &Elicitation, settlement: &Settlement) -> Vec<(Part, Write)> {
        let spent = self.spend_write(settlement).map(|write| (Part::Spent, write));
        let standing = self.standing_check(elicitation, settlement).map(|write| (Part::Standing, write));
        let audit = self.audit_write(elicitation, settlement).map(|write| (Part::Audit, write));
        spent.into_iter().chain(standing).chain(audit).collect()
    }

    /// The approver who decides is still there, and still of those who may: looked at inside the write, so that who was
    /// removed while the page was open decides nothing.
    fn standing_check(&self, elicitation: &Elicitation, settlement: &Settlement) -> Option<Write> {
        let Settlement::Decided { decision, .. } = settlement else { return None };
        let approver = decision.by.approver?;
        let mut condition = "attribute_exists(#PK)".to_owned();
        let mut values = Vec::new();
        for groups in elicitation.audience.groups_needed_of(approver) {
            let one_of: Vec<_> = groups
                .iter()
                .map(|group| {
                    values.push(text(group.as_str()));
                    format!("contains(#groups, :g{})", values.len())
                })
                .collect();
            // A list that names neither the approver nor a group admits nobody.
            let one_of =
                if one_of.is_empty() { "attribute_not_exists(#PK)".into() } else { one_of.join(" OR ") };
            condition = format!("{condition} AND ({one_of})");
        }
        let check = Write::check(self.keys.approver(approver), condition);
        let values = values.into_iter().enumerate();
        Some(values.fold(check, |check, (index, group)| check.value(&format!(":g{}", index + 1), group)))
    }

    /// `beside` is what is written in the same transaction.
    async fn try_settle(
        &self,
        id: ElicitationId,
        settlement: &Settlement,
        words: &SealedWords,
        beside: &[(Part, Write)],
        budget: Budget,
    ) -> Result<Attempt, StoreError> {
        let attempt = || async {
            // The deadline must lie ahead at every attempt, however long those before it took.
            let state = self.state_write(id, settlement, words, self.store.now());
            let writes: Vec<_> =
                [state].into_iter().chain(beside.iter().map(|(_, write)| write.clone())).collect();
            self.store.table.transact(&writes).await
        };
        // A repeat after a lost answer finds the question ended, by itself: the use-case compares.
        match self.store.retrying(budget, attempt).await {
            Ok(()) => Ok(Attempt::Done),
            Err(TableError::Condition(reasons)) => Ok(first_unmet(reasons, beside)),
            Err(error) => Err(trouble(error)),
        }
    }

    fn state_write(
        &self,
        id: ElicitationId,
        settlement: &Settlement,
        words: &SealedWords,
        now: Timestamp,
    ) -> Write {
        let key = self.keys.state(id);
        // It is due once more: somebody may have to be told.
        let over = ", #due_pk = :shard, #due_sk = :place REMOVE #list_pk, #list_sk, #hold_until";
        let place = due_place(now.plus(PLAN_BACKSTOP), &key);
        // An asker that was told of the end must not hear another one after a clock has stepped back.
        let untold = "#status = :pending AND attribute_not_exists(#collected_at)";
        let write = match settlement {
            Settlement::Decided { decision, .. } => {
                decided(Write::update(key, format!("{}{over}", decided_set(words))), decision, words)
                    .value(":now", time(now.max(decision.at)))
                    .when(format!("{untold} AND #decide_by > :now"))
            }
            Settlement::Withdrawn { at } => {
                Write::update(key, format!("SET #status = :status, #ended_at = :at{over}"))
                    .value(":status", text(STATUS_WITHDRAWN))
                    .value(":at", time(*at))
                    .value(":now", time(now.max(*at)))
                    .when(format!("{untold} AND #expires_at > :now"))
            }
            Settlement::Expired { cause, now: noticed, .. } => {
                Write::update(key, format!("SET #status = :status, #cause = :cause{over}"))
                    .value(":status", text(STATUS_EXPIRED))
                    .value(":cause", text(ExpiryCause::word(*cause)))
                    .value(":now", time(*noticed))
                    .when("#status = :pending AND #expires_at <= :now")
            }
        };
        write
            .value(":pending", text(STATUS_PENDING))
            .value(":shard", text(due_shard(shard(id))))
            .value(":place", text(place))
    }

    fn session_write(&self, elicitation: &Elicitation, settlement: &Settlement) -> Option<Write> {
        let session = elicitation.session?;
        match settlement {
            Settlement::Decided { decision, .. } => {
                Some(self.unblock_decided(session, elicitation, decision))
            }
            Settlement::Withdrawn { .. } => Some(self.unblock(session, elicitation.id, "")),
            Settlement::Expired { session: loss, .. } => {
                loss.as_ref().map(|loss| self.lose(session, elicitation.id, loss))
            }
        }
    }

    fn unblock(&self, session: SessionId, id: ElicitationId, and_remove: &str) -> Write {
        let update = format!("REMOVE #open.#{id}{and_remove} ADD #revision :one");
        Write::update(self.keys.session(session), update)
            .value(":one", number(1))
            .when("attribute_exists(#PK)")
    }

    /// A decline is counted, for its content and for the session; an accept ends the count.
    fn unblock_decided(&self, session: SessionId, question: &Elicitation, decision: &Decision) -> Write {
        let (id, hex) = (question.id, question.shown_sha256.hex());
        let update = match decision.verdict {
            Verdict::Cancel => return self.unblock(session, id, ", #lost"),
            Verdict::Accept(_) => format!(
                "SET #declines = :none REMOVE #open.#{id}, #lost, #last_declined_at{} ADD #revision :one, #answers :one",
                forget_content(question.shown_sha256)
            ),
            Verdict::Decline => format!(
                "SET #declined.#{hex} = if_not_exists(#declined.#{hex}, :none) + :one, \
                 #declined_at.#{hex} = :at, #last_declined_at = :at \
                 REMOVE #open.#{id}, #lost ADD #revision :one, #declines :one, #answers :one"
            ),
        };
        let write = Write::update(self.keys.session(session), update)
            .value(":none", number(0))
            .value(":one", number(1))
            .when("attribute_exists(#PK)");
        match decision.verdict {
            Verdict::Decline => write.value(":at", time(decision.at)),
            Verdict::Accept(_) | Verdict::Cancel => write,
        }
    }

    fn lose(&self, session: SessionId, id: ElicitationId, loss: &SessionLoss) -> Write {
        let set = if loss.lost.is_some() { "SET #lost = :lost " } else { "" };
        let update = format!("{set}REMOVE #open.#{id} ADD #revision :one");
        let write = Write::update(self.keys.session(session), update)
            .value(":one", number(1))
            .value(":revision", number(loss.revision))
            .when("#revision = :revision");
        match &loss.lost {
            Some(notice) => write.value(":lost", lost_map(notice)),
            None => write,
        }
    }

    /// What the settlement spends: put where nothing is, or the whole transaction fails.
    fn spend_write(&self, settlement: &Settlement) -> Option<Write> {
        let Settlement::Decided { once: Some(nonce), .. } = settlement else { return None };
        Some(self.spend_nonce(nonce))
    }

    /// What is good once, used: the write fails where it was used before.
    pub(crate) fn spend_nonce(&self, nonce: &Nonce) -> Write {
        let key = self.keys.nonce(nonce.id);
        let item: Item = HashMap::from([
            ("PK".to_owned(), text(key.pk)),
            ("SK".to_owned(), text(key.sk)),
            ("until".to_owned(), time(nonce.until)),
            ("ttl".to_owned(), number(nonce.until.seconds())),
        ]);
        Write::put(item).when_new()
    }

    /// What the audit log keeps of it. Unchained: a chain inside the transaction would serialise a tenant.
    fn audit_write(&self, elicitation: &Elicitation, settlement: &Settlement) -> Option<Write> {
        let (at, what, by) = match settlement {
            Settlement::Decided { decision, .. } => {
                (decision.at, decision.verdict.word(), decision.by.principal.as_str())
            }
            Settlement::Withdrawn { at } => (*at, STATUS_WITHDRAWN, elicitation.principal.as_str()),
            Settlement::Expired { .. } => return None,
        };
        let key = self.keys.audit(at, elicitation.id);
        let mut item: Item = HashMap::from([
            ("PK".to_owned(), text(key.pk)),
            ("SK".to_owned(), text(key.sk)),
            ("what".to_owned(), text(what)),
            ("elicitation".to_owned(), text(elicitation.id.to_string())),
            ("reference".to_owned(), text(elicitation.reference.as_str())),
            ("principal".to_owned(), text(by)),
            ("at".to_owned(), time(at)),
        ]);
        if let Settlement::Decided { decision, .. } = settlement {
            item.insert("method".to_owned(), text(decision.by.method.word()));
            item.insert("policy_version".to_owned(), number(elicitation.policy_version));
            let hash = decision.verdict.answer().map(|answer| Sha256::of_json(&answer.clone().into()));
            item.extend(hash.map(|hash| ("content_sha256".to_owned(), text(hash.hex()))));
        }
        Some(Write::put(item))
    }

    pub(crate) async fn renew(&self, id: ElicitationId, now: Timestamp) -> Result<(), StoreError> {
        let write = Write::update(self.keys.state(id), "SET #last_polled_at = :now")
            .value(":now", time(now))
            .value(":pending", text(STATUS_PENDING))
            .when("#status = :pending AND #expires_at > :now");
        self.once(&write).await.map(drop)
    }

    /// Where somebody wants to hear of it, the question is due once more.
    pub(crate) async fn collect(&self, question: &Elicitation, now: Timestamp) -> Result<(), StoreError> {
        let key = self.keys.state(question.id);
        let is_told = question.evidence.is_awaited && question.stored.is_terminal();
        let due = if is_told { ", #due_pk = :shard, #due_sk = :place" } else { "" };
        let place = due_place(now.plus(PLAN_BACKSTOP), &key);
        let mut write = Write::update(key, format!("SET #collected_at = :now{due}"))
            .value(":now", time(now))
            .when("attribute_exists(#PK) AND attribute_not_exists(#collected_at)");
        if is_told {
            write = write.value(":shard", text(due_shard(shard(question.id)))).value(":place", text(place));
        }
        self.once(&write).await.map(drop)
    }

    pub(crate) async fn hold(
        &self,
        id: ElicitationId,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let write = Write::update(self.keys.state(id), "SET #hold_until = :until, #last_polled_at = :now")
            .value(":until", time(until))
            .value(":now", time(now))
            .value(":pending", text(STATUS_PENDING))
            .when("#status = :pending AND (attribute_not_exists(#hold_until) OR #hold_until <= :now)");
        self.once(&write).await
    }

    pub(crate) async fn remove_due(&self, id: ElicitationId) -> Result<(), StoreError> {
        let write = Write::update(self.keys.state(id), "REMOVE #due_pk, #due_sk")
            .value(":pending", text(STATUS_PENDING))
            .when("attribute_exists(#PK) AND #status <> :pending");
        self.once(&write).await.map(drop)
    }

    /// One attempt; `false` where the condition does not hold.
    pub(crate) async fn once(&self, write: &Write) -> Result<bool, StoreError> {
        match self.store.table.write(write).await {
            Ok(()) => Ok(true),
            Err(TableError::Condition(_)) => Ok(false),
            Err(error) => Err(trouble(error)),
        }
    }
}

/// What a write of the transaction is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    State,
    Session,
    Spent,
    Standing,
    Audit,
}

enum Attempt {
    Done,
    /// The first of the writes whose condition did not hold, and what it found.
    Failed(Part, Failed),
}

fn first_unmet(reasons: Vec<Option<Failed>>, beside: &[(Part, Write)]) -> Attempt {
    let parts = std::iter::once(Part::State).chain(beside.iter().map(|(part, _)| *part));
    let unmet = parts.zip(reasons).find_map(|(part, reason)| reason.map(|found| (part, found)));
    unmet
        .map_or(Attempt::Failed(Part::Audit, Failed::default()), |(part, found)| Attempt::Failed(part, found))
}

fn decided_set(words: &SealedWords) -> String {
    let content = words.content.as_ref().map_or("", |_| ", #content = :content");
    let reason = words.reason.as_ref().map_or("", |_| ", #reason = :reason");
    format!(
        "SET #status = :status, #verdict = :verdict, #decided_by = :by, #decided_at = :at{content}{reason}"
    )
}

fn decided(write: Write, decision: &Decision, words: &SealedWords) -> Write {
    let mut write = write
        .value(":status", text(STATUS_DECIDED))
        .value(":verdict", text(decision.verdict.word()))
        .value(":by", decider_map(&decision.by))
        .value(":at", time(decision.at));
    for (name, sealed) in [(":content", &words.content), (":reason", &words.reason)] {
        if let Some(sealed) = sealed {
            write = write.value(name, sealed.clone());
        }
    }
    write
}
