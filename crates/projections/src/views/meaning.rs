//! The vectors of passages: in a file of the generation, and those of the tail in memory.
//!
//! The file is a view of its own, made from table and rows alone. If the file is missing or was changed, the first
//! reader who needs it makes it anew. A row belongs to its passage within the generation of its file.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::files::{VECTORS_DIR, create_private};
use super::generations::Home;
use super::manifest::{Manifest, Part};
use super::parts::parts;
use super::walk::each_filed;
use super::{Place, VERSIONS, Views};
use crate::error::{Result, ViewError, io};
use crate::fold::Overlay;
use crate::passages::Passages;
use crate::rows::Rows;
use crate::table::Table;
use icm_text::Growing;
use icm_vectors::embed::{Embedder, StaticEmbedder};
use icm_vectors::{Centred, Graph, Matrix, MatrixWriter, Query, Searched};
use icm_wait::bounds;

/// Returns the built-in embedder.
pub(super) fn embedder() -> &'static StaticEmbedder {
    static EMBEDDER: OnceLock<StaticEmbedder> = OnceLock::new();
    EMBEDDER.get_or_init(StaticEmbedder::built_in)
}

fn no_rows() -> Matrix {
    Matrix::in_memory(embedder().model(), embedder().dim())
}

/// Returns the file's name within a generation, and its path.
pub(super) fn file_in(generation: &Path) -> (String, PathBuf) {
    let name = format!("{VECTORS_DIR}/{}", embedder().model());
    let path = generation.join(&name);
    (name, path)
}

/// Opens the file's rows, if the file has its noted stamp and at least `count` rows.
fn open(generation: &Path, manifest: &Manifest, count: u64) -> Result<Matrix> {
    let (name, path) = file_in(generation);
    let bad = |why: &str| ViewError::Unusable {
        view: "vectors",
        why: format!("{name} {why}"),
    };
    if !manifest.file_looks_same(generation, &name) {
        return Err(bad("is missing or was changed"));
    }
    let len = std::fs::metadata(&path)
        .map_err(io("reading", &path))?
        .len();
    if Matrix::count_in(len, embedder().dim()) < count {
        return Err(bad("has too few rows"));
    }
    Ok(Matrix::open(
        &path,
        embedder().model(),
        embedder().dim(),
        count,
    )?)
}

/// Checks that the file has its noted stamp and that every row is whole.
pub(super) fn check(generation: &Path, manifest: &Manifest, count: u64) -> Result<()> {
    Ok(open(generation, manifest, count)?.check()?)
}

/// Checks that there is a usable file; with `whole` also every row.
pub(super) fn inspect(generation: &Path, count: u64, whole: bool) -> Result<()> {
    let (_, path) = file_in(generation);
    let rows = Matrix::open(&path, embedder().model(), embedder().dim(), count)?;
    match whole {
        true => Ok(rows.check()?),
        false => Ok(()),
    }
}

/// Removes the file unless its first `count` rows are whole; it is then made anew.
pub(super) fn keep_whole(generation: &Path, count: u64) {
    if let Err(error) = inspect(generation, count, true) {
        tracing::debug!(%error, "vectors are to be made anew");
        // If the removal fails, each row still has its check.
        let _ = std::fs::remove_file(file_in(generation).1);
    }
}

/// Creates a new file in place of any other.
fn create(generation: &Path) -> Result<MatrixWriter> {
    create_private(&generation.join(VECTORS_DIR))?;
    let (_, path) = file_in(generation);
    Ok(MatrixWriter::create(
        &path,
        embedder().model(),
        embedder().dim(),
    )?)
}

/// Collects the rows of a generation that is being built.
pub(super) enum Sink {
    File(MatrixWriter),
    Memory(Matrix),
}

impl Sink {
    /// Creates a new file in place of any other.
    pub(super) fn create(generation: &Path) -> Result<Sink> {
        create(generation).map(Sink::File)
    }

    pub(super) fn in_memory() -> Sink {
        Sink::Memory(no_rows())
    }

    /// Adds the next passage. It is embedded by its text alone; topic and keywords are words to be matched.
    pub(super) fn add(&mut self, passage: u64, text: &str) -> Result<()> {
        let vector = embed_text(text);
        match self {
            Sink::File(writer) => Ok(writer.append(passage, &vector)?),
            Sink::Memory(rows) => {
                rows.push(passage, &vector);
                Ok(())
            }
        }
    }

