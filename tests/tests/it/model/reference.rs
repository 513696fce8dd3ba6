//! What ought to be: one session and its questions, in the fewest words that say it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use countersign_core::deadline::Deadlines;
use countersign_core::limits::{MAX_OPEN_PER_SESSION, PLAN_BACKSTOP};
use countersign_core::state::{Answer, State, Verdict};
use countersign_core::time::Timestamp;

/// One of the few request-ids of a case.
pub(super) type Slot = u8;

/// How a question ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Ending {
    Accept(Answer),
    Decline,
    Cancel,
    Withdrawn,
    Expired,
}

impl Ending {
    /// The ending that a state is, if it is one.
    pub(super) fn of(state: &State) -> Option<Self> {
        Some(match state {
            State::Pending => return None,
            State::Withdrawn { .. } => Self::Withdrawn,
            State::Expired(_) => Self::Expired,
            State::Decided(decision) => match &decision.verdict {
                Verdict::Accept(answer) => Self::Accept(answer.clone()),
                Verdict::Decline => Self::Decline,
                Verdict::Cancel => Self::Cancel,
            },
        })
    }
}

/// What is stored of a question's end.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fact {
    Pending,
    /// Its asker was told that it has expired; that is not stored yet, and cannot be taken back.
    Told,
    Ended(Ending),
}

/// A question.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Question {
    pub(super) body: u8,
    pub(super) created_at: Timestamp,
    pub(super) deadlines: Deadlines,
    pub(super) fact: Fact,
    /// Its session lists it as open.
    pub(super) listed: bool,
    pub(super) planned: bool,
}

impl Question {
    /// How it has ended, as everybody is told at `now`.
    pub(super) fn seen_at(&self, now: Timestamp) -> Option<Ending> {
        match &self.fact {
            Fact::Ended(ending) => Some(ending.clone()),
            Fact::Told => Some(Ending::Expired),
            Fact::Pending => (now >= self.deadlines.expires_at).then_some(Ending::Expired),
        }
    }

    /// What a decision at `now` meets, where it does not meet an open question.
    fn refuses(&self, verdict: Option<&Ending>, now: Timestamp) -> Option<Reply> {
        match self.seen_at(now) {
            None => (now >= self.deadlines.decide_by).then_some(Reply::TooLate),
            Some(Ending::Expired) => Some(Reply::TooLate),
            Some(ending) if verdict == Some(&ending) => Some(Reply::Ended(ending)),
            Some(_) => Some(Reply::Settled),
        }
    }
}

/// What a caller is told.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reply {
    Asked,
    Reused,
    Full,
    Archived,
    Unknown,
    Pending,
    Ended(Ending),
    Settled,
    TooLate,
    Invalid,
    Muted,
    NotEligible,
    Done,
}

/// All that there is.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct World {
    pub(super) questions: BTreeMap<Slot, Question>,
    pub(super) archived: bool,
    pub(super) lost: Option<Slot>,
    pub(super) said_no: SaidNo,
    /// Whether the person who answers the odd slots is of those who may.
    pub(super) is_member: bool,
}

/// What a person is shown, as a number: some slots show the same.
pub(super) type Shown = u8;

/// What is shown for a body in a slot.
pub(super) fn shown(slot: Slot, body: u8) -> Shown {
    slot / 2 * 2 + body
}

/// Who decides a slot's question: a person, or a program.
pub(super) fn by_person(slot: Slot) -> bool {
    !slot.is_multiple_of(2)
}

/// What people have said no to.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct SaidNo {
    pub(super) in_a_row: u32,
    pub(super) last_at: Option<Timestamp>,
    /// How often, and when last.
    pub(super) to: BTreeMap<Shown, (u32, Timestamp)>,
}

impl SaidNo {
    const HALF_AN_HOUR: Duration = Duration::from_mins(30);

    fn mutes(&self, shown: Shown, now: Timestamp) -> bool {
        let session = self.in_a_row >= 3 && self.last_at.is_some_and(|at| now < at.plus(Self::HALF_AN_HOUR));
        let content = self.to.get(&shown).is_some_and(|(count, at)| {
            let wait = match count {
                1 => Duration::from_mins(1),
                2 => Duration::from_mins(5),
                _ => Self::HALF_AN_HOUR,
            };
            now < at.plus(wait)
        });
        session || content
    }

    /// A question is asked: a mute that ran out is over, and what is a day old is forgotten.
    fn asked(&mut self, now: Timestamp) {
        if self.in_a_row >= 3 && self.last_at.is_some_and(|at| now >= at.plus(Self::HALF_AN_HOUR)) {
            self.in_a_row = 0;
        }
        self.to.retain(|_, (_, at)| now.since(*at) < Duration::from_hours(24));
    }

    fn answered(&mut self, shown: Shown, verdict: &Ending, now: Timestamp) {
        match verdict {
            Ending::Decline => {
                self.in_a_row += 1;
                self.last_at = Some(now);
                let (count, at) = self.to.entry(shown).or_insert((0, now));
                (*count, *at) = (*count + 1, now);
            }
            Ending::Accept(_) => {
                (self.in_a_row, self.last_at) = (0, None);
                self.to.remove(&shown);
            }
            Ending::Cancel | Ending::Withdrawn | Ending::Expired => {}
        }
    }
}

impl World {
    /// Open entries that count against the limit.
    pub(super) fn waiting(&self, now: Timestamp) -> usize {
        self.questions.values().filter(|one| one.listed && now < one.deadlines.expires_at).count()
    }

