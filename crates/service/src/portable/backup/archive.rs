//! Reading a backup entry by entry, without trust in any of them.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use icm_log::copy::is_copy_file;
use icm_log::disk::{Disk, DiskFile, OpenMode, RealDisk};
use tar::{Archive, Entry, EntryType};

use super::failed;
use super::manifest::{FILE_LEN_MAX, FileNote, MANIFEST, MANIFEST_LEN_MAX, Manifest, VERSION};
use icm_api::Progress;
use icm_api::error::{Result, ServiceError, plain};

/// The first bytes of a zstd frame.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const CHUNK: usize = 256 * 1_024;

fn bad(file: &Path, why: impl Into<String>) -> ServiceError {
    ServiceError::BadBackup {
        file: file.display().to_string(),
        why: why.into(),
    }
}

/// Reads a whole backup and checks it against its manifest. With `into`, an empty folder, it is also unpacked there.
/// The unpacked files are durable on return.
pub(super) fn read(file: &Path, into: Option<&Path>, progress: &dyn Progress) -> Result<Manifest> {
    // The kind is asked before opening: a pipe without another end would never open.
    let about = std::fs::metadata(file).map_err(failed("opening", file))?;
    if !about.is_file() {
        return Err(ServiceError::invalid_with(
            format!("{} is no file", file.display()),
            "name a file that `icm backup` wrote",
        ));
    }
    let mut input = File::open(file).map_err(failed("opening", file))?;
    let mut magic = [0; 4];
    let is_zstd = input.read_exact(&mut magic).is_ok() && magic == MAGIC;
    if !is_zstd {
        return Err(ServiceError::invalid_with(
            format!("{} is no backup of icm", file.display()),
            "name a file that `icm backup` wrote",
        ));
    }
    progress.start("reading the backup", Some(about.len()));
    let counted = Counted {
        input: io::Cursor::new(magic).chain(input),
        progress,
    };
    let broken = |error: io::Error| bad(file, plain(error));
    let frame = zstd::Decoder::with_buffer(BufReader::with_capacity(CHUNK, counted))
        .map_err(broken)?
        .single_frame();
    let mut archive = Archive::new(frame);
    let mut seen: Vec<FileNote> = Vec::new();
    let mut names = BTreeSet::new();
    let mut manifest: Option<Manifest> = None;
    for entry in archive.entries().map_err(broken)? {
        let mut entry = entry.map_err(broken)?;
        if manifest.is_some() {
            return Err(bad(file, "it goes on after its manifest"));
        }
        let name = name_of(&entry).map_err(|why| bad(file, why))?;
        if name == MANIFEST {
            manifest = Some(read_manifest(&mut entry, file)?);
            continue;
        }
        if !is_copy_file(&name) || !names.insert(name.clone()) {
            return Err(bad(
                file,
                format!("`{}` does not belong there", shown(&name)),
            ));
        }
        if entry.size() > FILE_LEN_MAX {
            return Err(bad(file, format!("`{name}` is too long")));
        }
        seen.push(unpack(&mut entry, name, file, into)?);
    }
    // The end of the frame is read, too: a backup that was cut has none.
    let mut frame = archive.into_inner();
    let mut rest = [0; 4_096];
    loop {
        match frame.read(&mut rest).map_err(broken)? {
            0 => break,
            read if rest[..read].iter().all(|byte| *byte == 0) => {}
            _ => return Err(bad(file, "it goes on after its end")),
        }
    }
    let mut input = frame.finish();
    if input.read(&mut rest[..1]).map_err(broken)? > 0 {
        return Err(bad(file, "it goes on after its end"));
    }
    progress.finish();
    let manifest = manifest.ok_or_else(|| bad(file, "it ends before its manifest"))?;
    if manifest.files != seen {
        return Err(bad(file, "it does not hold what its manifest says"));
    }
    if let Some(dir) = into {
        sync_folders(dir)?;
    }
    Ok(manifest)
}

/// Returns the name of a plain file's entry; any other entry is refused.
fn name_of<R: Read>(entry: &Entry<'_, R>) -> std::result::Result<String, String> {
    let name = String::from_utf8(entry.path_bytes().into_owned());
    let name = name.map_err(|_| "a name in it is not UTF-8".to_owned())?;
    match entry.header().entry_type() {
        EntryType::Regular => Ok(name),
        _ => Err(format!("`{}` is no plain file", shown(&name))),
    }
}

