//! What may happen in a case, and how often.

use std::time::Duration;

use countersign_testkit::crash::Die;
use proptest::prelude::*;

use super::reference::Slot;

/// Slots of one case; from [`NATIVE_FROM`] on they are native questions, below it fallback ones.
pub(super) const SLOTS: Slot = 8;
pub(super) const NATIVE_FROM: Slot = 6;

/// What a person presses.
#[derive(Debug, Clone, Copy)]
pub(super) enum Press {
    AcceptTrue,
    AcceptFalse,
    AcceptBare,
    AcceptBad,
    Decline,
    Cancel,
}

/// An instant of a question that is worth being near to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Edge {
    DecideBy,
    AskerDeadline,
    ExpiresAt,
}

/// One thing that happens.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// With `stale`, on the leave that the last [`Step::Admit`] got.
    Ask {
        slot: Slot,
        body: u8,
        wait_s: Option<u64>,
        stale: bool,
    },
    /// Somebody is let in, and will ask later.
    Admit,
    Poll(Slot),
    View(Slot),
    /// With `stale`, on the page that the last [`Step::Look`] showed. With `slow_ms`, the first write is throttled and
    /// the clock goes on.
    Respond {
        slot: Slot,
        press: Press,
        stale: bool,
        slow_ms: Option<u64>,
    },
    /// Somebody opens the page of a question, and will answer later.
    Look(Slot),
    Withdraw {
        slot: Slot,
        slow_ms: Option<u64>,
    },
    Archive,
    /// Somebody lets the session ask again.
    Unmute,
    /// The person who answers the odd slots joins those who may, or leaves them.
    Join(bool),
    Resume,
    Sweep,
    Drain,
    /// What would have made notifying prompt is lost.
    LoseTriggers,
    Forward(Duration),
    /// The clock goes forward to this far before or after an edge, if that lies ahead.
    Approach(Slot, Edge, i64),
    Back(Duration),
}

/// The store call at which the process dies.
pub(super) type Death = Option<(u32, Die)>;

/// A case: what happens, one after another. Beside the ordinary run of things there are sessions that are crowded, and
/// single questions whose clock goes to and fro.
pub(super) fn steps() -> impl Strategy<Value = Vec<(Step, Death)>> {
    let everything = step(SLOTS, [24, 4, 14, 14, 5, 3, 1, 2, 7, 6, 1, 6, 8, 3, 3, 3]);
    let crowded = step(SLOTS, [60, 8, 4, 4, 2, 1, 0, 1, 3, 2, 0, 2, 3, 1, 2, 1]);
    let to_and_fro = step(2, [5, 1, 14, 16, 10, 2, 0, 1, 2, 1, 0, 1, 14, 14, 1, 4]);
    prop_oneof![
        2 => case(everything),
        1 => case(crowded),
        1 => case(to_and_fro),
    ]
}

fn case(step: impl Strategy<Value = Step>) -> impl Strategy<Value = Vec<(Step, Death)>> {
    let one = (step, death()).prop_map(|one| vec![one]);
    let moment = prop_oneof![
        32 => one,
        4 => last_moment(),
        2 => two_at_once(),
        2 => told_and_back(),
        2 => shown_the_door(),
        2 => nagging(),
        1 => last_one_in()
    ];
    prop::collection::vec(moment, 1..30).prop_map(|moments| moments.concat())
}

/// Somebody answers in the last seconds, and the table is slow.
fn last_moment() -> impl Strategy<Value = Vec<(Step, Death)>> {
    (0..SLOTS, -2_000_i64..0, press(), 1_u64..4_500).prop_map(|(slot, by, press, slow_ms)| {
        let answer = Step::Respond { slot, press, stale: false, slow_ms: Some(slow_ms) };
        vec![(Step::Approach(slot, Edge::DecideBy, by), None), (answer, None)]
    })
}

/// Two people have the page open.
fn two_at_once() -> impl Strategy<Value = Vec<(Step, Death)>> {
    (0..SLOTS, press(), press()).prop_map(|(slot, first, second)| {
        let answer = |press, stale| Step::Respond { slot, press, stale, slow_ms: None };
        [Step::Look(slot), answer(first, false), answer(second, true)].map(|step| (step, None)).to_vec()
    })
}

/// An asker is told that its question has expired, the clock goes back, and somebody has the page open still.
fn told_and_back() -> impl Strategy<Value = Vec<(Step, Death)>> {
    (0..SLOTS, 0_i64..5_000, 3_000_u64..60_000, press()).prop_map(|(slot, after, back_ms, press)| {
        let steps = [
            Step::Look(slot),
            Step::Approach(slot, Edge::ExpiresAt, after),
            Step::Poll(slot),
            Step::Back(Duration::from_millis(back_ms)),
            Step::Respond { slot, press, stale: true, slow_ms: None },
        ];
        steps.map(|step| (step, None)).to_vec()
    })
}

