//! Throttles, conflicts, errors, silence, and answers that are lost after the write was applied.

use std::sync::Arc;
use std::time::Duration;

use countersign_app::Settings;
use countersign_app::create::CreateError;
use countersign_app::poll::Poll;
use countersign_app::respond::{Pressed, RespondError};
use countersign_core::limits::{EXPIRY_DEFAULT, PLAN_BACKSTOP};
use countersign_core::state::{State, Status};
use countersign_embedded::faults::{Fault, Op};

use crate::scene::Scene;

const OPS: [Op; 6] = [Op::Get, Op::Put, Op::Update, Op::Transact, Op::Query, Op::Any];
const ANSWERED: [Fault; 4] = [Fault::Throttle, Fault::Conflict, Fault::Error, Fault::ApplyThenError];
/// Far more than any budget allows.
const ALWAYS: u64 = 1_000;

fn clear(scene: &Scene) {
    for op in OPS {
        scene.test.faults.set(op, Fault::Error, 0);
    }
}

#[tokio::test]
async fn a_create_outlives_three_faults_in_a_row() {
    for (op, fault) in OPS.into_iter().flat_map(|op| ANSWERED.map(|fault| (op, fault))) {
        let scene = Scene::start().await;
        scene.test.faults.set(op, fault, 3);
        let created = scene.ask("r1", "Send it?").await.unwrap();
        clear(&scene);
        assert_eq!(scene.rows_of("r1").await, [created.elicitation.id], "{op:?} {fault:?}");
        assert_eq!(scene.open().await, [created.elicitation.id]);
        scene.test.drain().await;
        scene.sweep_later(PLAN_BACKSTOP).await;
        assert_eq!(scene.notices().len(), 1, "{op:?} {fault:?}");
    }
}

#[tokio::test]
async fn a_response_outlives_three_faults_in_a_row() {
    for (op, fault) in OPS.into_iter().flat_map(|op| ANSWERED.map(|fault| (op, fault))) {
        let (scene, id) = Scene::asked().await;
        scene.test.faults.set(op, fault, 3);
        let decided = scene.press(id, Pressed::Accept).await.unwrap();
        clear(&scene);
        assert_eq!(decided.stored.status(), Status::Accept);
        assert_eq!(scene.poll("r1").await, decided.stored, "{op:?} {fault:?}");
        assert_eq!(scene.audited().await, 1, "{op:?} {fault:?}");
        assert_eq!(scene.open().await, []);
    }
}

#[tokio::test]
async fn a_create_under_lasting_faults_fails_and_its_retry_stores_one_row() {
    for fault in ANSWERED {
        let scene = Scene::start().await;
        scene.test.faults.set(Op::Transact, fault, ALWAYS);
        let outcome = scene.ask("r1", "Send it?").await;
        let applied = fault == Fault::ApplyThenError; // its second attempt finds the row
        assert_eq!(matches!(outcome, Err(CreateError::Store(_))), !applied, "{fault:?} {outcome:?}");
        assert_eq!(scene.rows_of("r1").await.len(), usize::from(applied));
        clear(&scene);
        let created = scene.ask("r1", "Send it?").await.unwrap();
        assert_eq!(scene.rows_of("r1").await, [created.elicitation.id]);
    }
}

#[tokio::test]
async fn a_response_under_lasting_faults_fails_and_leaves_the_question_open() {
    for fault in [Fault::Throttle, Fault::Conflict, Fault::Error] {
        let (scene, id) = Scene::asked().await;
        scene.test.faults.set(Op::Transact, fault, ALWAYS);
        let outcome = scene.press(id, Pressed::Accept).await;
        assert!(matches!(outcome, Err(RespondError::Store(_))), "{fault:?} {outcome:?}");
        clear(&scene);
        assert_eq!(scene.poll("r1").await, State::Pending);
        assert_eq!(scene.press(id, Pressed::Decline).await.unwrap().stored.status(), Status::Decline);
    }
}

#[tokio::test]
async fn a_decision_is_not_stored_once_its_last_moment_has_passed_in_retries() {
    let (scene, id) = Scene::asked().await;
    let decide_by = scene.row(id).await.deadlines.decide_by;
    let left = decide_by.minus(Duration::from_millis(1)).since(scene.test.now());
    scene.test.clock.advance(left);
    scene.test.faults.set(Op::Transact, Fault::Throttle, 6);
    let outcome = scene.press(id, Pressed::Accept).await;
    assert!(scene.test.now() >= decide_by, "the retries took no time");
    assert_eq!(outcome.unwrap_err(), RespondError::TooLate);
    assert_eq!(scene.row(id).await.stored, State::Pending);
}

#[tokio::test]
async fn a_poll_that_cannot_read_says_so_at_once() {
    for fault in [Fault::Throttle, Fault::Conflict, Fault::Error, Fault::Timeout, Fault::ApplyThenError] {
        let (mut scene, id) = Scene::asked().await;
        let handle = scene.row(id).await.poll_handle.unwrap();
        let hurried = Duration::from_millis(1); // nothing waits for it but the fault that never answers
        scene.test.app.settings =
            Arc::new(Settings { poll_store_limit: hurried, ..(*scene.test.app.settings).clone() });
        for text in [&*handle, "r1"] {
            scene.test.faults.set(Op::Get, fault, 1);
            let learned = scene.test.app.poll(&scene.token, text).await;
            assert!(matches!(learned, Poll::Unread { .. }), "{fault:?} {learned:?}");
        }
        scene.test.clock.advance(EXPIRY_DEFAULT);
        scene.test.faults.set(Op::Get, fault, 1);
        let learned = scene.test.app.poll(&scene.token, &handle).await;
        assert!(matches!(learned, Poll::Unread { .. }), "{fault:?} {learned:?}");
    }
}

#[tokio::test]
async fn a_poll_that_cannot_note_itself_answers_all_the_same() {
    for fault in ANSWERED {
        let (scene, _) = Scene::asked().await;
        scene.test.faults.set(Op::Update, fault, 1);
        assert_eq!(scene.poll("r1").await, State::Pending, "{fault:?}");
        scene.test.clock.advance(EXPIRY_DEFAULT);
        scene.test.faults.set(Op::Update, fault, 1);
        assert_eq!(scene.poll("r1").await.status(), Status::Expired, "{fault:?}");
    }
}
