//! One test binary: linking the engine and the SDK once is what keeps the suite quick.

#[cfg(test)]
mod memory;
#[cfg(test)]
mod model;
#[cfg(test)]
mod mutants;
#[cfg(test)]
mod racing;
#[cfg(test)]
mod round_trip;
