//! Vectors of a model that is not built in: a view that lags behind, because they are dear.
//!
//! A process that has the model asks for the versions without a vector ([`Views::unembedded`]), embeds them in
//! its own time, and hands the vectors in ([`Views::add_vectors`]). Until then a version is found by its words
//! and by the built-in model.
//!
//! The rows of the checkpoint go into a file of the generation, a row a passage, from 0 and without
//! gaps; those of the tail stay in memory. Who appends holds the lock beside the file and notes how the
//! file looks afterwards. One that looks otherwise is read whole, and its rows count up to the first
//! that is not as it should be: what is lost is made again.
//!
//! A model that embeds whole texts has rows of passages, too. The first passage of a version has the vector of the
//! whole text, the further ones have zeros. So rows, checkpoints and commits are the same for both.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::files::{MODELS_DIR, create_private};
use super::generations::lock_file;
use super::manifest::Note;
use super::meaning::Cosines;
use super::{Place, Views};
use crate::error::{Result, io};
use icm_log::Rewritten;
use icm_vectors::{Matrix, MatrixWriter};
use icm_wait::bounds;
use serde::{Deserialize, Serialize};

/// Texts that a model's floor is worked out by, at most and at least.
const SCALE_TEXTS_MAX: u64 = 32;
const SCALE_TEXTS_MIN: usize = 8;

/// The texts of a version that a model embeds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Embeds {
    /// Each passage by itself.
    #[default]
    Passages,
    /// The text as a whole, of which the model reads as much of the beginning as it can.
    Texts,
}

impl Embeds {
    /// Returns the words for one of these texts and for several.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Embeds::Passages => ("passage", "passages"),
            Embeds::Texts => ("text", "texts"),
        }
    }
}

/// The name of a model's vectors, and how many numbers they have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelId<'a> {
    /// The name of the vectors. Two models have two names, and so has one model for the two values of [`Embeds`].
    pub name: &'a str,
    /// As [`Embedder::dim`](icm_vectors::embed::Embedder::dim).
    pub dim: usize,
    /// The texts that the vectors are of.
    pub embeds: Embeds,
}

/// Texts that a model has no vectors of yet, in the order in which they have to come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unembedded {
    /// The texts; empty for a version without one.
    pub texts: Vec<String>,
    /// The number of the first passage or version, see [`Embeds`].
    first: u64,
    /// Numbers of passages mean something within a generation only,
    generation: Option<PathBuf>,
    /// which a redaction begins to count anew.
    rewritten: Rewritten,
}

/// How far a model is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Embedded {
    /// Texts with a vector: passages or versions, see [`Embeds`].
    pub done: u64,
    /// Texts.
    pub of: u64,
    /// Versions that lack a vector of their text, or of one of their passages.
    pub versions_left: u64,
}

/// The vectors of the model that was last asked for.
#[derive(Default)]
pub(super) struct Models(Mutex<Option<Held>>);

impl Models {
    fn locked(&self) -> MutexGuard<'_, Option<Held>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a copy, which does not see what the other ones take in later.
    pub(super) fn copied(&self) -> Models {
        Models(Mutex::new(self.locked().clone()))
    }
}

#[derive(Clone)]
struct Held {
    model: String,
    embeds: Embeds,
    /// The rows of the file.
    file: Arc<Matrix>,
    /// Those after them, in memory.
    fresh: Arc<Matrix>,
    /// How near unrelated texts are by it, and of how many rows that is (up to a power of 2).
    unrelated: Option<(u64, f64)>,
}

impl Held {
    fn count(&self) -> u64 {
        self.file.count() + self.fresh.count()
    }

    fn is_of(&self, model: ModelId<'_>) -> bool {
        self.model == model.name && self.file.dim() == model.dim
    }

    /// The mean cosine of pairs of texts among the first `rows`; 0 of too few texts.
    fn unrelated(&self, rows: u64) -> f64 {
        let step = rows.div_ceil(SCALE_TEXTS_MAX).max(1);
        let vector = |row| (self.file.vector(row)).or_else(|| self.fresh.vector(row));
        // Rows of zeros are passed over. A store of long texts that are embedded whole has many.
        let vectors = (0..rows)
            .step_by(step as usize)
            .filter_map(|start| (start..rows.min(start + step)).find_map(vector));
        let vectors: Vec<Vec<f32>> = vectors.collect();
        match vectors.len() >= SCALE_TEXTS_MIN {
            true => mean_cosine(&vectors),
            false => 0.0,
        }
    }

