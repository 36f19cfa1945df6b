//! Embedding by another model than the built-in one: behind the answers, a batch at a time.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use icm_projections::embed::{EmbedError, Embedder, StaticEmbedder};
use icm_projections::ranking::Ranking;
use icm_projections::{AskedModel, Embedded, ModelId, Unembedded};

use super::{Service, locked};
use crate::api::{EmbedReport, EmbedStatus, Progress};
use crate::embedding::{Cache, Model};
use crate::error::{Result, ServiceError, plain};

/// Texts that the model is asked for at once.
const BATCH: usize = 64;
/// So few texts without a vector a recall has embedded before it answers.
const AT_ONCE: u64 = 32;
/// How long nobody asks again, in milliseconds, after a model could not be used: a server that is down
/// should not make every answer wait.
const AGAIN_MS: u64 = 30_000;

/// What the model says of a query.
pub(super) enum Asked {
    /// The built-in one is asked.
    BuiltIn,
    /// Words are all there is.
    Words,
    /// Another model's vector.
    Vector(Arc<dyn Embedder>, Vec<f32>),
}

impl Asked {
    /// A ranking as far as it can be followed.
    pub(super) fn ranking(&self, ranking: Ranking) -> Ranking {
        match self {
            Asked::Words => Ranking {
                meaning: 0.0,
                text: 1.0,
                ..ranking
            },
            _ => ranking,
        }
    }

    /// The other model and what it says.
    pub(super) fn model(&self) -> Option<AskedModel<'_>> {
        match self {
            Asked::Vector(embedder, vector) => Some(AskedModel {
                id: id(&**embedder),
                query: vector,
            }),
            _ => None,
        }
    }
}

/// That the model could not be used.
#[derive(Default)]
pub(super) struct Failed {
    /// What the user was told.
    told: Option<String>,
    /// When, in milliseconds since 1970.
    at_ms: Option<u64>,
}

fn id(embedder: &dyn Embedder) -> ModelId<'_> {
    ModelId {
        name: embedder.model(),
        dim: embedder.dim(),
    }
}

impl Service {
    /// Embeds with another model than the built-in one, or with none.
    #[must_use]
    pub fn with_model(mut self, model: Model) -> Service {
        self.model = model;
        self
    }

    /// The vector of a query. Where the model cannot be used the answer is of words alone, and the user
    /// is told once.
    pub(super) fn ask_model(&self, query: &str) -> Asked {
        let embedder = match &self.model {
            Model::BuiltIn => return Asked::BuiltIn,
            Model::None => return Asked::Words,
            Model::Unusable(error) => {
                self.model_failed(error);
                return Asked::Words;
            }
            Model::Other(embedder) => embedder,
        };
        if self.failed_lately() {
            return Asked::Words;
        }
        // What there is to embed at once is in the answer then.
        if !self.options.read_only && self.embed_some(embedder, Some(AT_ONCE)).is_err() {
            return Asked::Words;
        }
        let vector = embedder.embed_query(query);
        match vector.and_then(|vector| check_vector(&vector, embedder).map(|()| vector)) {
            Ok(vector) => Asked::Vector(embedder.clone(), vector),
            Err(error) => {
                self.model_failed(&error);
                Asked::Words
            }
        }
    }

    fn failed_lately(&self) -> bool {
        let failed = locked(&self.failed);
        let now = self.now_ms();
        (failed.at_ms).is_some_and(|at| (at..at.saturating_add(AGAIN_MS)).contains(&now))
    }

    fn model_failed(&self, error: &EmbedError) {
        let mut failed = locked(&self.failed);
        failed.at_ms = Some(self.now_ms());
        let mut line = format!("{}; memories are found by their words alone", plain(error));
        if let EmbedError::Unavailable {
            hint: Some(hint), ..
        } = error
        {
            line = format!("{line} ({hint})");
        }
        if failed.told.as_ref() != Some(&line) {
            self.notice(line.clone());
            failed.told = Some(line);
        }
    }

