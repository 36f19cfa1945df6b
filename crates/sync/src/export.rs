//! Writes bundles of this store's events to temporary files.

use std::fs::File;
use std::io::{self, BufWriter, Seek};

use icm_api::Progress;
use icm_api::error::{Result, ServiceError};
use icm_log::bundle::{ChainRange, Exported};
use icm_service::{ExportFile, Service};

/// Default length of a bundle, in bytes. Raised, there are fewer files, but an interrupted sync repeats more.
pub(crate) const BUNDLE_LEN: u64 = 32 << 20;

/// A bundle in a temporary file, and the description of its content.
pub(crate) struct Export {
    /// Positioned at the start.
    pub(crate) file: File,
    pub(crate) exported: Exported,
}

impl Export {
    /// Exports the events of this store that are not in `there`, up to one bundle of `bundle_len` bytes.
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

    /// Describes all events that are not in `there`, as one bundle; writes nothing.
    pub(crate) fn all(
        service: &Service,
        there: &[ChainRange],
        progress: &dyn Progress,
    ) -> Result<Exported> {
        service.export_lacking(there, u64::MAX, &mut io::sink(), progress)
    }

    /// Exports an empty bundle.
    pub(crate) fn of_nothing(service: &Service, progress: &dyn Progress) -> Result<Export> {
        Export::of(service, &service.held_ranges()?, BUNDLE_LEN, progress)
    }

    pub(crate) fn into_file(mut self) -> Result<ExportFile> {
        ExportFile::spool(&mut self.file, "what this store holds")
    }
}

/// Creates an unnamed temporary file.
pub(crate) fn temporary() -> Result<File> {
    tempfile::tempfile().map_err(spooling)
}

pub(crate) fn spooling(source: io::Error) -> ServiceError {
    ServiceError::Io {
        doing: "writing a temporary file".to_owned(),
        source,
    }
}
