//! A process dies at each of its store calls in turn, before and after the call is applied. Whoever comes next finds
//! one row and one truth.

use countersign_app::endpoints::EndpointWish;
use countersign_core::endpoint::EventKind;
use std::time::Duration;

use countersign_app::create::CreateError;
use countersign_app::poll::Poll;
use countersign_app::respond::Pressed;
use countersign_app::sessions::SessionWish;
use countersign_core::id::ElicitationId;
use countersign_core::limits::{EXPIRY_DEFAULT, PLAN_BACKSTOP};
use countersign_core::state::{State, Status};
use countersign_testkit::crash::Die;

use crate::scene::Scene;

const MINUTE: Duration = Duration::from_secs(61);

/// Dies in `work` at call 0, 1, 2 … until it completes, each time on a stage of its own. `after` is told what the work
/// returned, if it did not die.
async fn at_every_call<Stage, Done>(
    stage: impl AsyncFn() -> (Scene, Stage),
    work: impl AsyncFn(&Scene, &Stage) -> Done,
    after: impl AsyncFn(&Scene, &Stage, Option<Done>),
) {
    for die in [Die::Before, Die::After] {
        let mut call = 0;
        loop {
            let (scene, things) = stage().await;
            let done = scene.test.process.dying_at(call, die, work(&scene, &things)).await;
            let completed = done.is_some();
            after(&scene, &things, done).await;
            if completed {
                assert!(call > 0, "the work has no store call");
                break;
            }
            call += 1;
        }
    }
}

async fn empty() -> (Scene, ()) {
    (Scene::start().await, ())
}

#[tokio::test]
async fn a_fallback_create_that_died_is_stored_once_by_its_retry() {
    at_every_call(
        empty,
        async |scene, ()| scene.ask("r1", "Send it?").await.map(drop),
        async |scene, (), done| {
            assert!(done.is_none_or(|done| done.is_ok()));
            let created = scene.ask("r1", "Send it?").await.unwrap();
            let id = created.elicitation.id;
            assert_eq!(scene.rows_of("r1").await, [id]);
            assert_eq!(scene.open().await, [id]);
            assert_eq!(scene.poll("r1").await, State::Pending);
            assert_eq!(scene.ask("r1", "Send it to all?").await.unwrap_err(), CreateError::Reused);
            scene.test.drain().await;
            scene.sweep_later(PLAN_BACKSTOP).await;
            assert_eq!(scene.notices().len(), 1);
        },
    )
    .await;
}

#[tokio::test]
async fn a_native_create_that_died_is_stored_once_and_still_replaces_what_it_supersedes() {
    at_every_call(
        Scene::asked,
        async |scene, old| scene.ask_natively("k1", |ask| ask.supersedes = Some(*old)).await.map(drop),
        async |scene, old, done| {
            assert!(done.is_none_or(|done| done.is_ok()));
            let again = scene.ask_natively("k1", |ask| ask.supersedes = Some(*old)).await.unwrap();
            let repeated = scene.ask_natively("k1", |ask| ask.supersedes = Some(*old)).await.unwrap();
            assert_eq!(again.elicitation.reference, repeated.elicitation.reference);
            assert_eq!(scene.open().await, [again.elicitation.id]);
            assert!(matches!(scene.poll("r1").await, State::Withdrawn { .. }));
        },
    )
    .await;
}

/// A response that died, then the same, then another.
async fn a_response_that_died_is_stored_once(button: Pressed, other: Pressed, status: Status) {
    at_every_call(
        Scene::asked,
        async |scene, id| scene.press(*id, button).await.map(drop),
        async |scene, id, done| {
            assert!(done.is_none_or(|done| done.is_ok()));
            let first = scene.press(*id, button).await.unwrap();
            scene.press(*id, other).await.unwrap_err();
            assert_eq!(first.stored.status(), status);
            assert_eq!(scene.row(*id).await.stored, first.stored);
            assert_eq!(scene.poll("r1").await, first.stored);
            assert_eq!(scene.open().await, []);
            assert_eq!(scene.audited().await, 1);
        },
    )
    .await;
}

