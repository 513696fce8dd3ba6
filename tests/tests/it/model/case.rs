//! One case: each step is done to the app and to the model, and then the two are held against each other.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use countersign_app::Settings;
use countersign_app::authority::{Admission, Caller, Deciding};
use countersign_app::records::{Approver, Wanted};
use countersign_core::declines::Declines;
use countersign_core::id::{ElicitationId, Front, Principal, RequestId};
use countersign_core::json::Sha256;
use countersign_core::seal::AskToken;
use countersign_core::session::{LostReason, Session, SessionStatus};
use countersign_core::state::State;
use countersign_core::time::Timestamp;
use countersign_store::table::Table;
use countersign_testkit::app::START;
use countersign_testkit::{MockClock, TestApp};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::acts::asked_for;
use super::people::{desk, people};
use super::reference::{Fact, Question, SaidNo, Shown, Slot, World, shown};
use super::steps::{NATIVE_FROM, SLOTS};
use crate::racing::RacingTable;

/// The two bodies that a request may have.
pub(super) const BODIES: [&str; 2] = ["Send it?", "Send it to everybody?"];

/// The app, the model, and what was seen so far.
pub(super) struct Case {
    pub(super) test: TestApp,
    pub(super) racing: Arc<RacingTable>,
    pub(super) caller: Caller,
    pub(super) token: AskToken,
    ids: BTreeMap<ElicitationId, Slot>,
    pub(super) world: World,
    /// Who was let in and has not asked yet: by token and by key, and the world as it was.
    pub(super) admitted: Option<(Admission, Admission, World)>,
    /// The page that somebody has open.
    /// With it the question as it was then, and whether the person could answer.
    pub(super) page: Option<(Slot, Deciding, (Option<Question>, bool))>,
    /// Who answers the odd slots.
    pub(super) person: Approver,
    /// What was stored since the last drain.
    pub(super) triggers: BTreeSet<Slot>,
    /// The end of each question as it was first told.
    told: BTreeMap<Slot, State>,
    sent: BTreeMap<Slot, usize>,
    /// Questions whose delivery a crash may have hit.
    shaky: BTreeSet<Slot>,
    /// Crashes that may have hit a delivery.
    crashes: usize,
    /// The latest that the clock has shown.
    pub(super) latest: Timestamp,
}

/// What a step makes of the world.
pub(super) struct Outcome {
    /// The world after it.
    pub(super) next: World,
    /// What the session may have lost by it.
    pub(super) losers: BTreeSet<Slot>,
    /// It may have been cut short.
    pub(super) died: bool,
    /// It sends notices.
    pub(super) delivers: bool,
}

impl Case {
    /// An app with one session on `table`.
    pub(super) async fn start(table: Arc<dyn Table>) -> Self {
        let clock = Arc::new(MockClock::at(START));
        let racing = Arc::new(RacingTable::new(table, clock.clone()));
        let mut test = TestApp::over(racing.clone(), clock).await;
        // The limit runs by the machine's own clock, which no result may depend on.
        let unhurried =
            Settings { poll_store_limit: Duration::from_mins(10), ..(*test.app.settings).clone() };
        test.app.settings = Arc::new(unhurried);
        let caller = test.caller().await;
        let (_, token) = test.session().await;
        let person = people(&test, &caller).await;
        let ids = (0..SLOTS).map(|slot| (id_of(slot, &token, &caller), slot)).collect();
        Self {
            test,
            racing,
            caller,
            token,
            ids,
            world: World { is_member: true, ..World::default() },
            person,
            admitted: None,
            page: None,
            triggers: BTreeSet::new(),
            told: BTreeMap::new(),
            sent: BTreeMap::new(),
            shaky: BTreeSet::new(),
            crashes: 0,
            latest: START,
        }
    }

    /// The id of the slot's question.
    pub(super) fn id(&self, slot: Slot) -> ElicitationId {
        id_of(slot, &self.token, &self.caller)
    }

    /// A terminal state was observed: it must be the one that was observed before.
    pub(super) fn observe(&mut self, slot: Slot, state: &State) -> Result<(), TestCaseError> {
        if state.is_terminal() {
            let first = self.told.entry(slot).or_insert_with(|| state.clone());
            prop_assert_eq!(&*first, state, "slot {} ended twice", slot);
        }
        Ok(())
    }

