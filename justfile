# Names for the scripts in .ci, which say what they do. `just --list` shows the names.

# Everything that must hold before a change lands.
ci:
    bash .ci/run

# That, and what takes longer: every step, or those that are named.
all *steps:
    bash .ci/all {{ steps }}

# Formats all code.
format:
    cargo fmt --all

# Lints, with warnings denied.
lint:
    bash .ci/checks lints

# Every test, or those with one of the words in their name.
test *words:
    bash .ci/checks tests {{ words }}

# Writes the files that tests compare anew.
frozen:
    bash .ci/frozen

# Licences, sources and bans of all dependencies.
deny:
    bash .ci/dependencies
