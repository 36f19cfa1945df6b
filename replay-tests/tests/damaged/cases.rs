//! The kinds of damage of the catalogue.

use super::*;

/// A name in the catalogue, and the damage.
pub(super) type Case = (&'static str, fn(&Bed));

pub(super) const CASES: &[Case] = &[
    ("flip-head", |bed| {
        bed.change_record((4, 0), |bytes, start, _| flip(bytes, start + 60));
    }),
    ("flip-head-older", |bed| {
        bed.change_record((1, 1), |bytes, start, _| flip(bytes, start + 60));
    }),
    ("flip-body", |bed| {
        bed.change_record((1, 1), |bytes, _, end| flip(bytes, end - 3));
    }),
    ("flip-body-newest-segment", |bed| {
        bed.change_record((4, 0), |bytes, _, end| flip(bytes, end - 3));
    }),
    ("flip-header-older", |bed| {
        bed.change(&bed.segments()[1], |bytes| flip(bytes, 33));
    }),
    ("flip-header-newest", |bed| {
        bed.change(&bed.last(), |bytes| flip(bytes, 33));
    }),
    ("redaction-lost", |bed| {
        bed.redact();
        bed.change_record((4, 2), |bytes, start, _| flip(bytes, start + 60));
    }),
    ("wrong-name", |bed| {
        let path = bed.segments()[1].clone();
        let name = path.to_string_lossy();
        let (stem, _) = name.rsplit_once('-').expect("a name");
        fs::rename(&path, format!("{stem}-0123456789abcdef.icmlog")).expect("renamed");
    }),
    ("zeroed-page", |bed| {
        bed.change(&bed.segments()[2], |bytes| bytes[200..712].fill(0));
    }),
    ("full-disk", |bed| {
        bed.change_record((4, 1), |bytes, start, _| bytes.truncate(start + 100));
    }),
    ("torn-append", |bed| {
        bed.change(&bed.last(), |bytes| {
            let half = bytes[HEADER_LEN..HEADER_LEN + 150].to_vec();
            bytes.extend_from_slice(&half);
        });
    }),
    ("text-mode-copy", |bed| {
        for path in bed.segments() {
            bed.change(&path, |bytes| {
                let mut out = Vec::new();
                for byte in bytes.iter() {
                    if *byte == b'\n' {
                        out.push(b'\r');
                    }
                    out.push(*byte);
                }
                *bytes = out;
            });
        }
    }),
    ("conflict-copy-beside", |bed| {
        let path = bed.segments()[1].clone();
        let copy = path.to_string_lossy().replace(".icmlog", " (1).icmlog");
        fs::copy(&path, copy).expect("copied");
    }),
    ("conflict-copy-instead", |bed| {
        let path = bed.segments()[1].clone();
        let copy = path.to_string_lossy().replace(".icmlog", " (1).icmlog");
        fs::rename(&path, copy).expect("renamed");
    }),
    ("older-segment-restored", |bed| {
        bed.change_record((2, 1), |bytes, start, _| bytes.truncate(start));
    }),
    ("half-copied-folder", |bed| {
        for path in &bed.segments()[2..] {
            fs::remove_file(path).expect("removed");
        }
    }),
    ("segments-swapped", |bed| {
        let files = bed.segments();
        let (one, other) = (fs::read(&files[1]), fs::read(&files[2]));
        fs::write(&files[1], other.expect("read")).expect("written");
        fs::write(&files[2], one.expect("read")).expect("written");
    }),
    ("middle-segment-deleted", |bed| {
        fs::remove_file(&bed.segments()[1]).expect("removed");
    }),
    ("newest-segment-deleted", |bed| {
        fs::remove_file(bed.last()).expect("removed");
    }),
    ("first-segment-deleted", |bed| {
        fs::remove_file(&bed.segments()[0]).expect("removed");
    }),
    ("all-segments-deleted", |bed| {
        folder::remove(&bed.chain(bed.origin));
    }),
    ("newest-segment-empty", |bed| {
        fs::write(bed.last(), b"").expect("written");
    }),
    ("segment-begun", |bed| {
        let name = "00000000000000000015-0123456789abcdef.icmlog";
        fs::write(bed.chain(bed.origin).join(name), b"\x89ICM").expect("written");
    }),
    ("store-file-empty", |bed| {
        fs::write(bed.dir.join("store.toml"), b"").expect("written");
    }),
    ("store-file-missing", |bed| {
        fs::remove_file(bed.dir.join("store.toml")).expect("removed");
    }),
    ("store-file-flipped", |bed| {
        bed.change(&bed.dir.join("store.toml"), |bytes| {
            let at = bytes.len() - 10;
            bytes[at] = if bytes[at] == b'0' { b'1' } else { b'0' };
        });
    }),
    ("acked-damaged", |bed| {
        bed.change(&bed.dir.join("acked"), |bytes| bytes.fill(0x5a));
    }),
    ("acked-of-another-store", |bed| {
        bed.write_slot(&Slot {
            origin: OriginId([7; 16]),
            seq: Seq(900),
            ..bed.slot()
        });
    }),
    ("rolled-back-snapshot", |bed| {
        bed.change_record((4, 1), |bytes, start, _| bytes.truncate(start));
    }),
    ("other-branch-acknowledged", |bed| {
        bed.write_slot(&Slot {
            event: EventId([7; 32]),
            ..bed.slot()
        });
    }),
    ("garbage-after-the-end", |bed| {
        bed.change(&bed.last(), |bytes| bytes.extend_from_slice(&[0xa5; 300]));
    }),
    ("garbage-after-an-older-segment", |bed| {
        bed.change(&bed.segments()[1], |bytes| {
            bytes.extend_from_slice(&[0xa5; 300]);
        });
    }),
    ("zeros-after-the-end", |bed| {
        bed.change(&bed.last(), |bytes| bytes.extend_from_slice(&[0; 4_096]));
    }),
    ("doubled-block", |bed| {
        bed.change_record((1, 1), |bytes, start, end| {
            let block = bytes[start..end].to_vec();
            bytes.splice(end..end, block);
        });
    }),
    ("doubled-end", |bed| {
        bed.change(&bed.last(), |bytes| {
            let last = *records(bytes).last().expect("a record");
            let block = bytes[last.0..last.1].to_vec();
            bytes.extend_from_slice(&block);
        });
    }),
    ("upper-case-folder", |bed| {
        let chain = bed.chain(bed.origin);
        let upper = bed.origin.to_string().to_uppercase();
        fs::rename(&chain, chain.with_file_name(upper)).expect("renamed");
    }),
    ("segment-is-a-link", |bed| {
        let path = bed.segments()[1].clone();
        let kept = bed.dir.join("torn/kept-1.torn");
        fs::create_dir_all(bed.dir.join("torn")).expect("created");
        fs::rename(&path, &kept).expect("renamed");
        std::os::unix::fs::symlink(&kept, &path).expect("linked");
    }),
    ("segment-is-a-folder", |bed| {
        let path = bed.segments()[1].clone();
        fs::remove_file(&path).expect("removed");
        fs::create_dir(&path).expect("created");
    }),
    ("segment-is-a-pipe", |bed| {
        let path = bed.segments()[1].clone();
        fs::remove_file(&path).expect("removed");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.is_ok_and(|status| status.success()), "a FIFO");
    }),
    ("changed-with-its-checks", |bed| {
        bed.change_record((1, 1), |bytes, start, end| {
            let Parsed::Record(shape) = record::parse(&bytes[start..]) else {
                panic!("a record")
            };
            let original = shape.view(&bytes[start..]);
            let Body::Present { salt, payload } = original.body else {
                panic!("a body")
            };
            let (mut head, salt) = (original.head.to_vec(), salt.first_chunk::<SALT_LEN>());
            flip(&mut head, 100);
            let body = salt.map(|salt| (salt, payload));
            let mut changed = Vec::new();
            record::encode(&mut changed, original.synced, &head, body);
            bytes.splice(start..end, changed);
        });
    }),
    ("newer-segment", |bed| {
        bed.change(&bed.segments()[1], |bytes| {
            (bytes[8], bytes[10]) = (9, 9);
            let check = crc32c::crc32c(&bytes[..60]).to_le_bytes();
            bytes[60..64].copy_from_slice(&check);
            let len = bytes.len();
            flip(bytes, len - 5);
        });
    }),
    ("foreign-chain-cut", |bed| {
        let foreign = bed.learn();
        fs::remove_file(&bed.segments_of(foreign)[2]).expect("removed");
    }),
    ("foreign-chain-flipped", |bed| {
        let foreign = bed.learn();
        bed.change(&bed.segments_of(foreign)[1], |bytes| {
            let record = records(bytes)[1];
            flip(bytes, record.0 + 60);
        });
    }),
    ("foreign-payload", |bed| {
        let foreign = bed.learn();
        bed.change(&bed.segments_of(foreign)[1], |bytes| {
            let record = records(bytes)[1];
            flip(bytes, record.1 - 3);
        });
    }),
    ("foreign-folder-deleted", |bed| {
        let foreign = bed.learn();
        folder::remove(&bed.chain(foreign));
    }),
];
