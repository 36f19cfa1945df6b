//! Texts that users see and scripts may rely on, compared with files in `tests/frozen`.
//!
//! After an intended change, `ICM_UPDATE_SNAPSHOTS=1` writes the files again.

use std::path::Path;

#[track_caller]
pub(crate) fn check(name: &str, now: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/frozen")
        .join(name);
    if std::env::var_os("ICM_UPDATE_SNAPSHOTS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, now).unwrap();
    }
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let first = before.lines().zip(now.lines()).find(|(a, b)| a != b);
    assert!(
        before == now,
        "{name} is not as before (first difference: {first:?}); if that is wanted, run the test with ICM_UPDATE_SNAPSHOTS=1 and \
         look at the difference"
    );
}
