//! The meaning of versions: a vector each, in a file of the generation, and those of the tail in memory.
//!
//! The file is a view of its own. Nothing but table and rows is needed to write it, so where it is
//! missing or not as it was left, it alone is made anew, by whoever needs it first. A row belongs to
//! its ordinal within the generation that the file lies in, and to no other.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::files::{VECTORS_DIR, create_private};
use super::home::Home;
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

/// The built-in embedder.
pub(super) fn embedder() -> &'static StaticEmbedder {
    static EMBEDDER: OnceLock<StaticEmbedder> = OnceLock::new();
    EMBEDDER.get_or_init(StaticEmbedder::built_in)
}

fn no_rows() -> Matrix {
    Matrix::in_memory(embedder().model(), embedder().dim())
}

/// The file's name within a generation, and its path.
pub(super) fn file_in(generation: &Path) -> (String, PathBuf) {
    let name = format!("{VECTORS_DIR}/{}", embedder().model());
    let path = generation.join(&name);
    (name, path)
}

/// The file's rows, if it is as the manifest says and has `count` of them.
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

/// Whether the file is as it was left, and every row whole.
pub(super) fn check(generation: &Path, manifest: &Manifest, count: u64) -> Result<()> {
    Ok(open(generation, manifest, count)?.check()?)
}

/// Whether there is a file that could be the one; with `whole` looks at every row.
pub(super) fn inspect(generation: &Path, count: u64, whole: bool) -> Result<()> {
    let (_, path) = file_in(generation);
    let rows = Matrix::open(&path, embedder().model(), embedder().dim(), count)?;
    match whole {
        true => Ok(rows.check()?),
        false => Ok(()),
    }
}

/// Takes the file away unless its first `count` rows are whole: it is made anew then.
pub(super) fn keep_whole(generation: &Path, count: u64) {
    if let Err(error) = inspect(generation, count, true) {
        tracing::debug!(%error, "vectors are to be made anew");
        // If that fails, each row has a check all the same.
        let _ = std::fs::remove_file(file_in(generation).1);
    }
}

/// A new file in the place of any other.
fn create(generation: &Path) -> Result<MatrixWriter> {
    create_private(&generation.join(VECTORS_DIR))?;
    let (_, path) = file_in(generation);
    Ok(MatrixWriter::create(
        &path,
        embedder().model(),
        embedder().dim(),
    )?)
}

/// Takes the rows of a generation that is being built.
pub(super) enum Sink {
    File(MatrixWriter),
    Memory(Matrix),
}

impl Sink {
    /// A new file in the place of any other.
    pub(super) fn create(generation: &Path) -> Result<Sink> {
        create(generation).map(Sink::File)
    }

    pub(super) fn in_memory() -> Sink {
        Sink::Memory(no_rows())
    }

    /// Takes the next passage, embedded by its text alone: topic and keywords are words to be matched.
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

    /// The rows, where they are in memory.
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

/// Vectors of the tail side by side. A copy that grows copies the last of these matrices.
const TAIL_ROWS: u64 = 128;

/// The vectors of the tail: made when they are first asked for, so that no store waits for them.
#[derive(Default, Clone)]
pub(super) struct TailVectors(Growing<OfTail>);

#[derive(Default, Clone)]
struct OfTail {
    /// So many versions of the tail, from the first on.
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
    /// The vectors of the passages since the checkpoint.
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

    /// Adds them to the file of a generation that has the first `count` rows.
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

    /// The events after these may open more.
    pub(super) fn go_on(&mut self) {
        self.0.grow_on();
    }
}

impl Views {
    /// The vectors up to the checkpoint. Where their file is not as it was left, they are embedded
    /// again and the file is written anew, if it can be.
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
        // Another process may have committed, or mended them, since the manifest was read.
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

/// The vectors of every passage of the files.
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

/// The vector of a query.
pub(super) fn embed_text(text: &str) -> Vec<f32> {
    embedder().embed_one(text)
}

/// Everyday sentences that say what texts have in common by the built-in model: the mean of these, which is taken off before a cosine ranks. It is
/// fixed with the model, so that it says the same of every store.
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

/// The mean of [`COMMON`].
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

/// How near versions are to a query, whether in the files or in the tail.
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

    /// The `most` visible versions that are nearest, of those listed if there is a list, which ascends; and how the
    /// files were searched.
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

    /// The cosine of a version, and the one that ranks, with the centre taken off; `None` where there is nothing to compare.
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
