# The steps of .ci/run by name. `just --list` shows them.

# Everything that must hold before a change lands.
ci:
    bash .ci/run

# Formats all code.
format:
    cargo fmt --all

# Lints, with warnings denied.
lint:
    cargo clippy --workspace --all-targets --locked -- -D warnings

# Every test, or those with a word in their name.
test word='':
    cargo nextest run --workspace -E 'test({{ word }})'

# Writes the files that tests compare anew.
frozen:
    ICM_UPDATE_SNAPSHOTS=1 cargo test --workspace -- as_checked_in as_before has_help
    cargo run -p replay-tests --bin schemas

# Licences, sources and bans of all dependencies; needs cargo-deny.
deny:
    cargo deny check bans licenses sources
