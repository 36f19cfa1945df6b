//! How the compiler's own libraries are linked: that of C++, which usearch needs, and that which unwinds.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    let env = std::env::var("CARGO_CFG_TARGET_ENV").unwrap_or_default();
    if target != "linux" || env != "gnu" {
        // link-cplusplus does it.
        return;
    }
    // The loader looks up two thousand names in the shared one, each time a program starts: that is more than
    // all else that a short command does.
    if !link_static("stdc++") {
        println!("cargo:rustc-link-lib=stdc++");
    }
    // One library less to load; where it is not there, that of the standard library does.
    link_static("gcc_eh");
}

/// Whether the compiler has this library to be linked in.
fn link_static(library: &str) -> bool {
    let Some(folder) = folder_of(&format!("lib{library}.a")) else {
        return false;
    };
    println!("cargo:rustc-link-search=native={folder}");
    println!("cargo:rustc-link-lib=static:-bundle={library}");
    true
}

/// The folder of a library that the C++ compiler has; `None` where it has none of the name.
fn folder_of(library: &str) -> Option<String> {
    let compiler = cc::Build::new().cpp(true).try_get_compiler().ok()?;
    let mut command = compiler.to_command();
    let said = command.arg(format!("-print-file-name={library}")).output();
    let path = String::from_utf8(said.ok()?.stdout).ok()?;
    // What it does not have it names as it was asked.
    let (folder, _) = path.trim().rsplit_once('/')?;
    Some(folder.to_owned())
}