    /// Holds the stored rows against what the step should have made of them, and goes on from what is stored.
    pub(super) async fn reconcile(&mut self, outcome: Outcome) -> Result<(), TestCaseError> {
        let actual = self.stored().await?;
        let before = &self.world;
        let Outcome { next, losers, died, delivers } = outcome;
        for slot in 0..SLOTS {
            let [was, is, should] = [before, &actual, &next].map(|world| world.questions.get(&slot));
            prop_assert!(is == should || (died && is == was), "slot {slot}:\n{is:#?}\nis not\n{should:#?}");
        }
        let cut_short = died && actual.archived == before.archived;
        prop_assert!(actual.archived == next.archived || cut_short, "archived: {}", actual.archived);
        for (what, as_should, as_was) in [
            ("said no", actual.said_no == next.said_no, actual.said_no == before.said_no),
            ("member", actual.is_member == next.is_member, actual.is_member == before.is_member),
        ] {
            prop_assert!(as_should || (died && as_was), "{what}: {actual:#?}\nis not\n{next:#?}");
        }
        let expired = |world: &World, slot| {
            world.questions.get(&slot).is_some_and(|one: &Question| matches!(one.fact, Fact::Ended(_)))
        };
        let lost: BTreeSet<_> = losers.iter().filter(|slot| expired(&actual, **slot)).copied().collect();
        let as_should = match actual.lost {
            Some(slot) if !lost.is_empty() => lost.contains(&slot),
            other => lost.is_empty() && (other == next.lost || (died && other == before.lost)),
        };
        prop_assert!(as_should, "lost {:?}, should be {:?} or of {:?}", actual.lost, next.lost, lost);
        self.check_notices(&actual, &next, died && delivers)?;
        self.world = actual;
        self.latest = self.latest.max(self.test.now());
        self.check_session().await
    }

    /// The world as the rows have it.
    async fn stored(&mut self) -> Result<World, TestCaseError> {
        let more = self.ids.keys().copied().collect();
        let wanted = Wanted {
            session: Some(self.token.session),
            approver: Some(self.person.id),
            more,
            ..Wanted::default()
        };
        let rows = self.test.app.store.tenant(&self.token.tenant).read(&wanted).await;
        let rows = rows.map_err(|error| TestCaseError::fail(error.to_string()))?;
        let Some(session) = rows.session else { return Err(TestCaseError::fail("the session is gone")) };
        let is_member = rows.approver.is_some_and(|person| person.groups.contains(&desk()));
        let said_no = Self::said_no(&session.declines)?;
        let archived = session.archived_at.is_some();
        let mut world = World { archived, said_no, is_member, ..World::default() };
        for row in rows.more {
            let slot = self.ids[&row.id];
            self.observe(slot, &row.stored)?;
            let entry = session.open.iter().find(|one| one.elicitation == row.id);
            prop_assert!(entry.is_none_or(|one| one.expires_at == row.deadlines.expires_at));
            let question = question(&row, entry.is_some());
            if let State::Decided(decision) = &row.stored {
                prop_assert!(decision.at < row.deadlines.decide_by, "decided too late");
            }
            world.questions.insert(slot, question);
        }
        for entry in &session.open {
            let slot = self.ids.get(&entry.elicitation);
            prop_assert!(slot.is_some_and(|slot| world.questions.contains_key(slot)), "a stale entry");
        }
        world.lost = self.lost(&session, &world)?;
        Ok(world)
    }

    fn said_no(declines: &Declines) -> Result<SaidNo, TestCaseError> {
        let mut to = BTreeMap::new();
        for one in &declines.contents {
            let Some(shown) = SHOWN.get(&one.shown) else {
                return Err(TestCaseError::fail("a strange decline"));
            };
            to.insert(*shown, (one.count, one.at));
        }
        Ok(SaidNo { in_a_row: declines.in_a_row, last_at: declines.last_at, to })
    }

    fn lost(&self, session: &Session, world: &World) -> Result<Option<Slot>, TestCaseError> {
        let Some(lost) = &session.lost else { return Ok(None) };
        let slot = self.ids[&lost.elicitation];
        prop_assert_eq!(lost.reason, LostReason::Expired);
        prop_assert_eq!(Some(lost.at), world.questions.get(&slot).map(|one| one.deadlines.expires_at));
        Ok(Some(slot))
    }

    /// The session as its owner sees it.
    pub(super) async fn check_session(&self) -> Result<(), TestCaseError> {
        let seen = self.test.app.session(&self.caller, &self.token.session.to_string()).await;
        let seen = seen.map_err(|error| TestCaseError::fail(error.to_string()))?;
        let now = self.test.now();
        let is_open = |one: &Question| one.listed && one.seen_at(now).is_none();
        let open: BTreeSet<_> =
            self.world.questions.iter().filter(|(_, one)| is_open(one)).map(|(slot, _)| *slot).collect();
        let status = match (self.world.archived, open.is_empty()) {
            (true, _) => SessionStatus::Archived,
            (false, false) => SessionStatus::NeedsInput,
            (false, true) => SessionStatus::Running,
        };
        prop_assert_eq!(seen.open.iter().map(|one| self.ids[&one.id]).collect::<BTreeSet<_>>(), open);
        prop_assert_eq!(seen.status, status);
        prop_assert_eq!(seen.session.status_at(now), status, "what the wire shows of it");
        Ok(())
    }

