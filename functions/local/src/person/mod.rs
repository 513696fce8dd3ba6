//! Answering from a terminal: the inbox and its questions, for people who live in a shell. It is the same sign-in and the
//! same pages as in a browser, read as JSON.

mod args;
mod asking;
mod shown;
mod visit;

use std::process::ExitCode;
use std::time::Duration;

use countersign_core::schema::Schema;
use countersign_core::violation::Violation;
use serde_json::Value;

pub(crate) use args::{DecideArgs, InboxArgs, SignInArgs};
use asking::{Pair, is_somebody_there, line};
use visit::{Visit, VisitError};

use crate::banner::say;

/// Between two looks at the inbox, and at most after looks that failed.
const WATCH: Duration = Duration::from_secs(5);
const WATCH_AT_MOST: Duration = Duration::from_mins(1);
/// A form is given back so often before a person is told to start again.
const ROUNDS: usize = 10;

fn ended(outcome: Result<(), VisitError>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("countersign: {error}");
            error.exit_code()
        }
    }
}

/// `countersign signin`
pub(crate) async fn sign_in(args: SignInArgs) -> ExitCode {
    let outcome = async {
        let mut visit = Visit::to(&args.place)?;
        if args.out {
            // Gone from here even where the server cannot be told.
            let told = visit.post("/signout", &[]).await;
            visit.forget()?;
            return match told {
                Ok(_) | Err(VisitError::NotSignedIn) => {
                    say("You are signed out.");
                    Ok(())
                }
                Err(error) => Err(error),
            };
        }
        by_code(&mut visit, args.email, !args.once).await?;
        say(&format!("You are signed in to {}.", visit.tenant()));
        Ok(())
    };
    ended(outcome.await)
}

async fn by_code(visit: &mut Visit, email: Option<String>, remember: bool) -> Result<(), VisitError> {
    let email = email.map_or_else(|| line(&format!("Your mail address at {}: ", visit.tenant())), Ok)?;
    let path = format!("/signin/{}", visit.tenant());
    let asked = visit.post(&path, &[pair("email", email)]).await?;
    let attempt = asked["attempt"].as_str().unwrap_or_default().to_owned();
    eprintln!("If that is an approver's address, a code is on its way there. It works for 10 minutes.");
    if visit.is_here() {
        eprintln!(
            "A server on this machine without a mail server puts its mails into the outbox of its data folder."
        );
    }
    loop {
        let code = line("The six digits: ")?;
        let mut form = vec![pair("attempt", attempt.clone()), pair("code", code)];
        form.extend(remember.then(|| pair("remember", "30d")));
        match visit.post(&format!("{path}/code"), &form).await {
            Err(error) if error.code() == "wrong_code" => eprintln!("{error}"),
            other => return other.map(drop),
        }
    }
}

fn pair(name: &str, value: impl Into<String>) -> Pair {
    (name.to_owned(), value.into())
}

/// Reads a page; a remembered terminal signs in again by itself, and a person who is there is asked to.
async fn read(visit: &mut Visit, path: &str) -> Result<Value, VisitError> {
    match visit.get(path).await {
        Err(VisitError::NotSignedIn) => {}
        other => return other,
    }
    let device = format!("/signin/{}/device", visit.tenant());
    let again =
        if visit.is_remembered() { visit.post(&device, &[]).await } else { Err(VisitError::NotSignedIn) };
    match again {
        Err(VisitError::NotSignedIn) if is_somebody_there() => by_code(visit, None, true).await?,
        other => drop(other?),
    }
    visit.get(path).await
}

/// `countersign inbox`
pub(crate) async fn inbox(args: InboxArgs) -> ExitCode {
    let outcome = async {
        let mut visit = Visit::to(&args.place)?;
        let mut answer = read(&mut visit, "/inbox").await?;
        if args.json {
            say(&format!("{answer:#}"));
            return Ok(());
        }
        say(&shown::inbox(&answer));
        if !args.watch {
            return Ok(());
        }
        let mut pause = WATCH;
        loop {
            drop(tokio::time::timeout(pause, std::future::pending::<()>()).await);
            match look_again(&mut visit, &answer).await {
                Ok(next) => {
                    answer = next;
                    pause = WATCH;
                }
                Err(error @ VisitError::Unreachable { .. }) => {
                    pause = (pause * 2).min(WATCH_AT_MOST);
                    eprintln!("{error} Trying again in {} s.", pause.as_secs());
                }
                Err(error) => return Err(error),
            }
        }
    };
    ended(outcome.await)
}

/// Says what has come and what was settled since `before`.
async fn look_again(visit: &mut Visit, before: &Value) -> Result<Value, VisitError> {
    let references = |answer: &Value| -> Vec<String> {
        let open = answer["open"].as_array().into_iter().flatten();
        open.filter_map(|one| one["reference"].as_str().map(str::to_owned)).collect()
    };
    let known = references(before);
    let now = read(visit, &format!("/inbox?shown={}", known.join(","))).await?;
    for one in now["shown"].as_array().into_iter().flatten() {
        if let (Some(reference), Some(settled)) = (one["reference"].as_str(), one["settled"].as_str()) {
            say(&format!("{}  {}", shown::plain(reference), shown::plain(settled)));
        }
    }
    for one in now["open"].as_array().into_iter().flatten() {
        if known.iter().all(|other| one["reference"] != *other) {
            say(&shown::row(one).join("\n"));
        }
    }
    Ok(now)
}