    /// Ends the file; returns the rows if they are in memory.
    pub(super) fn end(self) -> Result<OnceLock<Arc<Matrix>>> {
        Ok(match self {
            Sink::File(mut writer) => {
                writer.flush()?;
                OnceLock::new()
            }
            Sink::Memory(rows) => OnceLock::from(Arc::new(rows)),
        })
    }
}

/// Rows of one matrix of the tail: 128. A growing copy copies the last matrix, so a larger value copies more.
const TAIL_ROWS: u64 = 128;

/// The vectors of the tail. They are made at first use, so that no store waits for them.
#[derive(Default, Clone)]
pub(super) struct TailVectors(Growing<OfTail>);

#[derive(Default, Clone)]
struct OfTail {
    /// The number of versions of the tail, from the first on, that are embedded.
    versions: usize,
    rows: Vec<Arc<Matrix>>,
}

impl OfTail {
    fn add(&mut self, passage: u64, text: &str) {
        if self
            .rows
            .last()
            .is_none_or(|part| part.count() >= TAIL_ROWS)
        {
            self.rows.push(Arc::new(no_rows()));
        }
        if let Some(last) = self.rows.last_mut() {
            Arc::make_mut(last).push(passage, &embed_text(text));
        }
    }
}

impl TailVectors {
    /// Returns the vectors of the passages since the checkpoint.
    pub(super) fn of(&self, overlay: &Overlay, passages: &Passages) -> &[Arc<Matrix>] {
        let so_far = self.0.get(|so_far| {
            for (ordinal, entity, from) in overlay.opened.focus().narrow(so_far.versions..) {
                let version = overlay
                    .version_from(*entity, *from)
                    .expect("every ordinal given belongs to a version of the overlay");
                for (passage, part) in passages.of(*ordinal).zip(parts(version)) {
                    so_far.add(passage, &version.meaning_of(&part));
                }
            }
            so_far.versions = overlay.opened.len();
        });
        &so_far.rows
    }

    /// Appends them to the file of a generation that has the first `count` rows.
    pub(super) fn flush(
        &self,
        (overlay, passages): (&Overlay, &Passages),
        generation: &Path,
        count: u64,
    ) -> Result<()> {
        let (_, path) = file_in(generation);
        let (model, dim) = (embedder().model(), embedder().dim());
        let mut writer = MatrixWriter::open(&path, model, dim, count)?;
        for part in self.of(overlay, passages) {
            writer.append_all(part)?;
        }
        Ok(writer.flush().map(|_| ())?)
    }

    /// Continues in the next snapshot, whose events may open more versions.
    pub(super) fn go_on(&mut self) {
        self.0.grow_on();
    }
}

impl Views {
    /// Returns the vectors up to the checkpoint. If their file is missing or was changed, they are embedded again, and
    /// the file is written if possible.
    pub(super) fn base_vectors(&self) -> Result<&Arc<Matrix>> {
        if let Some(rows) = self.files.vectors.get() {
            return Ok(rows);
        }
        let count = self.files.base.passages;
        let rows = match &self.files.place {
            Place::Memory { .. } => embed_all(self.table()?, &self.files.rows)?,
            Place::Disk {
                home,
                generation,
                manifest,
            } => match open(generation, manifest, count) {
                Ok(rows) => rows,
                Err(error) => {
                    tracing::debug!(%error, "vectors are looked at again");
                    self.mend_vectors(home, generation, count)?
                }
            },
        };
        Ok(self.files.vectors.get_or_init(|| Arc::new(rows)))
    }

    fn mend_vectors(&self, home: &Home, generation: &Path, count: u64) -> Result<Matrix> {
        // Another process may have committed, or mended the vectors, since the manifest was read.
        let again = || {
            let _lock = home.lock_shared(bounds::PEER)?;
            open(generation, &Manifest::read(generation, VERSIONS)?, count)
        };
        if let Ok(rows) = again() {
            return Ok(rows);
        }
        let rows = embed_all(self.table()?, &self.files.rows)?;
        let write = || -> Result<Matrix> {
            let _lock = home.lock(bounds::PEER)?;
            let mut manifest = Manifest::read(generation, VERSIONS)?;
            if !self.look_same(Part::Table) {
                return Err(ViewError::Busy);
            }
            let mut writer = create(generation)?;
            writer.append_all(&rows)?;
            writer.flush()?;
            manifest.note(generation, &file_in(generation).0)?;
            manifest.write(generation)?;
            open(generation, &manifest, count)
        };
        match write() {
            Ok(written) => Ok(written),
            Err(error) => {
                tracing::debug!(%error, "vectors were not written; they are kept in memory");
                Ok(rows)
            }
        }
    }
}

