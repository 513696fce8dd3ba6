//! Every number that bounds something: its name, its unit, its one home.

use std::time::Duration;

/// Shortest wait that is granted: below this a person cannot react.
pub const EXPIRY_MIN: Duration = Duration::from_mins(1);
/// Longest wait that is granted.
pub const EXPIRY_MAX: Duration = Duration::from_hours(7 * 24);
/// The wait where neither the request nor the tenant nor the deployment names one.
pub const EXPIRY_DEFAULT: Duration = Duration::from_hours(1);

/// A decision must be stored this long before the asker's own deadline, so that its next read can see it.
pub const LAST_CALL_MARGIN: Duration = Duration::from_secs(2);
/// Reads of a fallback asker are held from this long before its deadline.
pub const LAST_CALL_WINDOW: Duration = Duration::from_secs(15);
/// A held read looks again this often.
pub const HOLD_STEP: Duration = Duration::from_secs(1);
/// Longest `wait_seconds` of a native read.
pub const WAIT_MAX: Duration = Duration::from_secs(20);

/// The lease of an asker is three of its poll intervals, and never shorter than this.
pub const ASKER_LEASE_MIN: Duration = Duration::from_secs(90);
/// The poll interval of a fallback client that says nothing of its own.
pub const POLL_INTERVAL_DEFAULT: Duration = Duration::from_secs(5);
/// `last_polled_at` is written at most this often.
pub const LAST_POLLED_STEP: Duration = Duration::from_mins(1);

/// `last_used_at` of a key is written at most this often.
pub const LAST_USED_STEP: Duration = Duration::from_mins(1);

/// How long a stored question may stay unplanned before the sweep plans it.
pub const PLAN_BACKSTOP: Duration = Duration::from_secs(15);
/// A poll answers within this, whatever the store does; past it the answer is `pending`.
pub const POLL_STORE_LIMIT: Duration = Duration::from_secs(4);
/// Creates retry throttles and conflicts inside the call for up to this long: the fallback client will not.
pub const CREATE_RETRY_BUDGET: Duration = Duration::from_secs(8);
/// Decisions retry throttles and conflicts for up to this long.
pub const RESPOND_RETRY_BUDGET: Duration = Duration::from_secs(5);

/// Any request is answered within this, what it is held for aside: the create's own retries, and a little.
pub const REQUEST_LIMIT: Duration = Duration::from_secs(10);

/// Rows outlive their deadline by this: TTL is garbage collection, never expiry.
pub const RETENTION_DEFAULT: Duration = Duration::from_hours(30 * 24);
/// An ask token that names no life of its own.
pub const ASK_TOKEN_TTL_DEFAULT: Duration = Duration::from_hours(30 * 24);
/// How long an Idempotency-Key of something else than a question is remembered: a day, and an hour of grace.
pub const IDEMPOTENCY_MEMORY: Duration = Duration::from_hours(25);
/// How much longer than what it protects a spent nonce is remembered (PROTOCOL.md section 2.3).
pub const NONCE_GRACE: Duration = Duration::from_mins(10);
/// Open questions in one session, where the policy names no other number.
pub const MAX_OPEN_PER_SESSION: usize = 5;
/// The most that a policy may allow: they lie in one row.
pub const MAX_OPEN_PER_SESSION_MAX: usize = 50;
/// Open questions of one approver, where the policy names no other number.
pub const MAX_OPEN_PER_APPROVER: usize = 50;
/// The most that a policy may allow one approver: what an inbox shows.
pub const MAX_OPEN_PER_APPROVER_MAX: usize = INBOX_OPEN;
/// The most open questions that a quota may allow a tenant: a create counts them.
pub const MAX_OPEN_PER_TENANT_MAX: usize = 1_000;
/// How long an accept can be claimed, where the policy names no other span.
pub const CLAIM_WINDOW_DEFAULT: Duration = Duration::from_hours(1);
/// What was declined once, twice, three times and more is not asked again in its session for this long, where the
/// policy names no other spans.
pub const COOL_DOWN: [Duration; 3] =
    [Duration::from_mins(1), Duration::from_mins(5), Duration::from_mins(30)];
