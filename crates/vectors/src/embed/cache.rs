//! The cache of embeddings: vectors by model and text, kept when the views are rebuilt, because embedding is slow.
//!
//! A loss of the cache costs time only. Every error is therefore answered by an empty cache.
//!
//! ```text
//! key:   BLAKE3 of: length of the model's id (8) · the id · the text
//! value: scale (4) · numbers (dim, a signed byte each): as precise as a row of the vector view
//! ```

use std::fs::{self, File, OpenOptions};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use icm_wait::{Deadline, bounds};

/// Bytes of sled's own cache: 8 MiB. A larger value costs memory.
const SLED_CACHE_LEN: u64 = 8 * 1_024 * 1_024;
const DIR: &str = "embeddings";
const LOCK: &str = "lock";
/// Part of sled's message for a busy lock, for which it has no error of its own.
const SLED_IS_LOCKED: &str = "could not acquire lock";

/// The open cache of one store. One process has it at a time.
pub struct Cache {
    db: sled::Db,
    dir: PathBuf,
    /// Held for its lock: sled reports a busy lock and damage in the same way.
    _lock: File,
}

impl Cache {
    /// Opens the cache below `dir`. Returns `None` if another process has it, or if no cache can be kept there.
    pub fn open(dir: &Path) -> Option<Cache> {
        let lock = lock(dir).ok()??;
        let path = dir.join(DIR);
        // With the lock held, only a cache that this process is still closing can have sled's own lock.
        let opened = icm_wait::until(Deadline::after(bounds::MOMENT), || match open(&path) {
            Err(why) if why.contains(SLED_IS_LOCKED) => None,
            opened => Some(opened),
        });
        let db = opened.unwrap_or_else(|| Err(SLED_IS_LOCKED.to_owned()));
        let db = db.or_else(|why| {
            if why == SLED_IS_LOCKED {
                return Err(why);
            }
            tracing::debug!(%why, "the cache of embeddings begins anew");
            remove(&path)?;
            open(&path)
        });
        match db {
            Ok(db) => Some(Cache {
                db,
                dir: path,
                _lock: lock,
            }),
            Err(why) => {
                tracing::debug!(%why, "there is no cache of embeddings");
                None
            }
        }
    }

    /// Returns the vectors of texts by a model, `None` for each text that is not cached.
    pub fn get(&self, model: &str, dim: usize, texts: &[&str]) -> Vec<Option<Vec<f32>>> {
        let look = || {
            let mut known = Vec::with_capacity(texts.len());
            for text in texts {
                let found = self.db.get(key(model, text)).map_err(|e| e.to_string())?;
                known.push(found.and_then(|bytes| decode(&bytes, dim)));
            }
            Ok(known)
        };
        match guarded(look) {
            Ok(known) => known,
            Err(why) => {
                tracing::debug!(why, "the cache of embeddings cannot be read");
                vec![None; texts.len()]
            }
        }
    }

    /// Stores the vectors of texts by a model.
    pub fn put<'t>(&self, model: &str, vectors: impl Iterator<Item = (&'t str, &'t [f32])>) {
        let keep = || {
            let mut batch = sled::Batch::default();
            for (text, vector) in vectors {
                batch.insert(&key(model, text)[..], encode(vector));
            }
            self.db.apply_batch(batch).map_err(|e| e.to_string())?;
            self.db.flush().map_err(|e| e.to_string())
        };
        if let Err(why) = guarded(keep) {
            tracing::debug!(why, "vectors were not kept");
        }
    }

    /// Removes the cache below `dir`.
    pub fn wipe_in(dir: &Path) -> io::Result<()> {
        match fs::remove_dir_all(dir.join(DIR)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns a vector as [`Cache::get`] would return it after [`Cache::put`].
    pub fn rounded(vector: &[f32]) -> Vec<f32> {
        decode(&encode(vector), vector.len()).unwrap_or_else(|| vector.to_vec())
    }

    /// Returns `true` if the files of the cache still exist. A redaction removes them.
    pub fn is_there(&self) -> bool {
        self.dir.is_dir()
    }
}

/// Returns the locked lock file of the cache; `None` if another process has the lock.
fn lock(dir: &Path) -> io::Result<Option<File>> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(dir.join(LOCK))?;
    Ok(file.try_lock().is_ok().then_some(file))
}

fn open(path: &Path) -> Result<sled::Db, String> {
    guarded(|| {
        let config = sled::Config::new()
            .path(path)
            .cache_capacity(SLED_CACHE_LEN)
            .flush_every_ms(None);
        config.open().map_err(|error| error.to_string())
    })
}

fn remove(path: &Path) -> Result<(), String> {
    let removed = match path.symlink_metadata() {
        Err(error) => Err(error),
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.to_string()),
        _ => Ok(()),
    }
}

/// Runs `run` and turns a panic into an error: sled panics on some damage.
fn guarded<T>(run: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err("it panicked".to_owned()))
}

fn key(model: &str, text: &str) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(model.len() as u64).to_le_bytes());
    hasher.update(model.as_bytes());
    hasher.update(text.as_bytes());
    *hasher.finalize().as_bytes()
}

