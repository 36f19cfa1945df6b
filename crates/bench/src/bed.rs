//! A temporary store for one measurement.

use std::collections::HashMap;
use std::io::BufRead;
use std::time::{Duration, Instant};

use icm_projections::ranking::Ranking;
use tempfile::TempDir;

use icm_api::error::{Result, ServiceError};
use icm_api::{Caller, ListRequest, Progress, RecallAnswer, RecallRequest};
use icm_service::Model;
use icm_service::{OpenOptions, Service};
use icm_wait::bounds;

pub(super) struct Bed {
    // Declared before the folder, so the store is closed before the folder is removed.
    service: Service,
    caller: Caller,
    pub(super) memories: u64,
    _folder: TempDir,
}

impl Bed {
    /// Makes a store with the memories of these JSON lines and embeds them.
    ///
    /// # Errors
    /// A line that the import rejects, or no memory at all: figures of half of the memories mean nothing.
    pub(super) fn new(
        name: &str,
        lines: Box<dyn BufRead>,
        ranking: Ranking,
        model: &Model,
        progress: &dyn Progress,
    ) -> Result<Bed> {
        let folder = tempfile::tempdir().map_err(|source| ServiceError::Io {
            doing: "cannot make a folder for a store to measure on".to_owned(),
            source,
        })?;
        let service = Service::open(OpenOptions {
            dir: folder.path().join("store"),
            lock_wait: bounds::PROCESS,
            read_only: false,
        })?
        .with_ranking(ranking)
        .with_model(model.clone());
        let caller = Caller {
            actor: "bench".to_owned(),
            ..Caller::default()
        };
        let files = vec![(name.to_owned(), lines)];
        let report = service.import_jsonl(&caller, files, true, progress)?;
        if let Some(line) = report.rejected.first() {
            return Err(ServiceError::invalid(format!(
                "{}:{}: {}",
                line.file, line.line, line.why
            )));
        }
        if report.added == 0 {
            return Err(ServiceError::invalid(format!("{name}: no memory is in it")));
        }
        service.settle();
        service.embed(progress)?;
        Ok(Bed {
            service,
            caller,
            memories: report.added,
            _folder: folder,
        })
    }

    /// Returns the topics of the memories with each key.
    pub(super) fn keys(&self) -> Result<HashMap<String, Vec<String>>> {
        let mut keys: HashMap<String, Vec<String>> = HashMap::new();
        for memory in self.service.list(&ListRequest::default())? {
            if let Some(key) = memory.key {
                keys.entry(key).or_default().push(memory.topic);
            }
        }
        Ok(keys)
    }

    /// Recalls results of at least this fit, and returns the answer with its wall time. The recall is not recorded.
    pub(super) fn recall(
        &self,
        query: &str,
        limit: usize,
        floor: f64,
        explain: bool,
    ) -> Result<(RecallAnswer, Duration)> {
        let request = RecallRequest {
            query: query.to_owned(),
            limit: Some(limit),
            floor: Some(floor),
            record: false,
            explain,
            ..RecallRequest::default()
        };
        let begun = Instant::now();
        let answer = self.service.recall(&self.caller, &request)?;
        Ok((answer, begun.elapsed()))
    }
}
