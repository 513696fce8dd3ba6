//! Doing one step: to the app, to the model, and comparing what the two say.

use std::time::Duration;

use countersign_app::create::CreateError;
use countersign_app::poll::Poll;
use countersign_app::respond::{Pressed, RespondError};
use countersign_app::sessions::SessionError;
use countersign_core::ask::{Ask, Expiry, RetryKey};
use countersign_core::deadline::Deadlines;
use countersign_core::elicitation::Elicitation;
use countersign_core::id::Front;
use countersign_core::limits::EXPIRY_DEFAULT;
use countersign_core::state::Answer;
use countersign_testkit::{fallback_ask, pressed};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::json;

use super::case::{BODIES, Case, Outcome, request_id};
use super::reference::{Ending, Fact, Reply, Slot, World};
use super::steps::{Death, Edge, NATIVE_FROM, Press, Step};

type Told = Result<Reply, TestCaseError>;

/// How long a native asker waits in one read.
const HELD: Duration = Duration::from_secs(1);

impl Case {
    /// Does one step, in a process that may die in it.
    pub(super) async fn step(&mut self, step: &Step, death: Death) -> Result<(), TestCaseError> {
        match step {
            Step::Ask { slot, body, wait_s, stale } => {
                Box::pin(self.ask(*slot, *body, *wait_s, *stale, death)).await
            }
            Step::Admit => Box::pin(self.admit()).await,
            Step::Poll(slot) => self.poll(self.pick(*slot), death).await,
            Step::View(slot) => self.view(self.pick(*slot), Duration::ZERO, death).await,
            Step::Respond { slot, press, stale, slow_ms } => {
                self.respond(self.pick(*slot), *press, *stale, *slow_ms, death).await
            }
            Step::Look(slot) => self.look(self.pick(*slot)).await,
            Step::Withdraw { slot, slow_ms } => self.withdraw(self.pick(*slot), *slow_ms, death).await,
            Step::Archive => self.archive(death).await,
            Step::Unmute => self.unmute(death).await,
            Step::Join(joins) => self.join(*joins, death).await,
            Step::Resume => self.resume(death).await,
            Step::Sweep => Box::pin(self.sweep(death)).await,
            Step::Drain => self.drain(death).await,
            Step::LoseTriggers => {
                self.triggers.clear();
                drop(self.test.trigger.take());
                Ok(())
            }
            Step::Forward(span) => self.forward(*span).await,
            Step::Approach(slot, edge, by) => self.approach(self.pick(*slot), *edge, *by).await,
            Step::Back(span) => {
                self.test.clock.step_back(*span);
                self.check_session().await
            }
        }
    }

    /// The slot, or the first that has a question where it has none.
    fn pick(&self, slot: Slot) -> Slot {
        let questions = &self.world.questions;
        if questions.contains_key(&slot) { slot } else { questions.keys().next().copied().unwrap_or(slot) }
    }

    pub(super) async fn compare(
        &mut self,
        told: Option<Reply>,
        reply: Reply,
        next: World,
    ) -> Result<(), TestCaseError> {
        if let Some(told) = &told {
            prop_assert_eq!(told, &reply);
        }
        self.reconcile(Outcome { next, losers: [].into(), died: told.is_none(), delivers: false }).await
    }

    async fn ask(
        &mut self,
        slot: Slot,
        body: u8,
        wait_s: Option<u64>,
        stale: bool,
        death: Death,
    ) -> Result<(), TestCaseError> {
        let now = self.test.now();
        let (ask, front, deadlines) = {
            let asked = wait_s.map(Duration::from_secs);
            let at = asked.map(|span| now.plus(span));
            let mut ask: Ask = asked_for(slot, body);
            ask.expiry = asked.map_or(Expiry::Default, Expiry::After);
            if slot < NATIVE_FROM {
                (ask, Front::Fallback, Deadlines::fallback(now, at, EXPIRY_DEFAULT))
            } else {
                ask.retry_key = RetryKey::Idempotency(request_id(slot).as_str().parse().expect("a good key"));
                (ask, Front::Native, Deadlines::native(now, at, EXPIRY_DEFAULT))
            }
        };
        let earlier = if stale { self.admitted.clone() } else { None };
        let by_token = slot < NATIVE_FROM;
        let admitted = earlier.as_ref().map_or_else(|| self.world.clone(), |(_, _, world)| world.clone());
        let leave = earlier.map(|(token, key, _)| if by_token { token } else { key });
        let app = &self.test.app;
        let work = async {
            let leave = match leave {
                Some(leave) => Ok(leave),
                None if by_token => app.admit_token(&self.token).await,
                None => app.admit_key(&self.test.key, Some(self.token.session)).await,
            };
            match leave {
                Ok(leave) => asked(Box::pin(app.create(leave, front, ask)).await),
                Err(_) => Ok(Reply::Archived),
            }
        };
        let told = self.mortal(death, Box::pin(work)).await?;
        let mut next = self.world.clone();
        let reply = next.ask((slot, body, by_token), deadlines, &admitted, now);
        if told == Some(Reply::Asked) {
            self.triggers.insert(slot);
        }
        self.compare(told, reply, next).await
    }