    /// Embeds one batch of what has no vector yet, if the model is not the built-in one; whether there
    /// is more. For the time between answers.
    pub fn embed_behind(&self) -> bool {
        let Model::Other(embedder) = &self.model else {
            return false;
        };
        if self.options.read_only || self.failed_lately() || !self.is_there() {
            return false;
        }
        self.embed_some(embedder, None)
            .is_ok_and(|embedded| embedded.done < embedded.of)
    }

    /// One batch; with `few`, nothing if there are more texts than that. Failures are told.
    fn embed_some(
        &self,
        embedder: &Arc<dyn Embedder>,
        few: Option<u64>,
    ) -> std::result::Result<Embedded, ()> {
        match self.embed_batch(embedder, few) {
            Ok((embedded, _)) => Ok(embedded),
            Err(Stopped::Model(error)) => {
                self.model_failed(&error);
                Err(())
            }
            // Whoever asks next finds out what is wrong with the store, and says so.
            Err(Stopped::Store(error)) => {
                tracing::debug!(%error, "nothing was embedded");
                Ok(Embedded { done: 0, of: 0 })
            }
        }
    }

    /// The texts that come next, as vectors in the views. Nobody waits for the views meanwhile.
    fn embed_batch(
        &self,
        embedder: &Arc<dyn Embedder>,
        few: Option<u64>,
    ) -> std::result::Result<(Embedded, u64), Stopped> {
        let id = id(&**embedder);
        let (embedded, batch) = self.with_views(|views| {
            let embedded = views.embedded(id);
            let left = embedded.of - embedded.done.min(embedded.of);
            match left > 0 && few.is_none_or(|few| left <= few) {
                true => Ok((embedded, Some(views.unembedded(id, BATCH)?))),
                false => Ok((embedded, None)),
            }
        })?;
        let Some(batch) = batch.filter(|batch| !batch.texts.is_empty()) else {
            return Ok((embedded, 0));
        };
        let vectors = self.vectors(embedder, &batch).map_err(Stopped::Model)?;
        let now = self.with_views(|views| {
            views.add_vectors(id, &batch, &vectors);
            Ok(views.embedded(id))
        })?;
        Ok((now, batch.texts.len() as u64))
    }

    /// Vectors from the cache, or else from the model.
    fn vectors(
        &self,
        embedder: &Arc<dyn Embedder>,
        batch: &Unembedded,
    ) -> std::result::Result<Vec<Vec<f32>>, EmbedError> {
        let texts: Vec<&str> = batch.texts.iter().map(String::as_str).collect();
        let mut cache = locked(&self.cache);
        if cache.as_ref().is_some_and(|cache| !cache.is_there()) {
            *cache = None;
        }
        if cache.is_none() && !self.options.read_only && self.is_there() {
            *cache = Cache::open(&self.cache_dir());
        }
        let (model, dim) = (embedder.model(), embedder.dim());
        let mut known = match cache.as_ref() {
            Some(cache) => cache.get(model, dim, &texts),
            None => vec![None; texts.len()],
        };
        let missing: Vec<usize> = (0..texts.len()).filter(|at| known[*at].is_none()).collect();
        if !missing.is_empty() {
            let asked: Vec<&str> = missing.iter().map(|at| texts[*at]).collect();
            let given = embedder.embed(&asked)?;
            for vector in &given {
                check_vector(vector, embedder)?;
            }
            if given.len() != asked.len() {
                return Err(wrong(
                    embedder,
                    format!("it gave {} vectors for {} texts", given.len(), asked.len()),
                ));
            }
            if let Some(cache) = cache.as_ref() {
                let given = given.iter().map(Vec::as_slice);
                cache.put(model, asked.into_iter().zip(given));
            }
            for (at, vector) in missing.into_iter().zip(given) {
                known[at] = Some(vector);
            }
        }
        Ok(known.into_iter().flatten().collect())
    }