/// Returns the name of an entry, which may come from a stranger, in a form that can be shown.
fn shown(name: &str) -> String {
    let name = icm_guard::sanitize::clean_line(name);
    name[..name.floor_char_boundary(100)].to_owned()
}

fn read_manifest<R: Read>(entry: &mut Entry<'_, R>, file: &Path) -> Result<Manifest> {
    let mut text = Vec::new();
    let read = entry.take(MANIFEST_LEN_MAX + 1).read_to_end(&mut text);
    read.map_err(|error| bad(file, plain(error)))?;
    if text.len() as u64 > MANIFEST_LEN_MAX {
        return Err(bad(file, "its manifest is too long"));
    }
    let value: serde_json::Value =
        serde_json::from_slice(&text).map_err(|_| bad(file, "its manifest cannot be read"))?;
    match value["version"].as_u64() {
        Some(version) if version > u64::from(VERSION) => {
            return Err(ServiceError::NewerFormat {
                what: format!("{} has version {version}", file.display()),
            });
        }
        _ => {}
    }
    serde_json::from_value(value)
        .ok()
        .filter(|manifest: &Manifest| manifest.format == Manifest::FORMAT)
        .ok_or_else(|| bad(file, "its manifest cannot be read"))
}

/// Reads an entry, into a file if a folder is given.
fn unpack<R: Read>(
    entry: &mut Entry<'_, R>,
    name: String,
    file: &Path,
    into: Option<&Path>,
) -> Result<FileNote> {
    let path = into.map(|dir| dir.join(&name));
    let mut out: Option<std::sync::Arc<dyn DiskFile>> = None;
    if let Some(path) = &path {
        let folder = path.parent().unwrap_or(path);
        RealDisk
            .create_dir_all(folder)
            .map_err(failed("creating", folder))?;
        let created = RealDisk.open(path, OpenMode::CreateNew);
        out = Some(created.map_err(failed("creating", path))?);
    }
    let mut hasher = blake3::Hasher::new();
    let mut bytes = 0;
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = entry.read(&mut chunk);
        let read = read.map_err(|error| bad(file, plain(error)))?;
        if read == 0 {
            break;
        }
        hasher.update(&chunk[..read]);
        if let (Some(out), Some(path)) = (&out, &path) {
            out.write_at(&chunk[..read], bytes)
                .map_err(failed("writing", path))?;
        }
        bytes += read as u64;
    }
    if bytes != entry.size() {
        return Err(bad(file, format!("`{name}` is cut")));
    }
    if let (Some(out), Some(path)) = (&out, &path) {
        out.sync().map_err(failed("writing", path))?;
    }
    Ok(FileNote {
        name,
        bytes,
        blake3: hasher.finalize().to_hex().to_string(),
    })
}

/// Makes the names below a folder durable.
fn sync_folders(dir: &Path) -> Result<()> {
    let entries = RealDisk.read_dir(dir).map_err(failed("reading", dir))?;
    for entry in entries.iter().filter(|entry| entry.is_dir) {
        sync_folders(&dir.join(&entry.name))?;
    }
    RealDisk.sync_dir(dir).map_err(failed("syncing", dir))
}

/// A reader that reports its progress.
struct Counted<'p, R> {
    input: R,
    progress: &'p dyn Progress,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.progress.advance(read as u64);
        Ok(read)
    }
}

/// A reader that counts and hashes the bytes on their way into an archive.
pub(super) struct Hashed<R> {
    pub(super) input: R,
    pub(super) hasher: blake3::Hasher,
    pub(super) bytes: u64,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.hasher.update(&buffer[..read]);
        self.bytes += read as u64;
        Ok(read)
    }
}

/// Appends a plain file that only its owner may read.
pub(super) fn append<W: Write>(
    builder: &mut tar::Builder<W>,
    name: &str,
    len: u64,
    mtime_s: u64,
    input: impl Read,
) -> io::Result<FileNote> {
    let mut header = tar::Header::new_ustar();
    header.set_path(name)?;
    header.set_size(len);
    header.set_mode(0o600);
    header.set_mtime(mtime_s);
    header.set_cksum();
    let mut hashed = Hashed {
        input: input.take(len),
        hasher: blake3::Hasher::new(),
        bytes: 0,
    };
    builder.append(&header, &mut hashed)?;
    if hashed.bytes != len {
        return Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            format!("{name} became shorter while it was copied"),
        ));
    }
    Ok(FileNote {
        name: name.to_owned(),
        bytes: len,
        blake3: hashed.hasher.finalize().to_hex().to_string(),
    })
}
