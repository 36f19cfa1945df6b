//! The service: skeleton, bodies arrive with the log.
use std::path::PathBuf;
use std::time::Duration;

use crate::api::*;
use crate::error::Result;

/// How to open a store.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// The store's folder; need not exist.
    pub dir: PathBuf,
    /// How long to wait for another writer.
    pub lock_wait: Duration,
    /// Never write anything.
    pub read_only: bool,
}

/// One store, open.
pub struct Service {}

#[allow(unused_variables, missing_docs, clippy::todo)]
impl Service {
    pub fn open(options: OpenOptions) -> Result<Service> {
        todo!()
    }
    /// Lines to tell the user on stderr (a view was rebuilt, a torn tail set aside, …); empties the list.
    pub fn take_notices(&self) -> Vec<String> {
        todo!()
    }
    pub fn store(&self, caller: &Caller, request: StoreRequest) -> Result<Receipt> {
        todo!()
    }
    pub fn update(&self, caller: &Caller, request: UpdateRequest) -> Result<Receipt> {
        todo!()
    }
    pub fn forget(&self, caller: &Caller, ids: &[String]) -> Result<Vec<Receipt>> {
        todo!()
    }
    /// All living memories of a topic, in one command.
    pub fn forget_topic(&self, caller: &Caller, topic: &str) -> Result<Vec<Receipt>> {
        todo!()
    }
    pub fn revive(&self, caller: &Caller, id: &str) -> Result<Receipt> {
        todo!()
    }
    /// The answer; when `request.record`, remembers what to record, see `record_recalls`.
    pub fn recall(&self, caller: &Caller, request: &RecallRequest) -> Result<RecallAnswer> {
        todo!()
    }
    /// Writes the `memory.recalled` events of answers already given (call after the answer is out).
    pub fn record_recalls(&self) {
        todo!()
    }
    /// Work that may follow a command after its answer is out (views catch up when far behind).
    pub fn settle(&self) {
        todo!()
    }
    pub fn get(&self, id: &str, at: Option<&str>) -> Result<Memory> {
        todo!()
    }
    pub fn list(&self, request: &ListRequest) -> Result<Vec<Memory>> {
        todo!()
    }
    pub fn topics(&self) -> Result<Vec<TopicSummary>> {
        todo!()
    }
    pub fn stats(&self) -> Result<Stats> {
        todo!()
    }
    pub fn history(&self, id: &str) -> Result<Vec<Version>> {
        todo!()
    }
    /// The basis that `at` names (`None`: now).
    pub fn basis(&self, at: Option<&str>) -> Result<Basis> {
        todo!()
    }
    /// Calls `each` for every event that fits; stops early when it returns false. Returns how many were given out.
    pub fn log(&self, request: &LogRequest, each: &mut dyn FnMut(LogEntry) -> bool) -> Result<u64> {
        todo!()
    }
    /// `event`: hex prefix or `@position`.
    pub fn log_show(&self, event: &str) -> Result<EventDetail> {
        todo!()
    }
    /// The chain alone; `expect`: text printed earlier by `heads`.
    pub fn log_verify(
        &self,
        expect: Option<&str>,
        progress: &dyn Progress,
    ) -> Result<VerifyReport> {
        todo!()
    }
    pub fn heads(&self) -> Result<Vec<OriginHead>> {
        todo!()
    }
    /// The chain, the views' hashes, and a fresh fold of the log.
    pub fn verify(&self, progress: &dyn Progress) -> Result<VerifyReport> {
        todo!()
    }
    pub fn rebuild(&self, progress: &dyn Progress) -> Result<RebuildReport> {
        todo!()
    }
    /// Imports JSON lines; `name` is used in rejections.
    pub fn import_jsonl(
        &self,
        caller: &Caller,
        files: Vec<(String, Box<dyn std::io::BufRead>)>,
        progress: &dyn Progress,
    ) -> Result<ImportReport> {
        todo!()
    }
    /// Every living memory as a JSON line that `import_jsonl` takes back, oldest first.
    pub fn export_jsonl(&self, out: &mut dyn std::io::Write, at: Option<&str>) -> Result<u64> {
        todo!()
    }
    /// Every living memory, a section a topic.
    pub fn export_markdown(&self, out: &mut dyn std::io::Write, at: Option<&str>) -> Result<u64> {
        todo!()
    }
}
