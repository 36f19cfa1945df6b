//! How the program is linked, and where it starts.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-check-cfg=cfg(own_start)");
    let target = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    let env = std::env::var("CARGO_CFG_TARGET_ENV").unwrap_or_default();
    if target == "linux" && env == "gnu" {
        // Half of what a short command costs is the loader, which writes fifty thousand addresses into pages
        // that the command never looks at. Without that a command ends a millisecond sooner.
        println!("cargo:rustc-link-arg-bin=icm=-no-pie");
        // See `src/start.rs`.
        println!("cargo:rustc-cfg=own_start");
    }
}