#[tokio::test]
async fn an_accept_that_died_is_stored_once_by_its_retry() {
    a_response_that_died_is_stored_once(Pressed::Accept, Pressed::Decline, Status::Accept).await;
}

#[tokio::test]
async fn a_decline_that_died_is_stored_once_by_its_retry() {
    a_response_that_died_is_stored_once(Pressed::Decline, Pressed::Accept, Status::Decline).await;
}

#[tokio::test]
async fn a_decline_that_died_and_an_accept_that_follows_have_one_winner() {
    at_every_call(
        Scene::asked,
        async |scene, id| scene.press(*id, Pressed::Decline).await.map(drop),
        async |scene, id, _| {
            let accepted = scene.press(*id, Pressed::Accept).await.is_ok();
            let want = if accepted { Status::Accept } else { Status::Decline };
            assert_eq!(scene.poll("r1").await.status(), want);
            assert_eq!(scene.audited().await, 1);
            assert_eq!(scene.open().await, []);
        },
    )
    .await;
}

#[tokio::test]
async fn a_withdrawal_that_died_is_stored_once_by_its_retry() {
    at_every_call(
        Scene::asked,
        async |scene, id| scene.test.app.withdraw(&scene.caller, *id).await.map(drop),
        async |scene, id, done| {
            assert!(done.is_none_or(|done| done.is_ok()));
            let withdrawn = scene.test.app.withdraw(&scene.caller, *id).await.unwrap();
            assert!(matches!(withdrawn.stored, State::Withdrawn { .. }));
            assert_eq!(scene.poll("r1").await, withdrawn.stored);
            assert_eq!(scene.open().await, []);
            assert_eq!(scene.audited().await, 1);
        },
    )
    .await;
}

#[tokio::test]
async fn an_archive_that_died_is_finished_by_its_retry() {
    let stage = async || {
        let (scene, first) = Scene::asked().await;
        let second = scene.ask("r2", "Send it?").await.unwrap().elicitation.id;
        (scene, [first, second])
    };
    let archive = async |scene: &Scene| {
        scene.test.app.archive(&scene.caller, &scene.token.session.to_string()).await.map(drop)
    };
    at_every_call(
        stage,
        async |scene, _| archive(scene).await,
        async |scene, ids, done| {
            assert!(done.is_none_or(|done| done.is_ok()));
            archive(scene).await.unwrap();
            for id in ids {
                assert!(matches!(scene.row(*id).await.stored, State::Withdrawn { .. }));
            }
            assert_eq!(scene.open().await, []);
            assert_eq!(scene.audited().await, 2);
            assert_eq!(scene.ask("r3", "Send it?").await.unwrap_err(), CreateError::Unauthenticated);
        },
    )
    .await;
}

#[tokio::test]
async fn an_opened_session_that_died_is_the_same_session_for_its_retry() {
    let open = async |scene: &Scene| {
        let wish = SessionWish { name: Some("run-1".parse().unwrap()), ..SessionWish::default() };
        Box::pin(scene.test.app.open_session(&scene.caller, wish)).await
    };
    at_every_call(
        empty,
        async |scene, ()| open(scene).await.map(drop),
        async |scene, (), done| {
            assert!(done.is_none_or(|done| done.is_ok()));
            let [first, second] = [open(scene).await.unwrap(), open(scene).await.unwrap()];
            assert_eq!(first.session.id, second.session.id);
            assert!(!second.is_new);
            for opened in [first, second] {
                let token = scene.test.app.open_ask_token(&opened.token).unwrap();
                scene.test.app.admit_token(&token).await.unwrap();
            }
        },
    )
    .await;
}

/// Somebody was told once; once more only where the process died between the sending and its record.
async fn told_once(scene: &Scene, id: ElicitationId) {
    let sent = scene.notices().len();
    let recorded = scene.row(id).await.evidence.reached;
    scene.test.app.notify(&scene.token.tenant, id).await.unwrap();
    scene.sweep_later(PLAN_BACKSTOP).await;
    scene.sweep_later(MINUTE).await;
    let unrecorded = sent - usize::try_from(recorded).unwrap();
    let notices = scene.notices();
    assert_eq!(notices.len(), 1 + unrecorded);
    assert!(notices.iter().all(|notice| *notice == notices[0]));
    assert_eq!(scene.row(id).await.evidence.reached, 1);
    scene.sweep_later(MINUTE).await;
    assert_eq!(scene.notices(), notices);
}

