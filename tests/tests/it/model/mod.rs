//! Random steps against a small model, from a crash at any store call to a clock that goes back.
//!
//! `PROPTEST_CASES` and `PROPTEST_RNG_SEED` make a longer or another run of it.

mod acts;
mod case;
mod people;
mod reference;
mod steps;

use std::sync::Arc;
use std::time::Duration;

use countersign_embedded::engine::{Engine, TABLE};
use countersign_store::dynamo::DynamoTable;
use countersign_store::table::Table;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};
use tokio::runtime::Builder;

use self::case::Case;
use self::reference::Slot;
use self::steps::{Death, SLOTS, Step};
use crate::memory::{MemoryTable, Twins};

/// Cases of an ordinary run.
const CASES: u32 = 1_600;
/// Cases of an ordinary run on the engine, where each takes fifty times as long.
const TWIN_CASES: u32 = 24;
/// Shorter cases that are tried once one has failed.
const SHRINKS: u32 = 4_000;
/// What `Config::default` says where nobody set `PROPTEST_CASES`.
const UNASKED_CASES: u32 = 256;
/// What an ordinary run begins with: the same cases each time.
const SEED: u64 = 20_261_130;

/// Which cases to run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    /// How many.
    pub(crate) cases: u32,
    /// Where they begin: the same seed makes the same cases.
    pub(crate) seed: u64,
    /// How many shorter cases are tried once one has failed.
    pub(crate) shrinks: u32,
}

#[test]
fn no_sequence_of_steps_and_crashes_breaks_a_promise() {
    std::thread::scope(|scope| {
        let halves = [SEED, SEED + 1].map(|seed| {
            scope.spawn(move || run(Run { cases: CASES / 2, seed, shrinks: SHRINKS }, |table| table))
        });
        for half in halves {
            if let Err(failure) = half.join().expect("no panic") {
                panic!("{failure}");
            }
        }
    });
}

/// The table in memory is only as good as its likeness to the engine.
#[test]
fn a_table_in_memory_answers_each_call_as_the_engine_does() {
    let twins = async || {
        let engine = Engine::memory().await.expect("an engine in memory");
        let first = Arc::new(DynamoTable::new(engine.client(), TABLE));
        let twins: Arc<dyn Table> =
            Arc::new(Twins { first, second: Arc::new(MemoryTable::default()), turn: Arc::default(), engine });
        twins
    };
    if let Err(failure) = run_on(Run { cases: TWIN_CASES, seed: SEED + 2, shrinks: SHRINKS / 20 }, twins) {
        panic!("{failure}");
    }
}

/// Runs cases on tables in memory, each with something of the caller's around it. An error says why one failed, and
/// the shortest steps that still fail.
pub(crate) fn run(run: Run, wrap: impl Fn(Arc<dyn Table>) -> Arc<dyn Table>) -> Result<(), String> {
    run_on(run, async || wrap(Arc::new(MemoryTable::default())))
}

/// The same, each case on a table of its own.
fn run_on(run: Run, table: impl AsyncFn() -> Arc<dyn Table>) -> Result<(), String> {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let outcome = TestRunner::new(config(run)).run(&steps::steps(), |steps| {
        runtime.block_on(async {
            let mut case = Case::start(table().await).await;
            play(&mut case, &steps).await
        })
    });
    outcome.map_err(|failure| failure.to_string())
}

fn config(run: Run) -> Config {
    let asked = Config::default();
    let cases = if asked.cases == UNASKED_CASES { run.cases } else { asked.cases };
    let seed = match asked.rng_seed {
        RngSeed::Random => run.seed,
        RngSeed::Fixed(other) => run.seed.wrapping_add(other),
    };
    Config {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: run.shrinks,
        ..asked
    }
}

/// All steps of a case, and then all that must come of it.
async fn play(case: &mut Case, steps: &[(Step, Death)]) -> Result<(), TestCaseError> {
    for (step, death) in steps {
        case.step(step, *death).await?;
    }
    // Every lease and every plan comes due: whoever still waits has been told of.
    let behind = case.latest.since(case.test.now());
    case.forward(behind + Duration::from_mins(2)).await?;
    case.sweep(None).await?;
    case.check_nobody_forgotten()?;
    let rest = case.world.end().map_or(Duration::ZERO, |end| end.since(case.test.now()));
    case.forward(rest).await?;
    read_all(case).await?;
    case.step(&Step::Back(Duration::from_mins(10)), None).await?;
    read_all(case).await?;
    case.sweep(None).await?;
    case.forward(Duration::from_mins(10)).await?;
    case.sweep(None).await?;
    for slot in 0..SLOTS {
        let again = Step::Ask { slot, body: 0, wait_s: None, stale: false };
        if case.world.questions.contains_key(&slot) {
            case.step(&again, None).await?;
        }
    }
    read_all(case).await?;
    // What ended in that sweep is due once more, for whoever is to be told.
    case.forward(Duration::from_mins(1)).await?;
    case.sweep(None).await?;
    case.check_end().await
}

async fn read_all(case: &mut Case) -> Result<(), TestCaseError> {
    let asked: Vec<Slot> = case.world.questions.keys().copied().collect();
    for slot in asked {
        case.step(&Step::Poll(slot), None).await?;
    }
    Ok(())
}
