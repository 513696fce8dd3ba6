//! Several at once: on the engine, where calls run side by side, and in memory, where a seed decides who goes first.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use countersign_app::create::CreateError;
use countersign_app::respond::{Pressed, RespondError};
use countersign_core::id::ElicitationId;
use countersign_core::json::Sha256;
use countersign_core::limits::{EXPIRY_DEFAULT, MAX_OPEN_PER_SESSION, PLAN_BACKSTOP};
use countersign_core::state::{State, Status};
use countersign_store::table::Table;
use countersign_testkit::app::START;
use countersign_testkit::{MockClock, TestApp};
use futures_util::future::{join, join_all};

use crate::jostling::JostlingTable;
use crate::memory::MemoryTable;
use crate::scene::Scene;

const INTERLEAVINGS: u64 = 200;

/// A scene whose callers take turns as `seed` says.
async fn jostled(seed: u64) -> Scene {
    let table: Arc<dyn Table> = Arc::new(JostlingTable::new(Arc::new(MemoryTable::default()), seed));
    Scene::of(TestApp::over(table, Arc::new(MockClock::at(START))).await).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_identical_creates_at_once_make_one_row_fifty_equal_answers_and_one_notice() {
    let scene = Scene::start().await;
    let answers = join_all((0..50).map(|_| scene.ask("r1", "Send it?"))).await;
    let answers: Vec<_> = answers.into_iter().map(|answer| answer.unwrap().elicitation).collect();
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    assert_eq!(scene.rows_of("r1").await, [answers[0].id]);
    assert_eq!(scene.open().await, [answers[0].id]);
    let notify = || scene.test.app.notify(&scene.token.tenant, answers[0].id);
    let notified = join_all((0..50).map(|_| notify())).await;
    assert!(notified.iter().all(Result::is_ok));
    scene.sweep_later(PLAN_BACKSTOP).await;
    assert_eq!(scene.notices().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_different_bodies_with_one_request_id_exactly_one_is_stored() {
    let scene = Scene::start().await;
    let bodies: Vec<String> = (0..20).map(|number| format!("Send it to {number}?")).collect();
    let answers = join_all(bodies.iter().map(|body| scene.ask("r1", body))).await;
    let mut stored = Vec::new();
    for (body, answer) in bodies.iter().zip(answers) {
        match answer {
            Ok(created) => stored.push((Sha256::of(body.as_bytes()), created.elicitation.id)),
            Err(error) => assert_eq!(error, CreateError::Reused),
        }
    }
    let [(sha256, id)] = stored[..] else { panic!("{stored:?}") };
    assert_eq!(scene.row(id).await.request_sha256, sha256);
    assert_eq!(scene.open().await, [id]);
}

#[tokio::test]
async fn of_an_accept_and_a_decline_at_once_one_wins_and_the_loser_sees_the_winner() {
    let mut winners = BTreeSet::new();
    for seed in 0..INTERLEAVINGS {
        let scene = jostled(seed).await;
        let id = scene.ask("r1", "Send it?").await.unwrap().elicitation.id;
        winners.insert(one_winner(&scene, id).await);
    }
    assert_eq!(winners.len(), 2, "nobody ever raced: {winners:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_the_engine_too_one_of_two_decisions_wins() {
    let scene = Scene::start().await;
    for round in 0..20 {
        let id = scene.ask(&format!("r{round}"), "Send it?").await.unwrap().elicitation.id;
        one_winner(&scene, id).await;
        let session = scene.token.session.to_string(); // what was declined is not asked again at once
        scene.test.app.unmute(&scene.caller, &session).await.unwrap();
    }
}

/// Has a question accepted and declined at once: the word of the one that won.
async fn one_winner(scene: &Scene, id: ElicitationId) -> &'static str {
    let audited = scene.audited().await;
    let (accept, decline) = join(scene.press(id, Pressed::Accept), scene.press(id, Pressed::Decline)).await;
    let (winner, loser) = match (accept, decline) {
        (Ok(winner), Err(loser)) | (Err(loser), Ok(winner)) => (winner.stored, loser),
        other => panic!("{other:?}"),
    };
    let RespondError::AlreadySettled(seen) = loser else { panic!("{loser:?}") };
    assert_eq!(seen.stored, winner);
    assert_eq!(scene.row(id).await.stored, winner);
    assert_eq!(scene.audited().await, audited + 1);
    assert_eq!(scene.open().await, []);
    winner.status().word()
}

#[tokio::test]
async fn a_response_against_the_sweep_at_the_deadline_leaves_one_terminal_state() {
    let mut endings = BTreeSet::new();
    for seed in 0..INTERLEAVINGS {
        let scene = jostled(seed).await;
        let asked = scene.ask_natively("k1", |_| ()).await.unwrap().elicitation;
        scene.test.clock.advance(EXPIRY_DEFAULT.saturating_sub(Duration::from_millis(1)));
        let strike = async {
            for _ in 0..seed % 12 {
                tokio::task::yield_now().await;
            }
            scene.test.clock.advance(Duration::from_millis(1));
            scene.test.app.sweep().await.unwrap()
        };
        let (answer, swept) = join(scene.press(asked.id, Pressed::Accept), strike).await;
        let stored = scene.row(asked.id).await.stored;
        match answer {
            Ok(answered) => assert_eq!(answered.stored, stored),
            Err(error) => assert_eq!(error, RespondError::TooLate),
        }
        assert_eq!(swept.troubled, 0);
        assert!(matches!(stored.status(), Status::Accept | Status::Expired));
        let is_lost = scene.session().await.lost.is_some();
        assert_eq!(is_lost, stored.status() == Status::Expired);
        assert_eq!(scene.open().await, []);
        endings.insert(stored.status().word());
    }
    assert_eq!(endings.len(), 2, "nobody ever raced: {endings:?}");
}

#[tokio::test]
async fn two_sweeps_at_once_do_what_one_does() {
    for seed in 0..INTERLEAVINGS / 4 {
        let scene = jostled(seed).await;
        let asks =
            join_all((0..5).map(|number| scene.ask(["a", "b", "c", "d", "e"][number], "Send it?"))).await;
        let ids: Vec<_> = asks.into_iter().map(|asked| asked.unwrap().elicitation.id).collect();
        scene.test.clock.advance(PLAN_BACKSTOP);
        let both = || join(scene.test.app.sweep(), scene.test.app.sweep());
        let (first, second) = both().await;
        let [first, second] = [first.unwrap(), second.unwrap()];
        // In the same millisecond both may take the plan for their own; its deliveries are made once all the same.
        assert!(first.planned + second.planned >= ids.len());
        assert_eq!(first.troubled + second.troubled, 0);
        assert_eq!(scene.notices().iter().collect::<BTreeSet<_>>().len(), scene.notices().len());
        assert_eq!(scene.notices().len(), ids.len());

        scene.test.clock.advance(EXPIRY_DEFAULT);
        let (first, second) = both().await;
        let [first, second] = [first.unwrap(), second.unwrap()];
        assert_eq!([first.expired + second.expired, first.troubled + second.troubled], [ids.len(), 0]);
        for id in ids {
            assert!(matches!(scene.row(id).await.stored, State::Expired(_)));
        }
        assert_eq!(scene.open().await, []);
        scene.test.clock.advance(PLAN_BACKSTOP);
        let (first, second) = both().await;
        assert_eq!(first.unwrap().troubled + second.unwrap().troubled, 0);
        assert_eq!(scene.due().await, 0);
    }
}

#[tokio::test]
async fn a_create_against_an_archive_leaves_nothing_open() {
    let mut asked_first = BTreeSet::new();
    for seed in 0..INTERLEAVINGS {
        let scene = jostled(seed).await;
        let session = scene.token.session.to_string();
        let (asked, archived) =
            join(scene.ask("r1", "Send it?"), scene.test.app.archive(&scene.caller, &session)).await;
        archived.unwrap();
        asked_first.insert(asked.is_ok());
        match asked {
            Ok(created) => {
                assert!(matches!(scene.row(created.elicitation.id).await.stored, State::Withdrawn { .. }));
            }
            Err(error) => {
                assert_eq!(error, CreateError::Unauthenticated);
                assert_eq!(scene.rows_of("r1").await, []);
            }
        }
        assert_eq!(scene.open().await, []);
    }
    assert_eq!(asked_first.len(), 2, "nobody ever raced");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_ten_creates_for_five_places_exactly_five_are_stored() {
    exactly_five(Scene::start().await).await;
}

#[tokio::test]
async fn questions_past_their_deadline_leave_their_places_while_others_race_for_them() {
    for seed in 0..INTERLEAVINGS / 4 {
        let scene = jostled(seed).await;
        for old in ["old-1", "old-2", "old-3"] {
            scene.ask(old, "Send it?").await.unwrap();
        }
        scene.test.clock.advance(EXPIRY_DEFAULT);
        exactly_five(scene).await;
    }
}

async fn exactly_five(scene: Scene) {
    let names: Vec<String> = (0..10).map(|number| format!("r{number}")).collect();
    let asking = join_all(names.iter().map(|name| scene.ask(name, "Send it?")));
    // A sweep in between takes the entries away that the creates have counted.
    let (answers, swept) = join(asking, scene.test.app.sweep()).await;
    assert_eq!(swept.unwrap().troubled, 0);
    let mut stored = Vec::new();
    for answer in answers {
        match answer {
            Ok(created) => stored.push(created.elicitation.id),
            Err(error) => assert_eq!(error, CreateError::TooManyOpen { limit: MAX_OPEN_PER_SESSION }),
        }
    }
    stored.sort();
    assert_eq!(stored.len(), MAX_OPEN_PER_SESSION);
    scene.sweep_later(Duration::ZERO).await;
    assert_eq!(scene.open().await, stored);
}
