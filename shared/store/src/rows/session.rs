//! The session row: the block marker is its map of open questions, id to deadline.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use countersign_app::ports::StoreError;
use countersign_core::declines::{Declined, Declines};
use countersign_core::id::Principal;
use countersign_core::json::Sha256;
use countersign_core::session::{LostElicitation, LostReason, OpenQuestion, Session, TokenFacts};

use super::attributes::{Builder, PEOPLE, Reader, number, people, text, time};
use super::elicitation::entries_value;
use crate::keys::Keys;
use crate::table::Item;

/// The item of a session.
pub(crate) fn session_item(keys: &Keys, session: &Session) -> Item {
    let open = session.open.iter().map(|one| (one.elicitation.to_string(), time(one.expires_at)));
    let tokens = session.tokens.iter().map(|one| (one.id.to_string(), token_map(one)));
    let declines = &session.declines;
    let counts = declines.contents.iter().map(|one| (one.shown.hex(), number(one.count)));
    let times = declines.contents.iter().map(|one| (one.shown.hex(), time(one.at)));
    Builder::new(&keys.session(session.id))
        .set("id", text(session.id.to_string()))
        .set("name", text(session.name.as_str()))
        .maybe("title", session.title.as_deref().map(text))
        .set("owner", text(session.owner.as_str()))
        .set(PEOPLE, people(&session.people))
        .maybe("surface", session.surface.as_ref().map(|surface| text(surface.to_string())))
        .maybe("default_ttl_ms", session.default_ttl.map(|ttl| number(ttl.as_millis())))
        .maybe("audience", session.audience.as_deref().map(entries_value))
        .set("created_at", time(session.created_at))
        .maybe("archived_at", session.archived_at.map(time))
        .set("open", AttributeValue::M(open.collect()))
        .maybe("lost", session.lost.as_ref().map(lost_map))
        .set("tokens", AttributeValue::M(tokens.collect()))
        .set("declines", number(declines.in_a_row))
        .set("answers", number(declines.answers))
        .maybe("last_declined_at", declines.last_at.map(time))
        .maybe("reported_until", declines.reported_until.map(time))
        .set("declined", AttributeValue::M(counts.collect()))
        .set("declined_at", AttributeValue::M(times.collect()))
        .set("revision", number(session.revision))
        .build()
}

/// An ask token's facts, as an attribute.
pub(crate) fn token_map(token: &TokenFacts) -> AttributeValue {
    let map = Builder::bare()
        .set("created_at", time(token.created_at))
        .set("expires_at", time(token.expires_at))
        .maybe("last_used_at", token.last_used_at.map(time));
    AttributeValue::M(map.build())
}

/// A lost notice, as an attribute.
pub(crate) fn lost_map(lost: &LostElicitation) -> AttributeValue {
    let map = Builder::bare()
        .set("reason", text(lost.reason.word()))
        .set("elicitation", text(lost.elicitation.to_string()))
        .set("at", time(lost.at))
        .set("summary", text(&*lost.summary));
    AttributeValue::M(map.build())
}

/// The session that an item is.
pub(crate) fn read_session(item: &Item) -> Result<Session, StoreError> {
    let row = Reader::new(item, "session");
    let surface = row.maybe_text("surface")?.map(serde_json::from_str).transpose();
    Ok(Session {
        id: row.parsed("id")?,
        name: row.parsed("name")?,
        title: row.maybe_owned("title")?,
        owner: Principal::stored(row.text("owner")?),
        people: row.people()?,
        surface: surface.map_err(|_| row.corrupt("surface"))?,
        default_ttl: row.maybe_millis("default_ttl_ms")?,
        audience: item.get("audience").map(|_| row.words("audience")).transpose()?,
        created_at: row.time("created_at")?,
        archived_at: row.maybe_time("archived_at")?,
        open: read_open(&row)?,
        lost: row.maybe_map("lost")?.map(read_lost).transpose()?,
        tokens: read_tokens(&row)?,
        declines: read_declines(&row)?,
        revision: row.number("revision")?,
    })
}

fn read_open(row: &Reader<'_>) -> Result<Vec<OpenQuestion>, StoreError> {
    let map = row.map("open")?;
    let deadlines = Reader::new(map, "session.open");
    let entry = |id: &String| {
        let elicitation = id.parse().map_err(|_| row.corrupt("open"))?;
        Ok(OpenQuestion { elicitation, expires_at: deadlines.time(id)? })
    };
    map.keys().map(entry).collect()
}

/// Count and time of a declined content lie in two maps, so that one expression counts it without a read.
fn read_declines(row: &Reader<'_>) -> Result<Declines, StoreError> {
    let counts = row.map("declined")?;
    let (of_counts, of_times) =
        (Reader::new(counts, "declined"), Reader::new(row.map("declined_at")?, "declined_at"));
    let declined = |hex: &String| {
        let shown = Sha256::from_hex(hex).ok_or_else(|| row.corrupt("declined"))?;
        Ok(Declined { shown, count: of_counts.number(hex)?, at: of_times.time(hex)? })
    };
    Ok(Declines {
        in_a_row: row.number("declines")?,
        reported_until: row.maybe_time("reported_until")?,
        answers: row.number("answers")?,
        last_at: row.maybe_time("last_declined_at")?,
        contents: counts.keys().map(declined).collect::<Result<_, StoreError>>()?,
    })
}

fn read_tokens(row: &Reader<'_>) -> Result<Vec<TokenFacts>, StoreError> {
    let map: &HashMap<_, _> = row.map("tokens")?;
    let tokens = Reader::new(map, "session.tokens");
    let token = |id: &String| {
        let facts = Reader::new(tokens.map(id)?, "session token");
        Ok(TokenFacts {
            id: id.parse().map_err(|_| row.corrupt("tokens"))?,
            created_at: facts.time("created_at")?,
            expires_at: facts.time("expires_at")?,
            last_used_at: facts.maybe_time("last_used_at")?,
        })
    };
    let mut found = map.keys().map(token).collect::<Result<Vec<_>, StoreError>>()?;
    found.sort_by_key(|one| (one.created_at, one.id));
    Ok(found)
}

fn read_lost(map: &Item) -> Result<LostElicitation, StoreError> {
    let lost = Reader::new(map, "session.lost");
    Ok(LostElicitation {
        reason: LostReason::from_word(lost.text("reason")?).ok_or_else(|| lost.corrupt("reason"))?,
        elicitation: lost.parsed("elicitation")?,
        at: lost.time("at")?,
        summary: lost.text("summary")?.to_owned(),
    })
}
