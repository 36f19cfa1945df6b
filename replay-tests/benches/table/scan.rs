//! Measures reading and verifying the log, against the bare checksum and the bare hash.

use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use icm_log::disk::RealDisk;
use icm_log::{Cursor, Log};

use crate::clock::{cpu_s, p50};
use crate::{Target, row};

const CHUNK: usize = 300;
const ROUNDS: usize = 5;

/// Returns the CPU nanoseconds of `look` for a chunk of 300 B, over 60 MB.
fn chunks(bytes: &[u8], look: impl Fn(&[u8]) -> u64) -> f64 {
    let (seconds, sum) = cpu_s(|| {
        bytes
            .chunks_exact(CHUNK)
            .fold(0_u64, |sum, chunk| sum.wrapping_add(look(chunk)))
    });
    std::hint::black_box(sum);
    seconds * 1e9 / (bytes.len() / CHUNK) as f64
}

/// Reads every file below a folder as a scan does, without decoding.
fn read_all(dir: &Path) {
    let mut buffer = vec![0; 128 * 1_024];
    for entry in std::fs::read_dir(dir).expect("it is there") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            read_all(&path);
            continue;
        }
        let mut file = std::fs::File::open(path).expect("it opens");
        while file.read(&mut buffer).expect("it reads") > 0 {}
    }
}

fn first_byte(hash: blake3::Hash) -> u64 {
    u64::from(hash.as_bytes()[0])
}

pub(crate) fn run(dir: &Path) {
    let bytes: Vec<u8> = (0..60_000_000_u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    for (name, what) in [("small", "events"), ("stores", "stores of 195 B texts")] {
        let log = Log::open(Arc::new(RealDisk), &dir.join(name)).expect("it was prepared");
        let len = log.len_bytes().expect("it reads") as f64;
        let (mut crcs, mut hashes, mut scans, mut verifies) = (vec![], vec![], vec![], vec![]);
        let mut reads = vec![];
        let mut events = 0_u64;
        for _ in 0..ROUNDS {
            crcs.push(chunks(&bytes, |chunk| u64::from(crc32c::crc32c(chunk))));
            reads.push(cpu_s(|| read_all(&dir.join(name).join("log"))).0);
            scans.push(
                cpu_s(|| {
                    events = 0;
                    log.scan(&Cursor::START, &mut |_| {
                        events += 1;
                        ControlFlow::Continue(())
                    })
                    .expect("it is whole")
                })
                .0,
            );
            hashes.push(chunks(&bytes, |chunk| first_byte(blake3::hash(chunk))));
            verifies.push(cpu_s(|| assert!(log.verify(&mut |_| {}).expect("it reads").ok())).0);
        }
        // The time of the bare function for as many bytes.
        let pieces = len / CHUNK as f64;
        let each = |seconds: f64| seconds * 1e9 / events as f64;
        let size = len / events as f64;
        let (crc, scan) = (p50(&mut crcs), p50(&mut scans));
        let (hash, verify) = (p50(&mut hashes), p50(&mut verifies));
        let read = p50(&mut reads);
        row(
            &format!("crc scan, {events} {what}, {size:.0} B each"),
            &format!(
                "{:.1} M events/s ({:.0} ns, of them {:.0} ns to copy the file out of the page cache)",
                events as f64 / scan / 1e6,
                each(scan),
                each(read)
            ),
            &format!(
                "crc32c, 300 B chunks, as many bytes {:.0} ns",
                crc * size / CHUNK as f64
            ),
            crc * pieces / (scan * 1e9),
            ("≥ 0.6×", Target::AtLeast(0.6)),
        );
        row(
            &format!("chain verify, {events} {what}, {size:.0} B each"),
            &format!(
                "{:.2} M events/s ({:.0} ns)",
                events as f64 / verify / 1e6,
                each(verify)
            ),
            &format!(
                "BLAKE3, 300 B chunks, as many bytes {:.0} ns",
                hash * size / CHUNK as f64
            ),
            hash * pieces / (verify * 1e9),
            ("≥ 0.8×", Target::AtLeast(0.8)),
        );
    }
}