    /// Takes the rows of the file anew; what memory has beyond them stays.
    fn take(&mut self, file: Matrix, model: ModelId<'_>) {
        let mut fresh = no_rows(model);
        // Behind a gap they are of no use.
        if self.file.count() <= file.count() {
            fresh.extend_between(&self.fresh, file.count(), u64::MAX);
        }
        self.fresh = Arc::new(fresh);
        self.file = Arc::new(file);
    }
}

/// The files of a model within a generation.
struct Files {
    dir: PathBuf,
    rows: PathBuf,
    note: PathBuf,
    lock: PathBuf,
}

impl Files {
    fn of(generation: &Path, model: ModelId<'_>) -> Files {
        let dir = generation.join(MODELS_DIR);
        // A model may be called anything.
        let name = &blake3::hash(model.name.as_bytes()).to_hex()[..16];
        let path = |kind: &str| dir.join(format!("{name}.{kind}"));
        Files {
            rows: path("rows"),
            note: path("note"),
            lock: path("lock"),
            dir,
        }
    }

    /// The rows that count, at most `most`.
    fn open(&self, model: ModelId<'_>, most: u64) -> Result<Matrix> {
        let len = fs::metadata(&self.rows)
            .map_err(io("reading", &self.rows))?
            .len();
        let in_file = Matrix::count_in(len, model.dim);
        let noted = Note::read(&self.note, &self.rows).filter(|count| *count <= in_file);
        let rows = |count| Matrix::open(&self.rows, model.name, model.dim, count);
        let count = match noted {
            Some(count) => count,
            None => rows(in_file)?.whole_prefix(),
        };
        Ok(rows(count.min(most))?)
    }
}

fn no_rows(model: ModelId<'_>) -> Matrix {
    Matrix::in_memory(model.name, model.dim)
}

impl Views {
    fn model_files(&self, model: ModelId<'_>) -> Option<Files> {
        match &self.files.place {
            Place::Memory { .. } => None,
            Place::Disk { generation, .. } => Some(Files::of(generation, model)),
        }
    }

    /// Forgets a file that is shorter than what is mapped of it: to read on would end the process.
    fn drop_what_was_cut(&self, model: ModelId<'_>) {
        let Some(files) = self.model_files(model) else {
            return;
        };
        let mut held = self.models.locked();
        let mapped = held.as_ref().filter(|held| held.is_of(model));
        let rows = mapped.map_or(0, |held| held.file.count());
        let len = fs::metadata(&files.rows).map_or(0, |found| found.len());
        if rows > 0 && Matrix::count_in(len, model.dim) < rows && files.rows.exists() {
            *held = None;
        }
    }

    /// The vectors of a model, read at the first call.
    fn held(&self, model: ModelId<'_>) -> Held {
        let mut kept = self.models.locked();
        if let Some(held) = kept.as_ref().filter(|held| held.is_of(model)) {
            return held.clone();
        }
        let most = self.files.base.passages;
        let opened = self.model_files(model).map(|files| files.open(model, most));
        let file = match opened {
            Some(Ok(rows)) => rows,
            Some(Err(error)) => {
                tracing::debug!(%error, model = model.name, "there are no vectors yet");
                no_rows(model)
            }
            None => no_rows(model),
        };
        let held = Held {
            model: model.name.to_owned(),
            embeds: model.embeds,
            file: Arc::new(file),
            fresh: Arc::new(no_rows(model)),
            unrelated: None,
        };
        kept.insert(held).clone()
    }

    /// Returns the progress of a model.
    pub fn embedded(&self, model: ModelId<'_>) -> Embedded {
        self.embedded_by(model.embeds, self.held(model).count())
    }

    /// Returns the progress of a model with so many rows.
    fn embedded_by(&self, embeds: Embeds, rows: u64) -> Embedded {
        let (passages, versions) = (self.tail.next_passage(), self.tally().next_ordinal);
        let whole_versions = self.tail.passages.version(rows.min(passages)).0;
        let (done, of) = match embeds {
            Embeds::Passages => (rows.min(passages), passages),
            Embeds::Texts => (whole_versions, versions),
        };
        Embedded {
            done,
            of,
            versions_left: versions.saturating_sub(whole_versions),
        }
    }