/// Returns the vectors of every passage in the files.
fn embed_all(table: &Table, rows: &Rows) -> Result<Matrix> {
    let mut sink = no_rows();
    each_filed(table, rows, 0..rows.count(), &mut |_, _, version| {
        for part in parts(&version) {
            sink.push(sink.count(), &embed_text(&version.meaning_of(&part)));
        }
        Ok(())
    })?;
    Ok(sink)
}

/// Returns the vector of a query.
pub(super) fn embed_text(text: &str) -> Vec<f32> {
    embedder().embed_one(text)
}

/// Everyday sentences for the common part of all texts in the built-in model: their mean is subtracted before a cosine
/// ranks. It is fixed with the model, so that it is the same for every store.
const COMMON: [&str; 24] = [
    "The release was moved to next week.",
    "We decided to keep the old format for now.",
    "She called yesterday and asked about the invoice.",
    "The tests fail when the database is not running.",
    "Use the smaller image for the build.",
    "My brother is going to visit us in the summer.",
    "The server answers on another port.",
    "It was good to see you again, how have you been?",
    "This function returns an error if the file is missing.",
    "The customer wants a refund for the second order.",
    "They went hiking and took a lot of photos.",
    "The key has to be changed every three months.",
    "I have been learning to play the guitar.",
    "Logs are kept for thirty days.",
    "Please write the summary before the meeting.",
    "The new office is near the station.",
    "He prefers tea in the morning.",
    "The report counts each user once.",
    "A warning is printed and the work goes on.",
    "Her dog likes the park behind the school.",
    "The team voted for the first proposal.",
    "Retries wait longer each time.",
    "The price went up at the beginning of the year.",
    "You can find the settings in the second menu.",
];

/// Returns the mean of [`COMMON`].
pub(super) fn centre() -> &'static [f32] {
    static CENTRE: OnceLock<Vec<f32>> = OnceLock::new();
    CENTRE.get_or_init(|| {
        let mut centre = vec![0.0; embedder().dim()];
        for text in COMMON {
            for (sum, number) in centre.iter_mut().zip(embed_text(text)) {
                *sum += number / COMMON.len() as f32;
            }
        }
        centre
    })
}

/// The cosines of passages with a query, in the files and in the tail.
pub(super) struct Cosines<'a> {
    base: Arc<Matrix>,
    graph: Option<&'a Graph>,
    tail: Vec<Arc<Matrix>>,
    query: Query,
    centred: Centred,
}

impl<'a> Cosines<'a> {
    pub(super) fn new(
        base: Arc<Matrix>,
        graph: Option<&'a Graph>,
        tail: Vec<Arc<Matrix>>,
        centre: &[f32],
        query: &[f32],
    ) -> Cosines<'a> {
        Cosines {
            base,
            graph,
            tail,
            query: Query::new(query),
            centred: Centred::new(query, centre),
        }
    }

    /// Returns the `most` nearest visible passages, restricted to `listed` (ascending) if given, and how the files were
    /// searched.
    pub(super) fn nearest(
        &self,
        most: usize,
        listed: Option<&[u64]>,
        (visible, tie): (&dyn Fn(u64) -> bool, &dyn Fn(u64) -> u128),
    ) -> Result<(Vec<u64>, Searched)> {
        let (base, sight) = (&self.base, (visible, tie));
        let (mut near, searched) = base.nearest(self.graph, &self.query, most, listed, sight)?;
        for part in &self.tail {
            near.extend(part.nearest(None, &self.query, most, listed, sight)?.0);
        }
        near.sort_by(|a, b| {
            let by_cosine = b.cosine.total_cmp(&a.cosine);
            by_cosine.then_with(|| tie(a.ordinal).cmp(&tie(b.ordinal)))
        });
        near.truncate(most);
        Ok((near.iter().map(|near| near.ordinal).collect(), searched))
    }

    /// Returns the cosine of a passage, and the ranking cosine without the centre; `None` if there is no vector to
    /// compare.
    pub(super) fn of(&self, ordinal: u64) -> Result<(Option<f32>, Option<f64>)> {
        let mut rows = &self.base;
        for part in &self.tail {
            match part.ends()? {
                Some((first, _)) if ordinal >= first => rows = part,
                _ => break,
            }
        }
        let known = rows.cosines(&self.query, &self.centred, ordinal)?;
        let Some((cosine, less_mean)) = known else {
            return Ok((None, None));
        };
        Ok((Some(cosine), less_mean))
    }
}
