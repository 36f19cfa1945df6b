//! The graph beside the vectors. A background thread of a server makes or reads it and passes it to the views. No
//! recall waits for it, and a process that answers only once never has one.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::meaning::{embedder, file_in};
use super::{Place, Views};
use crate::error::{Result, ViewError, io};
use icm_vectors::embed::Embedder;
use icm_vectors::{Graph, Matrix, VectorError};

/// Rows that the graph has to cover, in percent: 80; the rest is scanned. A larger value grows the graph more often.
const COVERED_MIN_PERCENT: u64 = 80;

/// The job of making a missing graph. It holds all inputs, so no views are kept open meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphJob {
    vectors: PathBuf,
    model: String,
    dim: usize,
    count: u64,
    /// Rows that are covered before the first write; later writes follow each time that the number has doubled.
    step: u64,
}

impl Views {
    /// Returns the job that makes a graph; `None` if there is a graph, there are fewer than `rows_min` vectors, or the
    /// views are in memory.
    pub fn graph_job(&self, rows_min: u64) -> Option<GraphJob> {
        let Place::Disk { generation, .. } = &self.files.place else {
            return None;
        };
        let job = GraphJob {
            vectors: file_in(generation).1,
            model: embedder().model().to_owned(),
            dim: embedder().dim(),
            count: self.files.base.passages,
            step: rows_min.max(1),
        };
        let is_covered = |graph: &Graph| job.is_enough(graph.covered());
        (job.count >= job.step && !self.graph.as_deref().is_some_and(is_covered)).then_some(job)
    }

    /// Returns the vectors up to the checkpoint.
    ///
    /// # Errors
    /// The errors of a recall that uses vectors.
    pub fn filed_vectors(&self) -> Result<Arc<Matrix>> {
        self.base_vectors().cloned()
    }

    /// Uses this graph for searches from now on, if it covers the vectors in use; returns whether it does. Vectors that
    /// are appended later change nothing. `fitting` are vectors that the graph is known to cover; others are compared,
    /// which takes a while.
    ///
    /// # Errors
    /// The errors of a recall that uses vectors.
    pub fn take_graph(&mut self, graph: Graph, fitting: &Arc<Matrix>) -> Result<bool> {
        let rows = self.base_vectors()?;
        let fits = Arc::ptr_eq(rows, fitting) || graph.fits(rows);
        if fits {
            self.graph = Some(Arc::new(graph));
        }
        Ok(fits)
    }
}

impl GraphJob {
    fn is_enough(&self, covered: u64) -> bool {
        covered.saturating_mul(100) >= self.count.saturating_mul(COVERED_MIN_PERCENT)
    }

    /// Returns the graph of the file if it covers enough rows; else makes a graph and writes it beside the vectors. A
    /// graph that is stopped half way is written, too, so that the next job goes on from there. `None` if another
    /// process makes it, `go_on` returned `false`, or the vectors are gone.
    ///
    /// # Errors
    /// `Unusable` or `Io` if the vectors have changed, or usearch fails.
    pub fn run(&self, go_on: &dyn Fn() -> bool) -> Result<Option<Graph>> {
        let rows = Matrix::open(&self.vectors, &self.model, self.dim, self.count)?;
        let path = beside(&self.vectors, ".graph");
        let lock_path = beside(&self.vectors, ".graph.lock");
        if fs::metadata(&lock_path).is_ok_and(|found| !found.is_file()) {
            return Err(ViewError::Unusable {
                view: "vectors",
                why: format!("{} is no file", lock_path.display()),
            });
        }
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let lock: File = options
            .open(&lock_path)
            .map_err(io("opening", &lock_path))?;
        if lock.try_lock().is_err() {
            return Ok(None);
        }
        let mut graph = open(&path, &rows);
        loop {
            let covered = graph.as_ref().map_or(0, Graph::covered);
            if self.is_enough(covered) {
                return Ok(graph);
            }
            let target = (2 * covered).max(self.step);
            let go_on = |_| go_on() && self.vectors.exists();
            graph = Graph::grown(graph, &rows, target, &go_on)?;
            match &graph {
                None => return Ok(None),
                Some(graph) => {
                    if let Err(error) = graph.save(&path) {
                        tracing::debug!(%error, "the graph of the vectors is kept in memory");
                    }
                }
            }
        }
    }
}

/// Returns the graph of a file. An unusable file is removed.
fn open(path: &Path, rows: &Matrix) -> Option<Graph> {
    match Graph::open(path, rows) {
        Ok(graph) => Some(graph),
        Err(error) => {
            if let VectorError::Unusable { .. } = error {
                tracing::debug!(%error, "the graph of the vectors is made anew");
                let _ = fs::remove_file(path);
            }
            None
        }
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