/// `countersign decide`
pub(crate) async fn decide(args: DecideArgs) -> ExitCode {
    ended(answer(&args).await)
}

async fn answer(args: &DecideArgs) -> Result<(), VisitError> {
    let reference = args.reference.trim();
    if reference.is_empty() || !reference.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)) {
        return Err(VisitError::Usage(format!("{reference:?} is no reference; they look like K7Q-4MD")));
    }
    let mut visit = Visit::to(&args.place)?;
    let path = format!("/d/{}/{reference}", visit.tenant());
    let mut question = read(&mut visit, &path).await?;
    say(&shown::question(&question));
    if question["csrf"].is_null() {
        let nothing = || VisitError::Ended("nothing of yours was recorded: it had ended before".to_owned());
        return if args.verdict().is_some() { Err(nothing()) } else { Ok(()) };
    }
    let there = is_somebody_there();
    let schema = Schema::parse(&question["requested_schema"]);
    let schema =
        schema.map_err(|error| VisitError::Usage(format!("this form cannot be shown here: {error}")))?;
    let given = args.verdict();
    if given.is_none() && !there {
        return Err(VisitError::Usage("give --approve, --decline or --dismiss".to_owned()));
    }
    let Some(verdict) = given.map_or_else(chosen, |verdict| Ok(Some(verdict)))? else {
        say("Left open. Nothing was decided.");
        return Ok(());
    };
    if verdict == "accept" && question["assurance"] == "passkey" {
        let link = shown::plain(question["link"].as_str().unwrap_or_default());
        return Err(VisitError::Usage(format!(
            "approving this takes a passkey; open it in a browser: {link}"
        )));
    }
    let mut form: Vec<Pair> =
        args.set.iter().map(|(name, value)| pair(&format!("f.{name}"), value.clone())).collect();
    if verdict == "accept" && there {
        form = asking::fill(&schema, form, |field| args.set.iter().all(|(name, _)| *name != field.name))?;
    }
    let mut code = args.code.as_ref().map(|code| vec![pair("match_code", code.clone())]).unwrap_or_default();
    for _ in 0..ROUNDS {
        if verdict == "accept" && there && code.is_empty() && question["assurance"] == "code" {
            code = match_code(&mut visit, &path, &question).await?;
        }
        let own = [pair("csrf", question["csrf"].as_str().unwrap_or_default()), pair("action", verdict)];
        let reason = args.reason.iter().map(|reason| pair("reason", reason.clone()));
        let all: Vec<Pair> = own.into_iter().chain(reason).chain(code.clone()).chain(form.clone()).collect();
        let error = match visit.post(&path, &all).await {
            Ok(settled) => {
                say(&format!("\n{}", settled["settled"].as_str().map_or_else(String::new, shown::plain)));
                return Ok(());
            }
            Err(error) => error,
        };
        match error.code() {
            "invalid_content" => {
                let wrong = violations(&error);
                eprintln!(
                    "\nNothing was sent. These answers do not fit:\n{}",
                    asking::faults(&schema, &wrong)
                );
                if !there {
                    return Err(error);
                }
                let named = |name: &str| wrong.iter().any(|one| one.pointer.ends_with(&format!("/{name}")));
                form = asking::fill(&schema, form, |field| named(&field.name))?;
            }
            "wrong_code" if there => {
                eprintln!("{error}");
                code.clear();
            }
            "assurance_too_low" if there => {
                eprintln!("{error}");
                by_code(&mut visit, None, true).await?;
                question = read(&mut visit, &path).await?;
            }
            "stale_form" => question = read(&mut visit, &path).await?,
            _ => return Err(error),
        }
    }
    Err(VisitError::Usage("nothing was decided; start again".to_owned()))
}

fn violations(error: &VisitError) -> Vec<Violation> {
    let VisitError::Refused(problem) = error else { return vec![] };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let one =
        |fault: &Value| Violation { pointer: text(&fault["pointer"]), message: text(&fault["message"]) };
    problem["errors"].as_array().into_iter().flatten().map(one).collect()
}

fn chosen() -> Result<Option<&'static str>, VisitError> {
    loop {
        let typed = line("\na approve, d decline, x dismiss, Enter leaves it open: ")?;
        match typed.to_lowercase().as_str() {
            "a" | "approve" => return Ok(Some("accept")),
            "d" | "decline" => return Ok(Some("decline")),
            "x" | "dismiss" => return Ok(Some("cancel")),
            "" => return Ok(None),
            _ => {}
        }
    }
}

/// The two digits of the asking side, or those of a mail.
async fn match_code(visit: &mut Visit, path: &str, question: &Value) -> Result<Vec<Pair>, VisitError> {
    let typed = line("\nThe two digits that the asking side shows, or m for a code by mail: ")?;
    if typed != "m" {
        return Ok(vec![pair("match_code", typed)]);
    }
    let csrf = question["csrf"].as_str().unwrap_or_default();
    let asked = visit.post(path, &[pair("csrf", csrf), pair("action", "mail")]).await?;
    let attempt = asked["attempt"].as_str().unwrap_or_default();
    let digits = line("A code is on its way to your mail address. The six digits: ")?;
    Ok(vec![pair("attempt", attempt), pair("match_code", digits)])
}
