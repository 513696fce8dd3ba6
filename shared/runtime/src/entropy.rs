//! The machine's randomness.

use countersign_app::ports::Entropy;

/// Random bytes of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    #[expect(clippy::disallowed_methods, reason = "the one real source")]
    #[expect(clippy::expect_used, reason = "a key out of anything else would be worse than no service")]
    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("random bytes of the operating system");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_fills_are_alike() {
        let mut fills = [[0; 16]; 2];
        for bytes in &mut fills {
            OsEntropy.fill(bytes);
        }
        assert_ne!(fills[0], fills[1]);
    }
}