#[tokio::test]
async fn a_notice_that_died_is_sent_by_the_sweep_and_never_forgotten() {
    at_every_call(
        Scene::asked,
        async |scene, id| scene.test.app.notify(&scene.token.tenant, *id).await,
        async |scene, id, _| told_once(scene, *id).await,
    )
    .await;
}

#[tokio::test]
async fn a_sweep_that_died_while_it_planned_is_finished_by_the_next() {
    let stage = async || {
        let (scene, id) = Scene::asked().await;
        scene.test.clock.advance(PLAN_BACKSTOP);
        (scene, id)
    };
    at_every_call(
        stage,
        async |scene, _| scene.test.app.sweep().await,
        async |scene, id, _| told_once(scene, *id).await,
    )
    .await;
}

#[tokio::test]
async fn a_sweep_that_died_while_it_expired_is_finished_by_the_next() {
    let stage = async || {
        let (scene, first) = Scene::asked().await;
        let second = scene.ask("r2", "Send it?").await.unwrap().elicitation.id;
        scene.test.drain().await;
        scene.test.clock.advance(EXPIRY_DEFAULT);
        (scene, [first, second])
    };
    at_every_call(
        stage,
        async |scene, _| scene.test.app.sweep().await,
        async |scene, ids, _| {
            scene.sweep_later(Duration::ZERO).await;
            for id in ids {
                assert!(matches!(scene.row(*id).await.stored, State::Expired(_)));
            }
            let session = scene.session().await;
            assert!(session.lost.is_some_and(|lost| ids.contains(&lost.elicitation)));
            assert_eq!(scene.open().await, []);
            scene.sweep_later(PLAN_BACKSTOP).await;
            assert_eq!(scene.due().await, 0);
        },
    )
    .await;
}

#[tokio::test]
async fn an_event_whose_telling_died_is_told_by_the_sweep_under_the_same_id() {
    let stage = async || {
        let (scene, id) = Scene::asked().await;
        let wish = EndpointWish {
            url: Some("https://hooks.example.com/in".to_owned()),
            events: Some(vec![EventKind::ElicitationSettled]),
            ..EndpointWish::default()
        };
        scene.test.app.create_endpoint(&scene.caller, wish, None).await.unwrap();
        scene.press(id, Pressed::Accept).await.unwrap();
        (scene, id)
    };
    at_every_call(
        stage,
        async |scene, id| scene.test.app.notify(&scene.token.tenant, *id).await,
        async |scene, _, _| {
            // After the lease of an attempt that may have been begun.
            scene.sweep_later(PLAN_BACKSTOP).await;
            scene.sweep_later(Duration::from_mins(2)).await;
            let attempts = scene.test.hooks.attempts();
            assert!((1..=2).contains(&attempts.len()), "{attempts:?}");
            assert!(attempts.iter().all(|one| one.event.id == attempts[0].event.id));
            assert_eq!(scene.due().await, 0);
        },
    )
    .await;
}

#[tokio::test]
async fn a_poll_that_died_leaves_the_same_answer_to_the_next() {
    let stage = async || {
        let (scene, id) = Scene::asked().await;
        scene.test.clock.advance(EXPIRY_DEFAULT);
        (scene, id)
    };
    at_every_call(
        stage,
        async |scene, _| match scene.test.app.poll(&scene.token, "r1").await {
            Poll::Known { state, .. } => state,
            other => panic!("{other:?}"),
        },
        async |scene, id, done| {
            let learned = scene.poll("r1").await;
            assert_eq!(learned.status(), Status::Expired);
            assert!(done.is_none_or(|done| done == learned));
            assert!(scene.row(*id).await.asker.collected_at.is_some());
        },
    )
    .await;
}
