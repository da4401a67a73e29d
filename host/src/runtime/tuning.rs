//! The one set of compiler settings. The build script that compiles the built-in tools ahead of time includes this file
//! too, so that what it compiles is what the engine loads.

/// Settings that decide what machine code looks like. Where the code runs (pooling, stacks) is the engine's business.
///
/// Measured with wasmtime 48: without component-model concurrency a call costs half; epoch and fuel checks each cost
/// less than 1 µs a call, and 10 to 45 % on code that only computes.
pub(crate) fn config() -> wasmtime::Config {
    let mut config = wasmtime::Config::new();
    config
        .concurrency_support(false)
        .epoch_interruption(true)
        .consume_fuel(true)
        .cranelift_opt_level(wasmtime::OptLevel::Speed)
        .parallel_compilation(true);
    config
}
