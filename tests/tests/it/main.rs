//! One test binary: linking the engine and the SDK once is what keeps the suite quick.

mod round_trip;