    /// Returns the number of passages.
    pub fn passages(&self) -> u64 {
        self.tail.next_passage()
    }

    /// Whether the vectors of the checkpoint are in a file, as far as there are any.
    pub fn keeps_vectors(&self, model: ModelId<'_>) -> bool {
        let held = self.held(model);
        let wanted = held.count().min(self.files.base.passages);
        held.file.count() >= wanted
    }

    /// The next texts, at most `most`, that a model has no vectors of. Takes over what another process
    /// has written meanwhile.
    ///
    /// # Errors
    /// If the table cannot be read.
    pub fn unembedded(&self, model: ModelId<'_>, most: usize) -> Result<Unembedded> {
        self.take_over(model);
        let embedded = self.embedded(model);
        let (first, most) = (embedded.done, most as u64);
        let next = first..embedded.of.min(first.saturating_add(most));
        Ok(Unembedded {
            texts: match model.embeds {
                Embeds::Passages => self.texts(next)?,
                Embeds::Texts => self.whole_texts(next)?,
            },
            first,
            generation: self.generation(),
            rewritten: self.files.rewritten.clone(),
        })
    }

    pub(super) fn generation(&self) -> Option<PathBuf> {
        match &self.files.place {
            Place::Memory { .. } => None,
            Place::Disk { generation, .. } => Some(generation.clone()),
        }
    }

    /// Takes the vectors of texts that [`Views::unembedded`] gave, one a text; those that are there by
    /// now, or belong to another generation, are left out.
    ///
    /// # Panics
    /// If there are not as many vectors as texts, or they have another dimension than the model.
    pub fn add_vectors(&self, model: ModelId<'_>, of: &Unembedded, vectors: &[Vec<f32>]) {
        assert_eq!(vectors.len(), of.texts.len(), "a vector a text");
        if (&of.generation, &of.rewritten) != (&self.generation(), &self.files.rewritten) {
            return;
        }
        self.held(model);
        if let Some(held) = self.models.locked().as_mut() {
            let zeros = vec![0.0; model.dim];
            for (text, vector) in (of.first..).zip(vectors) {
                let rows = self.rows_of(model.embeds, text);
                for row in rows.clone() {
                    let vector = if row == rows.start { vector } else { &zeros };
                    if row == held.count() {
                        Arc::make_mut(&mut held.fresh).push(row, vector);
                    }
                }
            }
        }
        self.write_vectors(model);
    }

    /// Returns the rows of a text that is embedded.
    fn rows_of(&self, embeds: Embeds, text: u64) -> Range<u64> {
        match embeds {
            Embeds::Passages => text..text + 1,
            Embeds::Texts => self.tail.passages.of(text),
        }
    }

    /// Takes over rows that another process has written since the file was read.
    pub(super) fn take_over(&self, model: ModelId<'_>) {
        self.drop_what_was_cut(model);
        self.held(model);
        let Some(files) = self.model_files(model) else {
            return;
        };
        let mut held = self.models.locked();
        let Some(held) = held.as_mut().filter(|held| held.is_of(model)) else {
            return;
        };
        let most = self.files.base.passages;
        let count = held.file.count();
        // Longer than what is known of it: otherwise there is nothing to gain.
        let grown = Note::read(&files.note, &files.rows).is_some_and(|noted| noted > count);
        if count < most
            && grown
            && let Ok(rows) = files.open(model, most)
        {
            held.take(rows, model);
        }
    }

    /// Brings the rows of the checkpoint that only memory has into the file, if it can be written:
    /// otherwise they stay where they are.
    pub(super) fn write_vectors(&self, model: ModelId<'_>) {
        let Some(files) = self.model_files(model) else {
            return;
        };
        let mut held = self.models.locked();
        let Some(held) = held.as_mut().filter(|held| held.is_of(model)) else {
            return;
        };
        if let Err(error) = write(&files, held, model, self.files.base.passages) {
            tracing::debug!(%error, model = model.name, "vectors were not written");
        }
    }

