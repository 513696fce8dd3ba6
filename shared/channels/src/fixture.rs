//! What the tests of every channel start from.

use std::fs;
use std::path::Path;

use countersign_app::ports::Notice;
use countersign_app::records::{Approver, ExternalIds};
use countersign_core::elicitation::Tier;
use countersign_core::id::{ApproverId, Bits130};
use countersign_core::time::Timestamp;
use lettre::message::Mailbox;

/// The notice of the reference sheets.
pub(crate) fn notice() -> Notice {
    let to = Approver {
        id: ApproverId::new(Bits130::from_bytes([7; Bits130::BYTES])),
        name: "Mara".to_owned(),
        email: Some("mara@northwind.example".to_owned()),
        groups: vec![],
        external_ids: ExternalIds::default(),
        created_at: Timestamp::from_millis(0),
        revision: 1,
    };
    Notice {
        tenant: "Northwind Traders".to_owned(),
        reference: "K7Q-4MD".parse().unwrap(),
        tier: Tier::Commit,
        decide_by: Timestamp::parse("2026-12-01T20:14:28.400Z").unwrap(),
        link: "https://countersign.example/d/K7Q-4MD".to_owned(),
        to,
        id: "el_1#email#ap_1#asked".to_owned(),
    }
}

/// Where notices come from. The name is the operator's own and no person sees it.
pub(crate) fn from() -> Mailbox {
    "Operator <decisions@countersign.example>".parse().unwrap()
}

/// Compares with a file under `golden/`; a difference is left beside it as `<name>.new`.
#[track_caller]
pub(crate) fn same_as_golden(name: &str, got: &str) {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(name);
    if fs::read_to_string(&golden).is_ok_and(|want| want == got) {
        return;
    }
    let new = golden.with_added_extension("new");
    fs::write(&new, got).unwrap();
    panic!("differs from {}: look, then accept it with mv {} {0}", golden.display(), new.display());
}
