//! A bundle of this store, in a temporary file.

use std::fs::File;
use std::io::{self, BufWriter, Seek};

use icm_api::Progress;
use icm_api::error::{Result, ServiceError};
use icm_log::bundle::{ChainRange, Exported};
use icm_service::{ExportFile, Service};

/// How long a bundle is, in bytes, unless somebody wants shorter ones.
pub(crate) const BUNDLE_LEN: u64 = 32 << 20;

/// A bundle of what is not there.
pub(crate) struct Export {
    /// At its start.
    pub(crate) file: File,
    pub(crate) exported: Exported,
}

impl Export {
    /// A bundle of what this store has and is not in `there`, or of as much of it as one bundle takes.
    pub(crate) fn of(
        service: &Service,
        there: &[ChainRange],
        bundle_len: u64,
        progress: &dyn Progress,
    ) -> Result<Export> {
        let mut out = BufWriter::new(temporary()?);
        let exported = service.export_lacking(there, bundle_len, &mut out, progress)?;
        let file = out.into_inner();
        let mut file = file.map_err(|error| spooling(error.into_error()))?;
        file.rewind().map_err(spooling)?;
        Ok(Export { file, exported })
    }

    /// What the bundles would hold, all of them.
    pub(crate) fn all(
        service: &Service,
        there: &[ChainRange],
        progress: &dyn Progress,
    ) -> Result<Exported> {
        service.export_lacking(there, u64::MAX, &mut io::sink(), progress)
    }

    /// An empty one.
    pub(crate) fn of_nothing(service: &Service, progress: &dyn Progress) -> Result<Export> {
        Export::of(service, &service.held_ranges()?, BUNDLE_LEN, progress)
    }

    pub(crate) fn into_file(mut self) -> Result<ExportFile> {
        ExportFile::spool(&mut self.file, "what this store holds")
    }
}

/// A file without a name.
pub(crate) fn temporary() -> Result<File> {
    tempfile::tempfile().map_err(spooling)
}

pub(crate) fn spooling(source: io::Error) -> ServiceError {
    ServiceError::Io {
        doing: "writing a temporary file".to_owned(),
        source,
    }
}