/// Somebody has the page open, and may answer no more when they do.
fn shown_the_door() -> impl Strategy<Value = Vec<(Step, Death)>> {
    (0..SLOTS, press(), any::<bool>()).prop_map(|(slot, press, back)| {
        let answer = Step::Respond { slot, press, stale: true, slow_ms: None };
        let steps = [Step::Join(true), Step::Look(slot), Step::Join(back), answer];
        steps.map(|step| (step, None)).to_vec()
    })
}

/// Somebody was let in while there was room, and asks when there is none.
fn last_one_in() -> impl Strategy<Value = Vec<(Step, Death)>> {
    (0..SLOTS).prop_map(|last| {
        let ask = |slot, stale| Step::Ask { slot, body: 0, wait_s: None, stale };
        let others = (0..SLOTS).filter(|slot| *slot != last).map(|slot| ask(slot, false));
        let steps = [Step::Unmute, Step::Admit].into_iter().chain(others).chain([ask(last, true)]);
        steps.map(|step| (step, None)).collect()
    })
}

/// Somebody was let in before a person said no, and asks the same again.
fn nagging() -> impl Strategy<Value = Vec<(Step, Death)>> {
    (0..SLOTS / 2, prop_oneof![Just(Press::Decline), press()], 0_u64..90).prop_map(
        |(pair, press, later_s)| {
            let ask = |slot, stale| Step::Ask { slot, body: 0, wait_s: None, stale };
            let (slot, twin) = (pair * 2, pair * 2 + 1);
            let answer = Step::Respond { slot, press, stale: false, slow_ms: None };
            let later = Step::Forward(Duration::from_secs(later_s));
            [ask(slot, false), Step::Admit, answer, later, ask(twin, true)].map(|step| (step, None)).to_vec()
        },
    )
}

fn death() -> impl Strategy<Value = Death> {
    let die = prop_oneof![Just(Die::Before), Just(Die::After)];
    let call = prop_oneof![3 => 0_u32..4, 1 => 4_u32..24];
    prop_oneof![4 => Just(None), 1 => (call, die).prop_map(Some)]
}

/// One step, on so many slots, with the kinds of steps weighted as listed below.
fn step(slots: Slot, weights: [u32; 16]) -> impl Strategy<Value = Step> {
    let slot = || 0..slots;
    let lag = || prop_oneof![2 => Just(None), 1 => (1_u64..4_500).prop_map(Some)];
    let withdraw = (slot(), lag()).prop_map(|(slot, slow_ms)| Step::Withdraw { slot, slow_ms });
    let seconds = prop_oneof![2 => 0_u64..20, 1 => 0_u64..120, 1 => 0_u64..7_200];
    let edge = prop_oneof![Just(Edge::DecideBy), Just(Edge::AskerDeadline), Just(Edge::ExpiresAt)];
    let approach =
        (slot(), edge, -4_500_i64..4_500).prop_map(|(slot, edge, by)| Step::Approach(slot, edge, by));
    let read = prop_oneof![3 => slot().prop_map(Step::Poll), 1 => slot().prop_map(Step::View)];
    let kinds = [
        ask(slots).boxed(),
        Just(Step::Admit).boxed(),
        read.boxed(),
        respond(slots, lag()).boxed(),
        slot().prop_map(Step::Look).boxed(),
        withdraw.boxed(),
        Just(Step::Archive).boxed(),
        Just(Step::Resume).boxed(),
        Just(Step::Sweep).boxed(),
        Just(Step::Drain).boxed(),
        Just(Step::LoseTriggers).boxed(),
        seconds.prop_map(|s| Step::Forward(Duration::from_secs(s))).boxed(),
        approach.boxed(),
        (1_u64..600_000).prop_map(|ms| Step::Back(Duration::from_millis(ms))).boxed(),
        Just(Step::Unmute).boxed(),
        any::<bool>().prop_map(Step::Join).boxed(),
    ];
    let weighted = weights.into_iter().zip(kinds).filter(|(weight, _)| *weight > 0);
    proptest::strategy::Union::new_weighted(weighted.collect())
}

fn ask(slots: Slot) -> impl Strategy<Value = Step> {
    let wait_s =
        prop_oneof![1 => Just(None), 2 => (3_u64..120).prop_map(Some), 1 => (60_u64..3_000).prop_map(Some)];
    let body = prop_oneof![8 => Just(0_u8), 1 => Just(1)];
    (0..slots, body, wait_s, stale()).prop_map(|(slot, body, wait_s, stale)| Step::Ask {
        slot,
        body,
        wait_s,
        stale,
    })
}

fn respond(slots: Slot, slow: impl Strategy<Value = Option<u64>>) -> impl Strategy<Value = Step> {
    (0..slots, press(), stale(), slow).prop_map(|(slot, press, stale, slow_ms)| Step::Respond {
        slot,
        press,
        stale,
        slow_ms,
    })
}

fn stale() -> impl Strategy<Value = bool> {
    prop_oneof![2 => Just(false), 1 => Just(true)]
}

fn press() -> impl Strategy<Value = Press> {
    prop_oneof![
        Just(Press::AcceptTrue),
        Just(Press::AcceptFalse),
        Just(Press::AcceptBare),
        Just(Press::AcceptBad),
        Just(Press::Decline),
        Just(Press::Cancel)
    ]
}
