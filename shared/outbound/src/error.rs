//! What may go wrong.

/// Why there is no reply. No text repeats the URL: its query may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OutboundError {
    /// It is not called at all; why, for whoever configured it.
    #[error("not called: {0}")]
    NotAllowed(String),
    /// The name could not be resolved.
    #[error("the name does not resolve: {0}")]
    Resolve(String),
    /// Nobody answers there.
    #[error("no connection: {0}")]
    Connect(String),
    /// There is no trusted TLS to be had.
    #[error("no trusted TLS: {0}")]
    Tls(String),
    /// It took too long.
    #[error("no whole answer in time")]
    Timeout,
    /// The answer is larger than it may be.
    #[error("the answer is too large")]
    TooLarge,
    /// It is no HTTP.
    #[error("no usable HTTP answer: {0}")]
    Protocol(String),
}