    async fn admit(&mut self) -> Result<(), TestCaseError> {
        let by_token = self.test.app.admit_token(&self.token).await.ok();
        let by_key = self.test.app.admit_key(&self.test.key, Some(self.token.session)).await.ok();
        self.admitted = by_token.zip(by_key).map(|(token, key)| (token, key, self.world.clone()));
        Ok(())
    }

    async fn poll(&mut self, slot: Slot, death: Death) -> Result<(), TestCaseError> {
        if slot >= NATIVE_FROM {
            return self.view(slot, HELD, death).await;
        }
        let by_handle = slot.is_multiple_of(2);
        let store = self.test.app.store.tenant(&self.token.tenant);
        let row =
            store.elicitation(self.id(slot)).await.map_err(|error| TestCaseError::fail(error.to_string()))?;
        let handle = row.filter(|_| by_handle).and_then(|row| row.poll_handle);
        let text = handle.unwrap_or_else(|| request_id(slot).as_str().to_owned());
        let work = async { Ok(self.test.app.poll(&self.token, &text).await) };
        let learned = self.mortal(death, Box::pin(work)).await?;
        let told = match learned {
            None => None,
            Some(Poll::Known { state, .. }) => {
                self.observe(slot, &state)?;
                Some(Ending::of(&state).map_or(Reply::Pending, Reply::Ended))
            }
            Some(Poll::Unknown) => Some(Reply::Unknown),
            Some(other) => return Err(TestCaseError::fail(format!("{other:?}"))),
        };
        self.was_read(slot, told).await
    }

    /// A native read: the asker's where it waits, else that of somebody who only looks.
    async fn view(&mut self, slot: Slot, wait: Duration, death: Death) -> Result<(), TestCaseError> {
        let view = async {
            let seen = self.test.app.view(&self.caller, self.id(slot), wait).await;
            seen.map_err(|error| TestCaseError::fail(error.to_string()))
        };
        let seen = self.mortal(death, Box::pin(view)).await?;
        let state = seen.as_ref().and_then(|seen| seen.as_ref().map(|(_, state)| state.clone()));
        let told = seen.map(|seen| match seen {
            None => Reply::Unknown,
            Some((_, state)) => Ending::of(&state).map_or(Reply::Pending, Reply::Ended),
        });
        if wait.is_zero() {
            let reply = self.world.clone().read(slot, self.test.now());
            let next = self.world.clone();
            self.compare(told, reply, next).await?;
        } else {
            self.was_read(slot, told).await?;
        }
        // Who only looked at an expiry that is not stored has no claim on it: the clock may go back.
        let stands = self.world.questions.get(&slot).is_some_and(|one| one.fact != Fact::Pending);
        match state {
            Some(state) if stands => self.observe(slot, &state),
            _ => Ok(()),
        }
    }

    async fn was_read(&mut self, slot: Slot, told: Option<Reply>) -> Result<(), TestCaseError> {
        let mut next = self.world.clone();
        let reply = next.read(slot, self.test.now()); // a held read has moved the clock
        self.compare(told, reply, next).await
    }

    async fn look(&mut self, slot: Slot) -> Result<(), TestCaseError> {
        let page = self.open_page(slot).await?;
        let known = (self.world.questions.get(&slot).cloned(), self.world.is_member);
        self.page = Some((slot, page, known));
        Ok(())
    }

