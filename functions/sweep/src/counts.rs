//! What a sweep answers.

use countersign_app::sweep::SweepReport;
use serde::Serialize;

/// What one sweep did, as JSON.
#[derive(Debug, Serialize)]
pub(crate) struct Counts {
    due: usize,
    expired: usize,
    planned: usize,
    sent: usize,
    postponed: usize,
    failed: usize,
    purged: usize,
    troubled: usize,
}

impl From<SweepReport> for Counts {
    fn from(report: SweepReport) -> Self {
        let SweepReport { due, expired, planned, sent, postponed, failed, purged, troubled } = report;
        Self { due, expired, planned, sent, postponed, failed, purged, troubled }
    }
}