/// Declines without an accept between them that mute a session.
pub const DECLINES_TO_MUTE: u32 = 3;
/// How long a session is muted.
pub const MUTE: Duration = Duration::from_mins(30);
/// How long a declined content is counted after its last decline.
pub const DECLINE_MEMORY: Duration = Duration::from_hours(24);
/// Declined contents that a session keeps in mind.
pub const DECLINES_KEPT: usize = 32;
/// Declined contents that one write forgets: an expression of the table has at most 4 KB.
pub const DECLINES_FORGOTTEN_AT_ONCE: usize = 8;
/// Ask tokens of one session that are kept beside each other.
pub const MAX_TOKENS_PER_SESSION: usize = 20;

/// Request body of an asking route, bytes.
pub const BODY_ASKING: usize = 64 * 1024;
/// Request body of a managing route, bytes.
pub const BODY_MANAGING: usize = 256 * 1024;
/// Nesting of a JSON body; the root is level 1.
pub const JSON_DEPTH: usize = 8;

/// Fields of a requested schema.
pub const SCHEMA_FIELDS: usize = 32;
/// Characters (Unicode scalar values) of a session's lost-question summary.
pub const SUMMARY_CHARS: usize = 300;
/// Characters of a request-id or an Idempotency-Key.
pub const REQUEST_ID_CHARS: usize = 255;

/// How long a mailed code is good.
pub const CODE_TTL: Duration = Duration::from_mins(10);
/// Tries of one mailed code.
pub const CODE_TRIES: u32 = 5;
/// Mails that one code may take.
pub const CODE_SENDS: u32 = 3;
/// Codes that one source is given for one address in [`CODE_TTL`].
pub const CODES_PER_SOURCE_AND_ADDRESS: u32 = 5;
/// Codes that all sources together are given for one address in an hour: 100 guesses of a million numbers.
pub const CODES_PER_ADDRESS: u32 = 20;
/// Codes that one source is given in [`CODE_TTL`], for whatever addresses.
pub const CODES_PER_SOURCE: u32 = 30;
/// How long a person stays signed in without doing anything.
pub const HUMAN_IDLE: Duration = Duration::from_mins(30);
/// How long a person stays signed in at most.
pub const HUMAN_ABSOLUTE: Duration = Duration::from_hours(12);
/// How often a person's presence is worth a write.
pub const HUMAN_SEEN_STEP: Duration = Duration::from_mins(1);
/// How long a device is remembered.
pub const DEVICE_TTL: Duration = Duration::from_hours(30 * 24);
/// Devices of one approver that are remembered at once.
pub const DEVICES_MAX: usize = 10;
/// Passkeys of one approver.
pub const PASSKEYS_MAX: usize = 8;
/// Wrong codes for one question after which its approver may not approve it by code.
pub const MATCH_TRIES: u32 = 5;
/// How long a session asks nothing after a person has reported it.
pub const REPORT_MUTE: Duration = Duration::from_mins(20);
/// How long a page's form may lie open.
pub const FORM_TTL: Duration = Duration::from_hours(12);
/// How long the one-time sign-in link of a local server is good.
pub const SIGNIN_LINK_TTL: Duration = Duration::from_hours(1);
/// How long the state of a tenant's own sign-in is good.
pub const SSO_STATE_TTL: Duration = Duration::from_mins(10);
/// How long a JWT may be good that signs somebody in.
pub const SSO_TOKEN_TTL: Duration = Duration::from_mins(5);
/// Open questions that an inbox shows.
pub const INBOX_OPEN: usize = 200;
/// Answers of one's own that an inbox shows.
pub const INBOX_HISTORY: usize = 50;
/// Characters (Unicode scalar values) of a reason.
pub const REASON_CHARS: usize = 500;