    async fn respond(
        &mut self,
        slot: Slot,
        press: Press,
        stale: bool,
        slow_ms: Option<u64>,
        death: Death,
    ) -> Result<(), TestCaseError> {
        let earlier = if stale { self.page.clone() } else { None };
        let slot = earlier.as_ref().map_or(slot, |(slot, _, _)| *slot);
        let known = match &earlier {
            Some((_, _, known)) => known.clone(),
            None => (self.world.questions.get(&slot).cloned(), self.world.is_member),
        };
        let (button, content, verdict) = sheet(press);
        let now = self.test.now();
        self.racing.set_slow(slow_ms.filter(|_| death.is_none()).map(Duration::from_millis));
        let app = &self.test.app;
        let work = async {
            let page = match earlier {
                Some((_, page, _)) => page,
                None => self.open_page(slot).await?,
            };
            ended(Box::pin(app.respond(page, pressed(button, content))).await)
        };
        let told = Box::pin(self.mortal(death, work)).await?;
        self.racing.set_slow(None);
        let told = self.note_end(slot, told)?;
        let mut next = self.world.clone();
        let written = self.test.now();
        let reply = next.respond(slot, verdict, (known.0.as_ref(), known.1), (now, written));
        self.compare(told, reply, next).await
    }

    async fn withdraw(
        &mut self,
        slot: Slot,
        slow_ms: Option<u64>,
        death: Death,
    ) -> Result<(), TestCaseError> {
        self.racing.set_slow(slow_ms.filter(|_| death.is_none()).map(Duration::from_millis));
        let id = self.id(slot);
        let work = async { ended(self.test.app.withdraw(&self.caller, id).await) };
        let told = self.mortal(death, Box::pin(work)).await?;
        self.racing.set_slow(None);
        let told = self.note_end(slot, told)?;
        let mut next = self.world.clone();
        let reply = next.withdraw(slot, self.test.now());
        self.compare(told, reply, next).await
    }

    async fn archive(&mut self, death: Death) -> Result<(), TestCaseError> {
        let session = self.token.session.to_string();
        let work = async { done(self.test.app.archive(&self.caller, &session).await.map(drop)) };
        let told = self.mortal(death, Box::pin(work)).await?;
        let mut next = self.world.clone();
        next.archive(self.test.now());
        self.compare(told, Reply::Done, next).await
    }

    async fn unmute(&mut self, death: Death) -> Result<(), TestCaseError> {
        let session = self.token.session.to_string();
        let work = async { done(self.test.app.unmute(&self.caller, &session).await.map(drop)) };
        let told = self.mortal(death, Box::pin(work)).await?;
        let mut next = self.world.clone();
        next.unmute();
        self.compare(told, Reply::Done, next).await
    }

    async fn resume(&mut self, death: Death) -> Result<(), TestCaseError> {
        let session = self.token.session.to_string();
        let work = async { done(self.test.app.resume(&self.caller, &session).await.map(drop)) };
        let told = self.mortal(death, Box::pin(work)).await?;
        let mut next = self.world.clone();
        let reply = next.resume(self.test.now());
        self.compare(told, reply, next).await
    }

    pub(super) async fn sweep(&mut self, death: Death) -> Result<(), TestCaseError> {
        let work = async {
            let report =
                self.test.app.sweep().await.map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(report.troubled, 0, "{:?}", report);
            Ok(())
        };
        let died = self.mortal(death, Box::pin(work)).await?.is_none();
        let mut next = self.world.clone();
        let losers = next.sweep(self.test.now());
        self.reconcile(Outcome { next, losers, died, delivers: true }).await
    }

    async fn drain(&mut self, death: Death) -> Result<(), TestCaseError> {
        let work = async {
            self.test.drain().await;
            Ok(())
        };
        let died = self.mortal(death, Box::pin(work)).await?.is_none();
        let triggers = std::mem::take(&mut self.triggers);
        let mut next = self.world.clone();
        next.drain(&triggers, self.test.now());
        self.reconcile(Outcome { next, losers: [].into(), died, delivers: true }).await
    }

    pub(super) async fn forward(&mut self, span: Duration) -> Result<(), TestCaseError> {
        self.test.clock.advance(span);
        self.latest = self.latest.max(self.test.now());
        self.check_session().await
    }