fn encode(vector: &[f32]) -> Vec<u8> {
    let max = vector.iter().fold(0.0_f32, |max, x| max.max(x.abs()));
    let scale = max / 127.0;
    let mut bytes = scale.to_le_bytes().to_vec();
    let number = |x: &f32| match scale > 0.0 {
        true => (x / scale).round() as i8,
        false => 0,
    };
    bytes.extend(vector.iter().map(|x| number(x).cast_unsigned()));
    bytes
}

/// Returns the vector, scaled to length 1 again (or zero); `None` if the bytes hold no vector of this dimension.
fn decode(bytes: &[u8], dim: usize) -> Option<Vec<f32>> {
    let (scale, numbers) = bytes.split_first_chunk::<4>()?;
    let scale = f32::from_le_bytes(*scale);
    if numbers.len() != dim || !scale.is_finite() {
        return None;
    }
    let vector = numbers
        .iter()
        .map(|byte| f32::from(byte.cast_signed()) * scale);
    let mut vector: Vec<f32> = vector.collect();
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x /= length);
    }
    Some(vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(seed: u32) -> Vec<f32> {
        let numbers = (0..32_u32).map(|i| ((i * 7 + seed * 13) % 23) as f32 - 11.0);
        let mut vector: Vec<f32> = numbers.collect();
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter_mut().for_each(|x| *x /= length);
        vector
    }

    fn kept(cache: &Cache, seed: u32) -> bool {
        let text = format!("text {seed}");
        let known = cache.get("m", 32, &[&text]);
        let known = known[0].as_ref();
        if let Some(known) = known {
            let cosine: f32 = known.iter().zip(vector(seed)).map(|(a, b)| a * b).sum();
            assert!(cosine > 0.999, "{cosine}");
        }
        known.is_some()
    }

    fn fill(cache: &Cache) {
        for seed in 0..200 {
            let (text, vector) = (format!("text {seed}"), vector(seed));
            cache.put("m", [(text.as_str(), vector.as_slice())].into_iter());
        }
    }

    #[test]
    fn cached_vectors_come_back_only_for_their_model_and_dimension() {
        let dir = tempfile::tempdir().expect("a folder");
        let cache = Cache::open(dir.path()).expect("it opens");
        fill(&cache);
        drop(cache);
        let cache = Cache::open(dir.path()).expect("it opens again");
        assert!((0..200).all(|seed| kept(&cache, seed)) && !kept(&cache, 200));
        assert_eq!(cache.get("other", 32, &["text 1"]), [None]);
        assert_eq!(cache.get("m", 31, &["text 1"]), [None]);
        let zero = vec![0.0; 32];
        cache.put("m", [("", zero.as_slice())].into_iter());
        assert_eq!(cache.get("m", 32, &[""]), [Some(zero)]);
    }

    /// A vector that was rounded equals the vector that was cached.
    #[test]
    fn a_rounded_vector_is_what_comes_back() {
        let dir = tempfile::tempdir().expect("a folder");
        let cache = Cache::open(dir.path()).expect("it opens");
        for seed in 0..50 {
            let (text, vector) = (format!("text {seed}"), vector(seed));
            let rounded = Cache::rounded(&vector);
            assert_ne!(rounded, vector);
            cache.put("m", [(text.as_str(), vector.as_slice())].into_iter());
            assert_eq!(cache.get("m", 32, &[&text]), [Some(rounded)]);
        }
    }

    #[test]
    fn one_process_has_it_at_a_time() {
        let dir = tempfile::tempdir().expect("a folder");
        let cache = Cache::open(dir.path()).expect("it opens");
        fill(&cache);
        assert!(Cache::open(dir.path()).is_none());
        drop(cache);
        let cache = Cache::open(dir.path()).expect("it opens again");
        assert!(kept(&cache, 7));
    }

    #[test]
    fn a_damaged_one_begins_anew() {
        for damage in 0..6 {
            let dir = tempfile::tempdir().expect("a folder");
            fill(&Cache::open(dir.path()).expect("it opens"));
            let path = dir.path().join(DIR);
            let files: Vec<PathBuf> = (fs::read_dir(&path).expect("a folder"))
                .filter_map(|entry| Some(entry.ok()?.path()))
                .filter(|path| path.is_file())
                .collect();
            assert!(!files.is_empty());
            for file in &files {
                let mut bytes = fs::read(file).expect("it reads");
                match damage {
                    0 => bytes.clear(),
                    1 => bytes.truncate(bytes.len() / 2),
                    2 => bytes.iter_mut().for_each(|byte| *byte ^= 0xa5),
                    3 => bytes.iter_mut().step_by(97).for_each(|byte| *byte = 0),
                    4 => bytes.iter_mut().take(64).for_each(|byte| *byte = 0xff),
                    _ => bytes = b"not a database".to_vec(),
                }
                fs::write(file, bytes).expect("it writes");
            }
            if damage == 5 {
                fs::remove_dir_all(&path).expect("removed");
                fs::write(&path, "a file").expect("it writes");
            }
            let cache = Cache::open(dir.path()).expect("it opens");
            // The vectors that survived the damage are right, and the cache takes new ones.
            let _ = (0..200).filter(|seed| kept(&cache, *seed)).count();
            fill(&cache);
            assert!((0..200).all(|seed| kept(&cache, seed)), "damage {damage}");
        }
    }
}
