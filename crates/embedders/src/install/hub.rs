//! Fetches models from the hub of fastembed's models.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;

use hf_hub::api::Progress;
use hf_hub::api::sync::{ApiBuilder, ApiRepo};
use icm_wait::bounds;

use super::{Watch, copy};
use crate::catalogue::Known;
use crate::onnx::{TOKENIZER, one_line};

/// Optional file that describes pooling and the number of tokens.
const EXTRA: [&str; 1] = ["sentence_bert_config.json"];

/// Fetches the files of a model into `folder`: `model.onnx`, files that belong to it, and those of the tokenizer.
pub(super) fn fetch(
    known: &Known,
    folder: &Path,
    staging: &Path,
    watch: &dyn Watch,
) -> Result<(), String> {
    let info = fastembed::TextEmbedding::get_model_info(&known.model).map_err(|e| e.to_string())?;
    let api = ApiBuilder::from_env()
        .with_cache_dir(staging.join("hub"))
        .with_progress(false)
        .with_retries(2)
        .build()
        .map_err(|e| one_line(&e.to_string()))?;
    let repo = api.model(info.model_code.clone());
    watch.phase("asking the hub", None);
    let said = first_word(&api, &repo);
    watch.finish();
    said?;

    let mut files: Vec<(PathBuf, String)> = Vec::new();
    let mut get = |name: &str, needed: bool| -> Result<(), String> {
        match repo.download_with_progress(name, Bar { watch }) {
            Ok(path) => {
                let short = name.rsplit('/').next().unwrap_or(name);
                let short = if name == info.model_file {
                    "model.onnx"
                } else {
                    short
                };
                files.push((path, short.to_owned()));
                Ok(())
            }
            Err(_) if !needed => Ok(()),
            Err(error) => Err(one_line(&format!("{name}: {error}"))),
        }
    };
    for name in TOKENIZER {
        get(name, true)?;
    }
    for name in EXTRA {
        get(name, false)?;
    }
    for name in &info.additional_files {
        get(name, true)?;
    }
    get(&info.model_file, true)?;
    copy(files.into_iter(), folder).map_err(|e| e.to_string())
}

/// Asks for a small file, with a deadline: a hub that cannot be reached may never answer.
fn first_word(api: &hf_hub::api::sync::Api, repo: &ApiRepo) -> Result<(), String> {
    let (api, url) = (api.clone(), repo.url(TOKENIZER[0]));
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let said = api.metadata(&url).map(|_| ());
        let _ = sender.send(said.map_err(|e| one_line(&e.to_string())));
    });
    receiver
        .recv_timeout(bounds::PEER)
        .unwrap_or_else(|_| Err("it does not answer".into()))
}

struct Bar<'a> {
    watch: &'a dyn Watch,
}

impl Progress for Bar<'_> {
    fn init(&mut self, size: usize, filename: &str) {
        let what = format!(
            "fetching {}",
            filename.rsplit('/').next().unwrap_or(filename)
        );
        self.watch.phase(&what, Some(size as u64));
    }

    fn update(&mut self, size: usize) {
        self.watch.advance(size as u64);
    }

    fn finish(&mut self) {
        self.watch.finish();
    }
}
