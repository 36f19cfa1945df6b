//! Finds the library of ONNX Runtime, and loads it once.

use icm_wait::{Deadline, bounds, ended};
use ort::environment::Environment;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// Environment variable that names the library; it comes first.
const VARIABLE: &str = "ORT_DYLIB_PATH";
/// Python program that prints the folder of the package without importing it. It does not search the working folder.
const WHERE: &str = "import sys; sys.path = [p for p in sys.path if p]; \
import importlib.util as u; s = u.find_spec('onnxruntime'); \
print(s.submodule_search_locations[0] if s and s.submodule_search_locations else '')";

/// The loaded library. It stays for the life of the process, because it cannot be exchanged for another one.
static LOADED: Mutex<Option<Environment>> = Mutex::new(None);

/// Returns the path of the library: from `ORT_DYLIB_PATH`, else in `lib` (the store's folder of that name), else in the
/// `onnxruntime` package of the `python3` on the path.
pub(crate) fn find(lib: &Path) -> Result<PathBuf, Absent> {
    find_with(std::env::var_os(VARIABLE), lib, in_python)
}

/// The reason why there is no library.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// No library was found.
    Nowhere,
    /// The user named a path without a library.
    Named(String),
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Absent::Nowhere => f.write_str("ONNX Runtime, which runs it, is not on this machine"),
            Absent::Named(why) => f.write_str(why),
        }
    }
}

fn find_with(
    variable: Option<OsString>,
    lib: &Path,
    elsewhere: impl FnOnce() -> Option<PathBuf>,
) -> Result<PathBuf, Absent> {
    if let Some(path) = variable.filter(|path| !path.is_empty()) {
        return named(Path::new(&path)).map_err(Absent::Named);
    }
    in_folder(lib).or_else(elsewhere).ok_or(Absent::Nowhere)
}

/// Returns the library at a given path, which may be its folder.
fn named(path: &Path) -> Result<PathBuf, String> {
    let found = if path.is_dir() {
        in_folder(path)
    } else {
        path.is_file().then(|| path.to_owned())
    };
    let found =
        found.ok_or_else(|| format!("{VARIABLE} names {}, where no library is", path.display()))?;
    // The loader would search beside the program for a relative path.
    std::path::absolute(&found).map_err(|e| format!("{}: {e}", found.display()))
}

/// Returns the library in a folder; the last by name if there are several.
pub(crate) fn in_folder(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    // Opening a pipe would block.
    let entries = entries.filter(|entry| entry.path().is_file());
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let newest = names.filter(|name| is_library(name)).max()?;
    std::path::absolute(folder.join(newest)).ok()
}

/// Returns `true` if a file of this name is the library on some platform.
pub(crate) fn is_library(name: &str) -> bool {
    let versions = |rest: &str| rest.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    match name.strip_prefix("libonnxruntime") {
        Some(rest) => {
            rest.strip_prefix(".so").is_some_and(versions)
                || rest.strip_suffix(".dylib").is_some_and(versions)
        }
        None => name == "onnxruntime.dll",
    }
}

fn in_python() -> Option<PathBuf> {
    let mut child = Command::new("python3")
        .args(["-c", WHERE])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    if ended(&mut child, Deadline::after(bounds::PROCESS))
        .ok()?
        .is_none()
    {
        let _ = child.kill();
        let _ = child.wait();
        return None;
    }
    let mut said = String::new();
    child.stdout?.read_to_string(&mut said).ok()?;
    let folder = Path::new(said.trim());
    if folder.as_os_str().is_empty() {
        return None;
    }
    in_folder(&folder.join("capi"))
}

/// Returns the environment of ONNX Runtime, loaded from `path` unless a library is loaded already.
pub(crate) fn load(path: &Path) -> Result<Environment, String> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(environment) = &*loaded {
        return Ok(environment.clone());
    }
    if is_cut_short(path).unwrap_or(false) {
        return Err(format!("{} was cut short: remove it", path.display()));
    }
    // The binding panics if the file is not a fitting library.
    let environment = panic::catch_unwind(AssertUnwindSafe(|| {
        let builder = ort::init_from(path).map_err(|e| e.to_string())?;
        let builder = builder.with_name("icm").with_telemetry(false);
        builder.build().map_err(|e| e.to_string())
    }));
    let environment = environment
        .unwrap_or_else(|_| Err("it cannot be loaded".into()))
        .map_err(|why| format!("{} is no ONNX Runtime that fits: {why}", path.display()))?;
    Ok(loaded.insert(environment).clone())
}

