//! Deterministic randomness from a seed.

use chacha20::ChaCha12Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use wasmtime_wasi::WasiCtxBuilder;

/// The interfaces of `wasi:random`. Each has its own stream, so that the bytes of one reveal nothing about the others.
#[derive(Clone, Copy)]
enum Stream {
    Random = 1,
    Insecure = 2,
    InsecureSeed = 3,
}

/// Derives all randomness of a guest from a seed.
pub(super) fn seed(wasi: &mut WasiCtxBuilder, seed: u64) {
    let mut insecure_seed = generator(seed, Stream::InsecureSeed);
    let (low, high) = (insecure_seed.next_u64(), insecure_seed.next_u64());
    wasi.secure_random(generator(seed, Stream::Random))
        .insecure_random(generator(seed, Stream::Insecure))
        .insecure_random_seed(u128::from(high) << 64 | u128::from(low));
}

/// Returns a ChaCha generator, which produces the same bytes on every machine and in every release.
fn generator(seed: u64, stream: Stream) -> ChaCha12Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    let mut generator = ChaCha12Rng::from_seed(key);
    generator.set_stream(stream as u64);
    generator
}
