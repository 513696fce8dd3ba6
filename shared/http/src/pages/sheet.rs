//! The asking side's sheet of paper: what is asked, in whose words, and who asks.

use countersign_app::humans::Visitor;
use countersign_core::ask::{Content, Detail, Origin};
use countersign_core::elicitation::{Elicitation, Tier};
use countersign_core::session::Session;
use countersign_core::time::Timestamp;

use super::shown::Foreign;
use super::when::{Instant, span};
use super::words::{Words, put};

/// Values that stand in the open; the rest is folded, with its count.
const OPEN_VALUES: usize = 12;

/// A labelled value that is not ours.
#[derive(Debug, Clone)]
pub(crate) struct Fact {
    pub(crate) label: Foreign,
    pub(crate) value: Foreign,
}

/// A line of ours about the asking side; the value may be in its words.
#[derive(Debug, Clone)]
pub(crate) enum Row {
    /// All ours.
    Ours(&'static str, String),
    /// Our label, their words.
    Theirs(&'static str, Foreign),
    /// Our label, a time, and something about it.
    Time(&'static str, Instant, String),
}

/// The sheet.
#[derive(Debug, Clone)]
pub(crate) struct Sheet {
    /// Who asks, in their own words.
    pub(crate) from: Vec<(&'static str, Foreign)>,
    /// The title, if they sent one.
    pub(crate) title: Option<Foreign>,
    /// What kind of act it is, and whether that is no cause for alarm.
    pub(crate) flag: (String, bool),
    /// What happens on a yes.
    pub(crate) lead: Option<Foreign>,
    /// What to look out for.
    pub(crate) warnings: Vec<Foreign>,
    /// What the tool server states.
    pub(crate) stated: Vec<Fact>,
    /// What the agent supplied.
    pub(crate) given: Vec<Fact>,
    /// The rest of it, under its count.
    pub(crate) given_more: Option<(String, Vec<Fact>)>,
    /// The arguments were not shown to us.
    pub(crate) args_unseen: bool,
    /// The thing itself.
    pub(crate) preview: Option<Foreign>,
    /// The asking side's own words.
    pub(crate) message: Option<Foreign>,
    /// Background.
    pub(crate) context: Option<Foreign>,
    /// Who is asking.
    pub(crate) who: Vec<Row>,
    /// Fingerprints.
    pub(crate) prints: Vec<(&'static str, String)>,
}

impl Sheet {
    /// The sheet of a question.
    pub(crate) fn of(
        visitor: &Visitor,
        session: Option<&Session>,
        (question, content): (&Elicitation, &Content),
        w: &'static Words,
        now: Timestamp,
    ) -> Self {
        let theirs = |label, text: &Option<String>| text.as_deref().map(|text| (label, Foreign::line(text)));
        let from = [theirs(w.request_from, &question.server), theirs(w.tool, &question.tool)];
        let mut given: Vec<Fact> = facts(content, Origin::Caller, w);
        given.extend(arguments(content, w));
        let more = given.split_off(given.len().min(OPEN_VALUES));
        let given_more = (!more.is_empty()).then(|| (put(w.more_values, &[&more.len().to_string()]), more));
        let binding = content.binding.as_ref();
        Self {
            from: from.into_iter().flatten().collect(),
            title: question.title.as_deref().map(Foreign::line),
            flag: flag(question.tier, content.irreversible, &visitor.tenant.name, w),
            lead: content.consequence.as_deref().map(Foreign::line),
            warnings: content.warnings.iter().map(|text| Foreign::line(text)).collect(),
            stated: facts(content, Origin::Server, w),
            given,
            given_more,
            args_unseen: binding.is_some_and(|one| one.args.is_none() && one.args_sha256.is_some()),
            preview: content.preview.as_deref().map(|text| Foreign::block(text, w)),
            message: (!content.message.trim().is_empty()).then(|| Foreign::block(&content.message, w)),
            context: content.context.as_deref().map(|text| Foreign::block(text, w)),
            who: who(visitor, session, question, w, now),
            prints: prints(question, content, w),
        }
    }

    /// The title as plain text, for the window.
    pub(crate) fn plain_title(question: &Elicitation, w: &Words) -> String {
        question.title.as_deref().map_or_else(|| w.untitled.to_owned(), Foreign::plain)
    }
}

/// What kind of act it is. Only what is final is alarming.
pub(crate) fn flag(tier: Tier, irreversible: bool, tenant: &str, w: &Words) -> (String, bool) {
    match tier {
        Tier::External if irreversible => (put(w.leaves_for_good, &[&Foreign::plain(tenant)]), false),
        Tier::External => (put(w.leaves, &[&Foreign::plain(tenant)]), false),
        Tier::Commit => (w.cannot_be_undone.to_owned(), false),
        Tier::Read | Tier::Write if irreversible => (w.cannot_be_undone.to_owned(), false),
        Tier::Write => (w.changes_data.to_owned(), true),
        Tier::Read => (w.reads_only.to_owned(), true),
    }
}

fn facts(content: &Content, origin: Origin, w: &Words) -> Vec<Fact> {
    let of = content.details.iter().filter(|one| one.origin == origin);
    of.map(|Detail { label, value, .. }| Fact {
        label: Foreign::line(label),
        value: Foreign::block(value, w),
    })
    .collect()
}

/// The arguments that an approval is bound to, which we hash: they are shown in full.
fn arguments(content: &Content, w: &Words) -> Option<Fact> {
    let args = content.binding.as_ref()?.args.as_ref()?;
    let text = serde_json::to_string_pretty(args).unwrap_or_else(|_| args.to_string());
    Some(Fact { label: Foreign::line(w.arguments), value: Foreign::block(&text, w) })
}

fn who(
    visitor: &Visitor,
    session: Option<&Session>,
    question: &Elicitation,
    w: &'static Words,
    now: Timestamp,
) -> Vec<Row> {
    let mut rows = vec![Row::Ours(w.on_behalf_of, Foreign::plain(&visitor.tenant.name))];
    if let Some(session) = session {
        let name = session.title.as_deref().unwrap_or(session.name.as_str());
        rows.push(Row::Theirs(w.agent_session, Foreign::line(name)));
    }
    let age = put(w.ago, &[&span(now.since(question.created_at))]);
    rows.push(Row::Time(w.asked, Instant::of(question.created_at, now), age));
    rows.push(Row::Ours(w.last_seen, last_seen(question, w, now)));
    rows
}

fn last_seen(question: &Elicitation, w: &Words, now: Timestamp) -> String {
    let Some(at) = question.asker.last_polled_at else {
        let told = if question.asker.has_callback { w.told_by_webhook } else { w.not_seen_yet };
        return told.to_owned();
    };
    let sentence = if question.asker_gone(now) { w.stopped_waiting } else { w.still_waiting };
    put(sentence, &[&span(now.since(at))])
}

fn prints(question: &Elicitation, content: &Content, w: &'static Words) -> Vec<(&'static str, String)> {
    let binding = content.binding.as_ref();
    let mut prints = vec![(w.shown_sha256, question.shown_sha256)];
    prints.extend(binding.and_then(|one| one.args_sha256).map(|hash| (w.args_sha256, hash)));
    prints.extend(binding.and_then(|one| one.preview_sha256).map(|hash| (w.preview_sha256, hash)));
    prints.into_iter().map(|(name, hash)| (name, spaced(&hash.hex()))).collect()
}

/// A hash in groups of eight.
fn spaced(hex: &str) -> String {
    let groups: Vec<_> = hex.as_bytes().chunks(8).map(String::from_utf8_lossy).collect();
    groups.join(" ")
}
