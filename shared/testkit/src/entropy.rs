//! Random bytes that are the same in each run.

use std::sync::atomic::{AtomicU64, Ordering};

use countersign_app::ports::Entropy;

/// `SplitMix64` from a seed: even, repeatable, and no secret to anybody.
pub struct SeededEntropy(AtomicU64);

impl SeededEntropy {
    /// The sequence of `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    fn next(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut mixed = self.0.fetch_add(STEP, Ordering::SeqCst).wrapping_add(STEP);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let random = self.next().to_be_bytes();
            chunk.copy_from_slice(&random[..chunk.len()]);
        }
    }
}
