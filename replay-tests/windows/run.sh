#!/usr/bin/env bash
# Builds icm for Windows with MinGW, and lets three servers of it share a store under Wine: one of them is killed.
#   rustup target add x86_64-pc-windows-gnu; apt-get install g++-mingw-w64-x86-64-posix wine64
# A step of `.ci/all`: the build alone takes as long as all of `.ci/run`.
set -euo pipefail
cd "$(dirname "$0")/../.."

target=x86_64-pc-windows-gnu
tools=x86_64-w64-mingw32
built=${CARGO_TARGET_DIR:-$PWD/target}
work=$built/windows
mkdir -p "$work/include"

# usearch asks for it with the case that only Windows forgives.
ln -sf "/usr/$tools/include/windows.h" "$work/include/Windows.h"
export CC_x86_64_pc_windows_gnu=$tools-gcc-posix CXX_x86_64_pc_windows_gnu=$tools-g++-posix
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=$tools-gcc-posix
export CXXFLAGS_x86_64_pc_windows_gnu="-I$work/include"
cargo build --locked --target "$target" --package icm-cli --bin icm

cp "$built/$target/debug/icm.exe" "$work/"
for library in libstdc++-6.dll libgcc_s_seh-1.dll libwinpthread-1.dll; do
    cp "$($tools-gcc-posix -print-file-name="$library")" "$work/"
done
# Older Wine has no source of random numbers by this name.
cat >"$work/prng.c" <<'C'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T len) {
    return SystemFunction036(bytes, (ULONG)len);
}
C
"$tools-gcc-posix" -shared -o "$work/bcryptprimitives.dll" "$work/prng.c" -ladvapi32

export WINEDEBUG=-all WINEPREFIX=$work/prefix
wineboot --init >/dev/null 2>&1
python3 replay-tests/windows/servers.py "$work/icm.exe" "$work/store"
