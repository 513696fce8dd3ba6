//! Lists of questions, page by page.

use countersign_core::elicitation::Elicitation;
use countersign_core::id::{ElicitationId, SessionId};
use countersign_core::seal::Cursor;
use countersign_core::time::Timestamp;

use crate::App;
use crate::authority::Caller;
use crate::ports::StoreError;
use crate::records::Wanted;

/// Questions of one page where the caller does not say.
pub const PAGE_DEFAULT: usize = 50;
/// Most questions of one page.
pub const PAGE_MAX: usize = 100;
/// Pages of the index that one call reads in search of what the caller may see.
const ROUNDS: u32 = 10;

/// Which questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// Those that are open.
    Pending,
    /// Those of one session, whatever became of them.
    Session(SessionId),
}

/// Why a list is not given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// The cursor is not one of this list's.
    #[error("the cursor is not one of this list's")]
    BadCursor,
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A page of questions.
#[derive(Debug, Clone)]
pub struct Page {
    /// The questions, oldest first.
    pub elicitations: Vec<Elicitation>,
    /// Where the next page starts; `None` at the end.
    pub next: Option<String>,
    /// The present that this holds for.
    pub now: Timestamp,
}

impl App {
    /// The caller's questions: all of the tenant's with the scope `read`, its own with `ask`.
    ///
    /// # Errors
    /// See [`ListError`].
    pub async fn list(
        &self,
        caller: &Caller,
        filter: Filter,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<Page, ListError> {
        let list = format!("{} {} {filter:?}", caller.tenant(), caller.principal().as_str());
        let open = |text| Cursor::open(&list, text, &self.keys).ok_or(ListError::BadCursor);
        let mut after = cursor.map(open).transpose()?;
        let now = self.clock.now();
        let mut seen = Vec::new();
        for _ in 0..ROUNDS {
            let page = self.index_page(caller, filter, after.clone(), limit).await?;
            let is_last = page.len() < limit;
            let ids: Vec<_> = page.iter().map(|(_, id)| *id).collect();
            let found = self.readable(caller, filter, ids, now).await?;
            for (place, id) in page {
                after = Some(place);
                seen.extend(found.iter().find(|one| one.id == id).cloned());
                if seen.len() == limit {
                    let next = after.map(|place| Cursor::seal(&list, &place, &self.keys));
                    return Ok(Page { elicitations: seen, next, now });
                }
            }
            if is_last {
                return Ok(Page { elicitations: seen, next: None, now });
            }
        }
        let next = after.map(|place| Cursor::seal(&list, &place, &self.keys));
        Ok(Page { elicitations: seen, next, now })
    }

    async fn index_page(
        &self,
        caller: &Caller,
        filter: Filter,
        after: Option<String>,
        limit: usize,
    ) -> Result<Vec<(String, ElicitationId)>, StoreError> {
        let store = self.store.tenant(caller.tenant());
        match filter {
            Filter::Pending => store.pending(after, limit).await,
            Filter::Session(session) => store.of_session(session, after, limit).await,
        }
    }

    /// Those of `ids` that the caller may see and that are what the filter says. The index lags, the rows do not.
    async fn readable(
        &self,
        caller: &Caller,
        filter: Filter,
        ids: Vec<ElicitationId>,
        now: Timestamp,
    ) -> Result<Vec<Elicitation>, StoreError> {
        if ids.is_empty() {
            return Ok(vec![]);
        }
        let wanted = Wanted { more: ids, ..Wanted::default() };
        let mut found = self.store.tenant(caller.tenant()).read(&wanted).await?.more;
        found.retain(|one| {
            let fits = filter != Filter::Pending || !one.state_at(now).is_terminal();
            fits && caller.may_read(one)
        });
        Ok(found)
    }
}
