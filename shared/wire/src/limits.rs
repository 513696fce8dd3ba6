//! The caps of request fields: each number, its unit, and why where PROTOCOL.md does not name it.
//!
//! Characters are Unicode scalar values. All of a request also fits [`countersign_core::limits::BODY_ASKING`].

use std::ops::RangeInclusive;

/// Characters of a fallback message. PROTOCOL.md names none: servers that batch many items into one question send
/// long ones, and half of the body's cap leaves room for a schema beside it.
pub const FALLBACK_MESSAGE_CHARS: usize = 32_000;
/// Characters of a fallback context; as long as the message may be.
pub const FALLBACK_CONTEXT_CHARS: usize = 32_000;
/// Characters of a fallback tool name past which it is refused: nothing that long is a name.
pub const FALLBACK_TOOL_CHARS: usize = 1_000;

/// Characters of a server's or a tool's name that are kept: it lies in the row that each poll reads.
pub const NAME_CHARS: usize = 200;
/// Characters of a title, of a question or a session.
pub const TITLE_CHARS: usize = 120;
/// Characters of a native message.
pub const MESSAGE_CHARS: usize = 8_000;
/// Characters of a consequence, and of one warning.
pub const NOTE_CHARS: usize = 300;
/// Warnings of one question; more are not read.
pub const WARNINGS: usize = 20;
/// Details of one question.
pub const DETAILS: usize = 50;
/// Characters of a detail's label.
pub const LABEL_CHARS: usize = 60;
/// Characters of a detail's value.
pub const VALUE_CHARS: usize = 4_000;
/// Characters of a preview.
pub const PREVIEW_CHARS: usize = 12_000;
/// Characters of a decider's reason.
pub const REASON_CHARS: usize = 1_000;
/// Targets of a resource; the body's cap is the tighter bound for long ones.
pub const TARGETS: usize = 1_000;
/// Characters of one target.
pub const TARGET_CHARS: usize = 4_000;
/// Characters that name a session, as an id or a name.
pub const SESSION_CHARS: usize = 128;
/// Characters of a surface's thread.
pub const THREAD_CHARS: usize = 500;

/// What an asker may say of its poll interval, in milliseconds: at least the one of the fallback client, at most
/// what still makes a lease shorter than half an hour.
pub const POLL_INTERVAL_MS: RangeInclusive<u64> = 1_000..=600_000;
/// `default_ttl_seconds` of a session: the bounds of every wait.
pub const SESSION_TTL_SECONDS: RangeInclusive<u64> = 60..=604_800;
/// `ask_token_ttl_seconds`: a minute to a year.
pub const ASK_TOKEN_TTL_SECONDS: RangeInclusive<u64> = 60..=31_536_000;
/// `expires_in_seconds`: any positive whole number that JSON keeps; the wait is clamped, not refused.
pub const EXPIRES_IN_SECONDS: RangeInclusive<u64> = 1..=9_007_199_254_740_992;
/// Entries of an audience: a rule that somebody can still read.
pub const AUDIENCE: RangeInclusive<usize> = 1..=50;
/// Groups of one approver: they lie in the row that every create reads.
pub const GROUPS: usize = 50;
/// Characters of an external id; a JWT's `sub` has at most 255 (`OpenID` Connect Core 1.0, section 2).
pub const EXTERNAL_ID_CHARS: usize = 255;
/// `retention_days` of a policy: a day to ten years, as for the deployment.
pub const RETENTION_DAYS: RangeInclusive<u64> = 1..=3_650;
/// Spans of a cool-down.
pub const COOL_DOWNS: RangeInclusive<usize> = 0..=10;
/// One span of a cool-down, in seconds: what was declined is remembered for a day.
pub const COOL_DOWN_SECONDS: RangeInclusive<u64> = 0..=86_400;
/// Callback origins of a policy.
pub const CALLBACK_ORIGINS: RangeInclusive<usize> = 0..=20;
/// Characters of a callback origin: the scheme, the longest host name (RFC 1035, section 2.3.4) and a port.
pub const ORIGIN_CHARS: usize = 270;
/// Characters of an approver's name.
pub const APPROVER_NAME_CHARS: usize = 120;
/// Characters of a mail address (RFC 5321, section 4.5.3.1).
pub const EMAIL_CHARS: usize = 254;
/// Characters of a URL that we call.
pub const URL_CHARS: usize = 2_000;
/// Characters of a person's id in a system of the tenant's, and of what names a question.
pub const ACTOR_ID_CHARS: usize = 255;
/// Characters of one word of a list of known words.
pub const TARGET_NAME_CHARS: usize = 60;
/// `overlap_seconds` of a rotation: at once to a week.
pub const ROTATION_OVERLAP_SECONDS: RangeInclusive<u64> = 0..=604_800;
/// Characters of a key's name.
pub const KEY_NAME_CHARS: usize = 120;
/// Tool servers that one key may be bound to.
pub const SERVERS: usize = 50;
/// Namespaces that one key may be bound to.
pub const NAMESPACES: usize = 50;
/// What a quota may say of questions at once and a minute: one item of the table takes 1,000 writes a second.
pub const QUOTA_RATE: RangeInclusive<u64> = 1..=30_000;
/// What a quota may say of questions that are stored.
pub const QUOTA_STORED: RangeInclusive<u64> = 1..=1_000_000_000;