    /// Each question that was planned just now was told of once, and nothing else was.
    fn check_notices(&mut self, actual: &World, next: &World, hit: bool) -> Result<(), TestCaseError> {
        self.crashes += usize::from(hit);
        let mut sent: BTreeMap<Slot, usize> = BTreeMap::new();
        for notice in self.test.channel.sent() {
            let id = notice.id.split('.').next().and_then(|id| id.parse().ok());
            *sent
                .entry(self.ids[&id.ok_or_else(|| TestCaseError::fail("a strange notice"))?])
                .or_default() += 1;
        }
        for slot in 0..SLOTS {
            let planned = |world: &World| world.questions.get(&slot).is_some_and(|one| one.planned);
            if hit && planned(next) && !planned(&self.world) {
                self.shaky.insert(slot);
            }
            let [was, is] = [&self.sent, &sent].map(|sent| sent.get(&slot).copied().unwrap_or_default());
            let due = usize::from(planned(actual) && !planned(&self.world));
            let may_repeat = self.shaky.contains(&slot) && (is == was || is == was + 1);
            prop_assert!(is == was + due || may_repeat, "slot {slot} was told of {is} times, before {was}");
        }
        let extra: usize = sent.values().map(|count| count.saturating_sub(1)).sum();
        prop_assert!(extra <= self.crashes, "{extra} repeated notices, {} crashes", self.crashes);
        self.sent = sent;
        Ok(())
    }

    /// Somebody was told of every question that still waits.
    pub(super) fn check_nobody_forgotten(&self) -> Result<(), TestCaseError> {
        let now = self.test.now();
        for (slot, one) in &self.world.questions {
            let told = self.sent.contains_key(slot);
            prop_assert!(told || one.seen_at(now).is_some(), "nobody was told of slot {slot}");
        }
        Ok(())
    }

    /// Nothing is left over once all has ended: no entry, no due mark, one row per request-id.
    pub(super) async fn check_end(&self) -> Result<(), TestCaseError> {
        let store = &self.test.app.store;
        let failed = |error: countersign_app::ports::StoreError| TestCaseError::fail(error.to_string());
        for (slot, one) in &self.world.questions {
            prop_assert!(!one.listed && matches!(one.fact, Fact::Ended(_)), "slot {slot}: {one:?}");
        }
        for shard in 0..countersign_app::sweep::DUE_SHARDS {
            let far = self.latest.plus(Duration::from_hours(24 * 30));
            prop_assert_eq!(store.due(shard, far, None).await.map_err(failed)?.entries, vec![]);
        }
        for slot in 0..NATIVE_FROM {
            let found = store.tenant(&self.token.tenant).by_request_id(&request_id(slot)).await;
            let want: Vec<_> = self.world.questions.get(&slot).map(|_| self.id(slot)).into_iter().collect();
            prop_assert_eq!(found.map_err(failed)?, want);
        }
        Ok(())
    }
}

/// What is shown, by its hash.
static SHOWN: LazyLock<HashMap<Sha256, Shown>> =
    LazyLock::new(|| (0..SLOTS).flat_map(|slot| [0, 1].map(|body| shown_as(slot, body))).collect());

fn shown_as(slot: Slot, body: u8) -> (Sha256, Shown) {
    (asked_for(slot, body).shown_sha256(), shown(slot, body))
}

fn question(row: &countersign_core::elicitation::Elicitation, listed: bool) -> Question {
    let body = BODIES.iter().position(|text| row.request_sha256 == Sha256::of(text.as_bytes()));
    let fact = match super::reference::Ending::of(&row.stored) {
        Some(ending) => Fact::Ended(ending),
        None if row.asker.collected_at.is_some() => Fact::Told,
        None => Fact::Pending,
    };
    Question {
        body: body.and_then(|at| u8::try_from(at).ok()).unwrap_or(u8::MAX),
        created_at: row.created_at,
        deadlines: row.deadlines,
        fact,
        listed,
        planned: row.evidence.planned_at.is_some(),
    }
}

/// The request-id, or Idempotency-Key, of a slot.
pub(super) fn request_id(slot: Slot) -> RequestId {
    format!("request-{slot}").parse().expect("a request-id")
}

fn id_of(slot: Slot, token: &AskToken, caller: &Caller) -> ElicitationId {
    let key = request_id(slot);
    if slot < NATIVE_FROM {
        let session = Some(token.session);
        let principal = Principal::session(token.session);
        ElicitationId::derive(Front::Fallback, &token.tenant, &principal, session, key.as_str())
    } else {
        ElicitationId::derive(Front::Native, &token.tenant, caller.principal(), None, key.as_str())
    }
}
