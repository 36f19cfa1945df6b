//! Writing vectors: one writer at a time, which the lock of the views ensures.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::format::{MAX_DIM, bad, encode_row, file_len, header};
use super::matrix::Matrix;
use crate::error::{Result, io};

/// Bytes that are buffered before a write: 256 KiB. A larger value writes less often and holds more memory.
const BUFFER_LEN: usize = 256 * 1_024;

/// Appends vectors to a file. Nothing is synced: lost vectors are embedded again.
pub struct MatrixWriter {
    file: File,
    path: PathBuf,
    dim: usize,
    /// Rows so far, buffered ones included.
    count: u64,
    /// The least ordinal that may be appended next.
    next: u64,
    pending: Vec<u8>,
}

impl MatrixWriter {
    /// Begins a new file in place of the present one; readers of the present file keep it.
    ///
    /// # Errors
    /// `Io`.
    ///
    /// # Panics
    /// If `dim` is 0 or more than [`MAX_DIM`].
    pub fn create(path: &Path, model: &str, dim: usize) -> Result<MatrixWriter> {
        assert!(
            (1..=MAX_DIM).contains(&dim),
            "a vector has 1 to {MAX_DIM} numbers"
        );
        match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(io("removing", path)(error));
            }
            _ => {}
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(io("creating", path))?;
        file.write_all(&header(model, dim))
            .map_err(io("writing", path))?;
        Ok(MatrixWriter {
            file,
            path: path.to_owned(),
            dim,
            count: 0,
            next: 0,
            pending: Vec::new(),
        })
    }

    /// Opens a file to append after its first `count` rows; later rows are overwritten.
    ///
    /// # Errors
    /// As [`Matrix::open`]; and `Unusable` if the last of the `count` rows is damaged.
    pub fn open(path: &Path, model: &str, dim: usize, count: u64) -> Result<MatrixWriter> {
        let next = match Matrix::open(path, model, dim, count)?.ends()? {
            Some((_, last)) => last.saturating_add(1),
            None => 0,
        };
        let mut file = OpenOptions::new()
            .write(true)
            .open(path)
            .map_err(io("opening", path))?;
        file.seek(SeekFrom::Start(file_len(dim, count)))
            .map_err(io("reading", path))?;
        Ok(MatrixWriter {
            file,
            path: path.to_owned(),
            dim,
            count,
            next,
            pending: Vec::new(),
        })
    }

    /// Appends the vector of a version: of length 1, or zero. A vector with a number that is not finite is stored as
    /// zero.
    ///
    /// # Errors
    /// `Unusable` if `ordinal` does not come after all ordinals before it; `Io`.
    ///
    /// # Panics
    /// If the vector has another dimension.
    pub fn append(&mut self, ordinal: u64, vector: &[f32]) -> Result<()> {
        assert_eq!(vector.len(), self.dim, "a vector of the same model");
        if ordinal < self.next {
            return Err(bad(format!("ordinal {ordinal} is given out of turn")));
        }
        encode_row(ordinal, vector, &mut self.pending);
        self.count += 1;
        self.next = ordinal.saturating_add(1);
        match self.pending.len() < BUFFER_LEN {
            true => Ok(()),
            false => self.flush().map(|_| ()),
        }
    }

    /// Appends all rows of a matrix of the same model.
    ///
    /// # Errors
    /// As [`MatrixWriter::append`].
    ///
    /// # Panics
    /// If the vectors of `rows` have another dimension.
    pub fn append_all(&mut self, rows: &Matrix) -> Result<()> {
        assert_eq!(rows.dim(), self.dim, "vectors of the same model");
        let Some((first, last)) = rows.ends()? else {
            return Ok(());
        };
        if first < self.next {
            return Err(bad(format!("ordinal {first} is given out of turn")));
        }
        self.pending.extend_from_slice(rows.row_bytes());
        self.count += rows.count();
        self.next = last.saturating_add(1);
        Ok(())
    }

    /// Writes the buffered rows and returns the number of all rows, which the caller has to remember.
    ///
    /// # Errors
    /// `Io`; the writer cannot be used afterwards.
    pub fn flush(&mut self) -> Result<u64> {
        self.file
            .write_all(&self.pending)
            .map_err(io("writing", &self.path))?;
        self.pending.clear();
        Ok(self.count)
    }
}
