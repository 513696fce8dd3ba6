//! Rows as they lie in the table. A row that no code of ours writes is reported, never guessed at.

mod api_key;
mod attributes;
mod content;
mod delivery;
mod elicitation;
mod endpoint;
mod event;
mod human;
mod issuer;
mod passkey;
mod policy;
mod session;
mod tenant;

pub(crate) use api_key::{hash_map, key_item, previous_map, read_key};
pub(crate) use attributes::{Reader, number, people, text, time};
pub(crate) use content::{read_content, write_content};
pub(crate) use delivery::{delivery_item, read_delivery_row};
pub(crate) use elicitation::{STATUS_DECIDED, STATUS_EXPIRED, STATUS_PENDING, STATUS_WITHDRAWN};
pub(crate) use elicitation::{answer_text, decider_map, elicitation_item, read_elicitation};
pub(crate) use endpoint::{SealedSecret, SealedSecrets, endpoint_item, read_endpoint};
pub(crate) use event::{event_item, read_event_row};
pub(crate) use human::{code_row, device_row, read_code, read_device, read_human_session, session_row};
pub(crate) use issuer::{issuer_item, read_issuer};
pub(crate) use passkey::{passkey_row, read_passkey};
pub(crate) use policy::{policy_item, policy_text, read_policy};
pub(crate) use session::{lost_map, read_session, session_item, token_map};
pub(crate) use tenant::{approver_item, read_approver, read_tenant, route_value, tenant_item};