    /// Writes the vectors of all versions up to the checkpoint, of whichever model there are rows.
    pub(super) fn write_held_vectors(&self) {
        let held = self.models.locked().clone();
        if let Some(held) = held {
            self.write_vectors(ModelId {
                name: &held.model,
                dim: held.file.dim(),
                embeds: held.embeds,
            });
        }
    }

    /// The scale of a model's cosines. Models differ widely there; by some any two texts are nearer than 0.7. Of fewer texts
    /// than [`SCALE_TEXTS_MIN`] they are taken as they are.
    pub(super) fn model_scale(&self, model: ModelId<'_>) -> CosineScale {
        // A function of what is there, whoever asked when: of the first rows, as many as a power of two.
        let held = self.held(model);
        let rows = match held.count() {
            0 => 0,
            count => 1 << count.ilog2(),
        };
        let known = held.unrelated;
        let unrelated = match known {
            Some((of, unrelated)) if of == rows => unrelated,
            _ => held.unrelated(rows),
        };
        if let Some(held) = (self.models.locked().as_mut()).filter(|held| held.is_of(model)) {
            held.unrelated = Some((rows, unrelated));
        }
        CosineScale { unrelated }
    }

    /// Returns the cosines of a query by a model, the number of the model's rows, and its progress.
    pub(super) fn model_cosines(
        &self,
        model: ModelId<'_>,
        query: &[f32],
    ) -> (Cosines<'_>, u64, Embedded) {
        let held = self.held(model);
        let rows = held.count();
        let embedded = self.embedded_by(model.embeds, rows);
        let centre = vec![0.0; query.len()];
        let cosines = Cosines::new(held.file, None, vec![held.fresh], &centre, query);
        (cosines, rows, embedded)
    }
}

/// Removes whatever lies in the place of a folder or file of ours and is none.
fn make_way(path: &Path, is_dir: bool) -> Result<()> {
    let gone = match path.symlink_metadata() {
        Ok(found) if is_dir && found.is_dir() || !is_dir && found.is_file() => return Ok(()),
        Err(_) => return Ok(()),
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    };
    gone.map_err(io("removing", path))
}

fn write(files: &Files, held: &mut Held, model: ModelId<'_>, until: u64) -> Result<()> {
    if held.file.count() >= until || held.fresh.count() == 0 {
        return Ok(());
    }
    for (path, is_dir) in [
        (&files.dir, true),
        (&files.rows, false),
        (&files.note, false),
    ] {
        make_way(path, is_dir)?;
    }
    create_private(&files.dir)?;
    let _lock = lock_file(&files.lock, bounds::MOMENT)?;
    let there = match files.open(model, until) {
        Ok(rows) => rows,
        Err(_) => {
            MatrixWriter::create(&files.rows, model.name, model.dim)?;
            Matrix::open(&files.rows, model.name, model.dim, 0)?
        }
    };
    if there.count() < held.file.count() {
        // Rows in memory do not follow on what is left of the file.
        held.take(there, model);
        return Ok(());
    }
    if there.count() >= until {
        // Somebody else has written them, and perhaps more than is known here.
        held.take(there, model);
        return Ok(());
    }
    let mut new = no_rows(model);
    new.extend_between(&held.fresh, there.count(), until);
    let mut writer = MatrixWriter::open(&files.rows, model.name, model.dim, there.count())?;
    writer.append_all(&new)?;
    let count = writer.flush()?;
    Note::write(&files.note, &files.rows, count)?;
    held.take(files.open(model, until)?, model);
    Ok(())
}

/// How near texts are by a model that have nothing to do with one another: the mean cosine of pairs of texts of the store.
#[derive(Debug, Clone, Copy)]
pub(super) struct CosineScale {
    unrelated: f64,
}

impl CosineScale {
    /// A cosine as the share of the way from there to 1.
    pub(super) fn share(&self, cosine: f64) -> f64 {
        (cosine - self.unrelated) / (1.0 - self.unrelated).max(f64::EPSILON)
    }
}

/// Of all pairs of some vectors.
fn mean_cosine(vectors: &[Vec<f32>]) -> f64 {
    let (mut sum, mut pairs) = (0.0, 0);
    for (at, a) in vectors.iter().enumerate() {
        for b in &vectors[..at] {
            sum += f64::from(a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>());
            pairs += 1;
        }
    }
    sum / f64::from(pairs.max(1))
}