    /// Embeds whatever has no vector of the model yet.
    pub fn embed(&self, progress: &dyn Progress) -> Result<EmbedReport> {
        let embedder = match &self.model {
            Model::Other(embedder) => embedder,
            Model::Unusable(error) => return Err(model_error(error)),
            Model::BuiltIn | Model::None => {
                return Ok(EmbedReport {
                    new: 0,
                    status: self.embed_status()?,
                });
            }
        };
        if self.options.read_only {
            return Err(ServiceError::ReadOnly {
                why: "it was opened read-only".to_owned(),
            });
        }
        let stopped = |stopped| match stopped {
            Stopped::Store(error) => error,
            Stopped::Model(error) => model_error(&error),
        };
        self.bring_views_to_disk()?;
        let status = self.embed_status()?;
        progress.start("embedding", Some(status.versions - status.embedded));
        let mut new = 0;
        loop {
            let (now, added) = self.embed_batch(embedder, None).map_err(stopped)?;
            new += added;
            progress.advance(added);
            if added == 0 || now.done >= now.of {
                break;
            }
        }
        progress.finish();
        Ok(EmbedReport {
            new,
            status: self.embed_status()?,
        })
    }

    /// Embeds what is left, unless nothing may be written: then it is answered with what there is.
    pub(crate) fn embed_for_reading(&self, progress: &dyn Progress) -> Result<()> {
        match (&self.model, self.options.read_only) {
            (Model::Other(_) | Model::Unusable(_), false) => self.embed(progress).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Files for the vectors to lie in, also where the store is so small that there are none.
    fn bring_views_to_disk(&self) -> Result<()> {
        let in_memory = self.with_views(|views| Ok(!views.are_on_disk()))?;
        if in_memory && self.is_there() {
            let mut held = locked(&self.views);
            *held = None;
            *held = Some(self.build()?.0);
        }
        Ok(())
    }

    /// How far the model is.
    pub fn embed_status(&self) -> Result<EmbedStatus> {
        let versions = self.with_views(|views| Ok(views.tally().next_ordinal))?;
        Ok(match &self.model {
            Model::None => EmbedStatus {
                model: "none".to_owned(),
                dim: 0,
                versions,
                embedded: 0,
            },
            Model::BuiltIn => {
                let built_in = StaticEmbedder::built_in();
                EmbedStatus {
                    model: built_in.model().to_owned(),
                    dim: built_in.dim(),
                    versions,
                    embedded: versions,
                }
            }
            Model::Unusable(error) => return Err(model_error(error)),
            Model::Other(embedder) => {
                let id = id(&**embedder);
                let embedded = self.with_views(|views| {
                    views.unembedded(id, 0)?;
                    Ok(views.embedded(id))
                })?;
                EmbedStatus {
                    model: id.name.to_owned(),
                    dim: id.dim,
                    versions: embedded.of,
                    embedded: embedded.done,
                }
            }
        })
    }
}

/// Why a batch was not embedded.
enum Stopped {
    Store(ServiceError),
    Model(EmbedError),
}

impl From<ServiceError> for Stopped {
    fn from(error: ServiceError) -> Stopped {
        Stopped::Store(error)
    }
}

fn model_error(error: &EmbedError) -> ServiceError {
    match error {
        EmbedError::Unavailable {
            hint: Some(hint), ..
        } => ServiceError::invalid_with(plain(error), hint.clone()),
        _ => ServiceError::invalid(plain(error)),
    }
}

fn wrong(embedder: &Arc<dyn Embedder>, why: String) -> EmbedError {
    EmbedError::Unavailable {
        model: embedder.model().to_owned(),
        why,
        hint: None,
    }
}

/// Whoever made the model may be wrong about it.
fn check_vector(
    vector: &[f32],
    embedder: &Arc<dyn Embedder>,
) -> std::result::Result<(), EmbedError> {
    let (found, dim) = (vector.len(), embedder.dim());
    if vector.iter().any(|number| !number.is_finite()) {
        return Err(wrong(embedder, "it gave a number that is none".to_owned()));
    }
    if found != dim {
        let why = format!("it gave a vector of {found} numbers instead of {dim}");
        return Err(wrong(embedder, why));
    }
    Ok(())
}