/// Returns `true` if a library is shorter than its header says. The loader would still map it, and touching the missing
/// part ends the process. Knows 64-bit ELF only (System V ABI, chapters 4 and 5); returns `false` for other formats.
fn is_cut_short(path: &Path) -> std::io::Result<bool> {
    let mut file = fs::File::open(path)?;
    let len = file.metadata()?.len();
    let mut header = [0; 64];
    if len < 64 {
        return Ok(false);
    }
    file.read_exact(&mut header)?;
    if &header[..6] != b"\x7fELF\x02\x01" {
        return Ok(false);
    }
    let eight = |bytes: &[u8], at: usize| {
        let eight = bytes[at..].first_chunk().copied().unwrap_or_default();
        u64::from_le_bytes(eight)
    };
    let two = |at: usize| u64::from(u16::from_le_bytes([header[at], header[at + 1]]));
    let (place, size, count) = (eight(&header, 32), two(54), two(56));
    let table = size * count;
    if size < 56 || place.checked_add(table).is_none_or(|end| end > len) {
        return Ok(true);
    }
    let mut segments = vec![0; table as usize];
    file.seek(SeekFrom::Start(place))?;
    file.read_exact(&mut segments)?;
    let end = |segment: &[u8]| eight(segment, 8).saturating_add(eight(segment, 32));
    Ok(segments.chunks(size as usize).any(|one| end(one) > len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_goes_first_then_the_store_then_python() {
        let dir = tempfile::tempdir().unwrap();
        let find = |variable: Option<&Path>, python: Option<&str>| {
            let variable = variable.map(|path| path.as_os_str().to_owned());
            find_with(variable, dir.path(), || python.map(PathBuf::from))
        };
        assert_eq!(find(None, None), Err(Absent::Nowhere));
        assert_eq!(find(None, Some("/py/x.so")), Ok("/py/x.so".into()));
        for name in [
            "libonnxruntime.so.1.9.0",
            "libonnxruntime_providers_shared.so",
            "notes",
        ] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let there = dir.path().join("libonnxruntime.so.1.9.0");
        assert_eq!(find(None, Some("/py/x.so")), Ok(there.clone()));
        // The variable may name the folder or the file.
        assert_eq!(find(Some(dir.path()), None), Ok(there.clone()));
        assert_eq!(find(Some(&there), None), Ok(there));
        let absent = find(Some(&dir.path().join("absent.so")), Some("/py/x.so"));
        assert!(matches!(absent, Err(Absent::Named(why)) if why.contains("ORT_DYLIB_PATH")));
    }

    #[test]
    fn a_file_that_is_no_library_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("libonnxruntime.so");
        fs::write(&path, "no library").unwrap();
        let why = load(&path).expect_err("loaded");
        assert!(why.contains("is no ONNX Runtime that fits"), "{why}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_library_that_was_cut_short_is_not_loaded() {
        let dir = tempfile::tempdir().unwrap();
        let whole = fs::read(std::env::current_exe().unwrap()).unwrap();
        let path = dir.path().join("libonnxruntime.so");
        fs::write(&path, &whole).unwrap();
        assert!(!is_cut_short(&path).unwrap());
        for len in [70, 4_096, whole.len() / 50] {
            fs::write(&path, &whole[..len]).unwrap();
            assert!(is_cut_short(&path).unwrap(), "{len}");
            let why = load(&path).expect_err("loaded");
            assert!(why.contains("was cut short"), "{why}");
        }
    }

    #[test]
    fn names_of_libraries() {
        for (name, is_it) in [
            ("libonnxruntime.so", true),
            ("libonnxruntime.so.1.32.0", true),
            ("libonnxruntime.1.32.0.dylib", true),
            ("onnxruntime.dll", true),
            ("libonnxruntime_providers_shared.so", false),
            ("libonnxruntime.so.bak", false),
            ("onnxruntime_providers_shared.dll", false),
        ] {
            assert_eq!(is_library(name), is_it, "{name}");
        }
    }
}
