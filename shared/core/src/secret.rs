//! A value that cannot be printed or compared by accident.

use std::fmt;

use subtle::ConstantTimeEq;

/// Bytes that must not reach a log, an error or a page.
///
/// There is no `PartialEq`: `==` on secrets leaks their prefix through time, so the only comparison is
/// [`Secret::matches`].
///
/// ```compile_fail
/// use countersign_core::secret::Secret;
/// let a = Secret::new(*b"k");
/// let b = Secret::new(*b"k");
/// assert!(a == b);
/// ```
#[derive(Clone)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// Wraps `value`.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// The value itself, for the one place that needs it.
    pub const fn expose(&self) -> &T {
        &self.0
    }
}

impl<T: AsRef<[u8]>> Secret<T> {
    /// Whether both hold the same bytes, in time that depends on their length only.
    pub fn matches(&self, other: &[u8]) -> bool {
        self.0.as_ref().ct_eq(other).into()
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}
