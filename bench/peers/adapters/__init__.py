"""One module per peer, run in the peer's own environment by `bench.worker`; the AI SDK is a program of its own."""
