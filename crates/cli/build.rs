//! A release binary brings the C++ library of the vectors' graph along, where the compiler has it: it then
//! starts faster, and on systems that have none.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CXX");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let gnu = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    // Another target has another compiler; what it brings is not known here.
    let native = env::var("HOST").ok() == env::var("TARGET").ok();
    if !gnu || !native || !is("PROFILE", "release") {
        return;
    }
    let compiler = env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let asked = Command::new(compiler)
        .arg("-print-file-name=libstdc++.a")
        .output();
    let Ok(answer) = asked else { return };
    let path = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
    // A compiler that does not have it gives the name back.
    if let (true, Some(dir)) = (Path::new(&path).is_file(), Path::new(&path).parent()) {
        println!("cargo:rustc-link-search=native={}", dir.display());
        println!("cargo:rustc-link-lib=static=stdc++");
    }
}