    async fn approach(&mut self, slot: Slot, edge: Edge, by: i64) -> Result<(), TestCaseError> {
        let Some(found) = self.world.questions.get(&slot) else { return Ok(()) };
        let edge = match edge {
            Edge::DecideBy => found.deadlines.decide_by,
            Edge::AskerDeadline => found.deadlines.asker_deadline,
            Edge::ExpiresAt => found.deadlines.expires_at,
        };
        let to = edge.millis() + by - self.test.now().millis();
        self.forward(Duration::from_millis(u64::try_from(to).unwrap_or(0))).await
    }

    /// Works in a process that may die at one of its store calls. `None` if it did.
    pub(super) async fn mortal<T>(
        &self,
        death: Death,
        work: impl Future<Output = Result<T, TestCaseError>>,
    ) -> Result<Option<T>, TestCaseError> {
        match death {
            Some((call, die)) => self.test.process.dying_at(call, die, work).await.transpose(),
            None => work.await.map(Some),
        }
    }

    fn note_end(
        &mut self,
        slot: Slot,
        told: Option<Result<Elicitation, Reply>>,
    ) -> Result<Option<Reply>, TestCaseError> {
        let Some(Ok(row)) = told else { return Ok(told.and_then(Result::err)) };
        self.observe(slot, &row.stored)?;
        Ok(Ending::of(&row.stored).map(Reply::Ended).or(Some(Reply::Pending)))
    }
}

/// The question of a slot. Slots of a pair show the same.
pub(super) fn asked_for(slot: Slot, body: u8) -> Ask {
    let mut ask = fallback_ask(request_id(slot).as_str(), BODIES[usize::from(body)]);
    ask.title = Some(format!("Pair {}", slot / 2));
    ask
}

fn asked(outcome: Result<countersign_app::create::Created, CreateError>) -> Told {
    match outcome {
        Ok(_) => Ok(Reply::Asked),
        Err(CreateError::Reused) => Ok(Reply::Reused),
        Err(CreateError::TooManyOpen { .. }) => Ok(Reply::Full),
        Err(CreateError::Muted(_)) => Ok(Reply::Muted),
        Err(CreateError::SessionArchived | CreateError::Unauthenticated) => Ok(Reply::Archived),
        Err(error) => Err(TestCaseError::fail(format!("create: {error}"))),
    }
}

fn ended(outcome: Result<Elicitation, RespondError>) -> Result<Result<Elicitation, Reply>, TestCaseError> {
    match outcome {
        Ok(row) => Ok(Ok(row)),
        Err(RespondError::Unknown) => Ok(Err(Reply::Unknown)),
        Err(RespondError::AlreadySettled(_)) => Ok(Err(Reply::Settled)),
        Err(RespondError::TooLate) => Ok(Err(Reply::TooLate)),
        Err(RespondError::NotAnApprover) => Ok(Err(Reply::NotEligible)),
        Err(RespondError::InvalidContent(_)) => Ok(Err(Reply::Invalid)),
        Err(error) => Err(TestCaseError::fail(format!("respond: {error}"))),
    }
}

fn done(outcome: Result<(), SessionError>) -> Told {
    match outcome {
        Ok(()) => Ok(Reply::Done),
        Err(SessionError::Archived) => Ok(Reply::Archived),
        Err(error) => Err(TestCaseError::fail(format!("session: {error}"))),
    }
}

/// What a press sends, and the ending that it asks for; none for a form that does not fit.
fn sheet(press: Press) -> (Pressed, Option<Answer>, Option<Ending>) {
    let form = |value: serde_json::Value| Answer::from_iter([("confirm".to_owned(), value)]);
    let [yes, no, bad] = [json!(true), json!(false), json!("perhaps")].map(form);
    match press {
        Press::AcceptTrue => (Pressed::Accept, Some(yes.clone()), Some(Ending::Accept(yes))),
        Press::AcceptFalse => (Pressed::Accept, Some(no.clone()), Some(Ending::Accept(no))),
        Press::AcceptBare => (Pressed::Accept, None, Some(Ending::Accept(yes))),
        Press::AcceptBad => (Pressed::Accept, Some(bad), None),
        Press::Decline => (Pressed::Decline, None, Some(Ending::Decline)),
        Press::Cancel => (Pressed::Cancel, Some(bad), Some(Ending::Cancel)),
    }
}