    /// `admitted` is the world as the asker was let in.
    pub(super) fn ask(
        &mut self,
        (slot, body, by_token): (Slot, u8, bool),
        deadlines: Deadlines,
        admitted: &Self,
        now: Timestamp,
    ) -> Reply {
        if by_token && admitted.archived {
            return Reply::Archived;
        }
        if let Some(found) = self.questions.get(&slot) {
            return if found.body == body { Reply::Asked } else { Reply::Reused };
        }
        // What the asker was let in on is looked at first; the write looks at what is there.
        for world in [admitted, &*self] {
            if world.archived {
                return Reply::Archived;
            }
            if world.said_no.mutes(shown(slot, body), now) {
                return Reply::Muted;
            }
            if world.waiting(now) >= MAX_OPEN_PER_SESSION {
                return Reply::Full;
            }
        }
        let new =
            Question { body, created_at: now, deadlines, fact: Fact::Pending, listed: true, planned: false };
        self.questions.insert(slot, new);
        self.said_no.asked(now);
        self.lost = None;
        Reply::Asked
    }

    /// `known` is the question as the person saw it, `was_member` whether they could answer then, `written` when the write reached the table.
    pub(super) fn respond(
        &mut self,
        slot: Slot,
        verdict: Option<Ending>,
        (known, was_member): (Option<&Question>, bool),
        (now, written): (Timestamp, Timestamp),
    ) -> Reply {
        let Some(known) = known else { return Reply::Unknown };
        if by_person(slot) && !was_member {
            return Reply::NotEligible;
        }
        if let Some(refusal) = known.refuses(verdict.as_ref(), now) {
            return refusal;
        }
        let Some(verdict) = verdict else { return Reply::Invalid };
        let Some(current) = self.questions.get_mut(&slot) else { return Reply::Unknown };
        if current.fact != Fact::Pending || written >= current.deadlines.decide_by {
            return current.refuses(Some(&verdict), written).unwrap_or(Reply::TooLate);
        }
        if by_person(slot) && !self.is_member {
            return Reply::NotEligible;
        }
        current.fact = Fact::Ended(verdict.clone());
        current.listed = false;
        self.said_no.answered(shown(slot, current.body), &verdict, now);
        self.lost = None;
        Reply::Ended(verdict)
    }

    pub(super) fn withdraw(&mut self, slot: Slot, written: Timestamp) -> Reply {
        let Some(found) = self.questions.get_mut(&slot) else { return Reply::Unknown };
        match found.seen_at(written) {
            None => {
                found.fact = Fact::Ended(Ending::Withdrawn);
                found.listed = false;
                Reply::Ended(Ending::Withdrawn)
            }
            Some(Ending::Withdrawn) => Reply::Ended(Ending::Withdrawn),
            Some(Ending::Expired) => Reply::TooLate,
            Some(_) => Reply::Settled,
        }
    }

    pub(super) fn read(&mut self, slot: Slot, now: Timestamp) -> Reply {
        let Some(found) = self.questions.get_mut(&slot) else { return Reply::Unknown };
        let Some(ending) = found.seen_at(now) else { return Reply::Pending };
        if found.fact == Fact::Pending {
            found.fact = Fact::Told;
        }
        Reply::Ended(ending)
    }

    /// The questions of `triggers` are planned.
    pub(super) fn drain(&mut self, triggers: &BTreeSet<Slot>, now: Timestamp) {
        let mine = self.questions.iter_mut().filter(|(slot, _)| triggers.contains(slot));
        mine.filter(|(_, one)| one.seen_at(now).is_none()).for_each(|(_, one)| one.planned = true);
    }

    /// Which questions the session may have lost by it: the last that expired, if none is left that waits.
    pub(super) fn sweep(&mut self, now: Timestamp) -> BTreeSet<Slot> {
        let mut expired = BTreeSet::new();
        for (slot, one) in &mut self.questions {
            let ended = matches!(one.fact, Fact::Ended(_));
            if !ended && now >= one.deadlines.expires_at {
                one.fact = Fact::Ended(Ending::Expired);
                one.listed = false;
                expired.insert(*slot);
            } else if one.fact == Fact::Pending && now >= one.created_at.plus(PLAN_BACKSTOP) {
                one.planned = true;
            }
        }
        if self.archived || self.waiting(now) > 0 { BTreeSet::new() } else { expired }
    }

    pub(super) fn archive(&mut self, now: Timestamp) {
        (self.archived, self.lost) = (true, None);
        for one in self.questions.values_mut().filter(|one| one.listed && one.seen_at(now).is_none()) {
            one.fact = Fact::Ended(Ending::Withdrawn);
            one.listed = false;
        }
    }

    pub(super) fn unmute(&mut self) {
        self.said_no = SaidNo::default();
    }

    pub(super) fn resume(&mut self, now: Timestamp) -> Reply {
        if self.archived {
            return Reply::Archived;
        }
        self.lost = None;
        self.questions
            .values_mut()
            .filter(|one| now >= one.deadlines.expires_at)
            .for_each(|one| one.listed = false);
        Reply::Done
    }

    /// When the last question will be over.
    pub(super) fn end(&self) -> Option<Timestamp> {
        self.questions.values().map(|one| one.deadlines.expires_at.plus(Duration::from_secs(1))).max()
    }
}
