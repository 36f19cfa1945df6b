//! Embedding by another model than the built-in one: in the background, a batch at a time.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, Instant};

use icm_projections::ranking::Ranking;
use icm_projections::{Embedded, Embeds, ModelVector, Unembedded};
use icm_vectors::MAX_DIM;
use icm_vectors::embed::{Cache, EmbedError, Embedder, StaticEmbedder};

use crate::embedding::{ChosenModel, Model};
use crate::service::{Service, locked};
use icm_api::error::{OPENED_READ_ONLY, Result, ServiceError, plain};
use icm_api::{EmbedReport, EmbedStatus, Progress};

/// Texts that the model is asked for at once.
const BATCH: usize = 64;
/// Most texts that a recall embeds, and most memories that may be left for a recall to embed any: 32. With more left,
/// a recall would pay for the oldest ones and not reach the newest. Raised, more new memories are found by the model at
/// once, and a recall waits longer: 16 ms for a short text.
const AT_ONCE: usize = 32;
/// How long nobody asks again, in milliseconds, after a model could not be used: a server that is down
/// should not make every answer wait.
const AGAIN_MS: u64 = 30_000;

/// The answer of the model to a query.
pub(crate) enum QueryVector {
    /// The built-in one is asked.
    BuiltIn,
    /// Words are all there is; why, if the user has to know.
    Words(Option<String>),
    /// Another model's vector.
    Vector(ChosenModel, Vec<f32>),
}

impl QueryVector {
    /// A ranking as far as it can be followed.
    pub(crate) fn ranking(&self, ranking: Ranking) -> Ranking {
        match self {
            QueryVector::Words(_) => Ranking {
                meaning: 0.0,
                ..ranking
            },
            _ => ranking,
        }
    }

    /// Returns the note that the user has to see.
    pub(crate) fn note(&self) -> Option<String> {
        match self {
            QueryVector::Words(note) => note.clone(),
            _ => None,
        }
    }

    /// The other model and what it says.
    pub(crate) fn model(&self) -> Option<ModelVector<'_>> {
        match self {
            QueryVector::Vector(model, vector) => Some(ModelVector {
                id: model.id(),
                query: vector,
            }),
            _ => None,
        }
    }
}

impl Service {
    /// Embeds with another model than the built-in one, or with none.
    #[must_use]
    pub fn with_model(mut self, model: Model) -> Service {
        self.embedding.model = match model {
            Model::Other(model) if !(1..=MAX_DIM).contains(&model.embedder.dim()) => {
                let why = format!(
                    "its vectors have {} numbers, and 1 to {MAX_DIM} can be kept",
                    model.embedder.dim()
                );
                Model::Unusable(Arc::new(wrong(&model.embedder, why)))
            }
            model => model,
        };
        self
    }

    /// The vector of a query. Where the model cannot be used the answer is of words alone, and says so
    /// once.
    pub(crate) fn ask_model(&self, query: &str) -> QueryVector {
        let model = match &self.embedding.model {
            Model::BuiltIn => return QueryVector::BuiltIn,
            Model::None => return QueryVector::Words(None),
            Model::Unusable(error) => return QueryVector::Words(self.model_failed(error)),
            Model::Other(model) => model,
        };
        let embedder = &model.embedder;
        if self.is_lately(locked(&self.embedding.failures).at_ms) {
            return QueryVector::Words(None);
        }
        let vector = embedder.embed_query(query);
        let vector =
            match vector.and_then(|vector| check_vector(&vector, embedder).map(|()| vector)) {
                Ok(vector) => vector,
                Err(error) => return QueryVector::Words(self.model_failed(&error)),
            };
        locked(&self.embedding.failures).answers = true;
        // Texts that are embedded now are in the answer; others are ranked by the built-in model.
        if !self.options.read_only {
            let near = embedder.is_near() && !self.failed_lately();
            let few = if near { AT_ONCE } else { 0 };
            match self.embed_some(model, Some(few)) {
                Ok(embedded) => self.tell_lag(model, embedded),
                Err(line) => line.into_iter().for_each(|line| self.notice(line)),
            }
        }
        QueryVector::Vector(model.clone(), vector)
    }

    /// Says once that the model is not done, if too many memories are left for recalls to embed them.
    fn tell_lag(&self, model: &ChosenModel, embedded: Embedded) {
        let told = &mut locked(&self.embedding.failures).told_lag;
        if embedded.versions_left > AT_ONCE as u64 && !std::mem::replace(told, true) {
            let (_, texts) = model.id().embeds.words();
            self.notice(format!(
                "{} has embedded {} of {} {texts}; the others are found by their words and by the \
                 built-in model until `icm embed` has done them",
                model.name(),
                embedded.done,
                embedded.of
            ));
        }
    }

    fn is_lately(&self, at_ms: Option<u64>) -> bool {
        let now = self.now_ms();
        at_ms.is_some_and(|at| (at..at.saturating_add(AGAIN_MS)).contains(&now))
    }

    /// Whether the model is left alone for a while.
    fn failed_lately(&self) -> bool {
        let (at_ms, batch_at_ms) = {
            let failed = locked(&self.embedding.failures);
            (failed.at_ms, failed.batch_at_ms)
        };
        self.is_lately(at_ms) || self.is_lately(batch_at_ms)
    }

    /// Remembers that the model could not be used; the line to tell the user, unless it was told.
    fn model_failed(&self, error: &EmbedError) -> Option<String> {
        let now = self.now_ms();
        let mut failed = locked(&self.embedding.failures);
        failed.at_ms = Some(now);
        failed.answers = false;
        failed.tell(error, "memories are found by their words alone")
    }

    /// Remembers that memories could not be embedded; the line to tell the user, unless it was told.
    fn batch_failed(&self, error: &EmbedError) -> Option<String> {
        let now = self.now_ms();
        let mut failed = locked(&self.embedding.failures);
        failed.batch_at_ms = Some(now);
        failed.tell(
            error,
            "what it has not embedded is found by words and by the built-in model",
        )
    }

    /// Embeds a few texts, as a recall does, in a process that has asked a server and has its answer.
    pub fn embed_last(&self) {
        if let Model::Other(model) = &self.embedding.model
            && !model.embedder.is_near()
            && locked(&self.embedding.failures).answers
            && !self.options.read_only
        {
            // The next answer says what is wrong.
            let _ = self.embed_some(model, Some(AT_ONCE));
        }
    }

    /// Embeds one batch of what has no vector yet, if the model is not the built-in one; whether there
    /// is more. For the time between answers.
    pub fn embed_behind(&self) -> bool {
        let Model::Other(model) = &self.embedding.model else {
            return false;
        };
        if self.options.read_only || self.failed_lately() || !self.is_there() {
            return false;
        }
        let more = match self.embed_some(model, None) {
            Ok(embedded) => embedded.done < embedded.of,
            Err(line) => {
                line.into_iter().for_each(|line| self.notice(line));
                false
            }
        };
        if !more {
            // Others may need it.
            *locked(&self.embedding.cache) = None;
        }
        more
    }

    /// Embeds one batch as [`Service::embed_batch`] does. If the model fails, returns the line that tells it, unless it
    /// was told before.
    fn embed_some(
        &self,
        model: &ChosenModel,
        few: Option<usize>,
    ) -> std::result::Result<Embedded, Option<String>> {
        match self.embed_batch(model, few) {
            Ok((embedded, _)) => Ok(embedded),
            Err(Stopped::Model(error)) => Err(self.batch_failed(&error)),
            // The next command finds out what is wrong with the store, and says so.
            Err(Stopped::Store(error)) => {
                tracing::debug!(%error, "nothing was embedded");
                Ok(Embedded::default())
            }
        }
    }

    /// Embeds the next texts: a batch, or at most `few`, and none if more versions than `few` are left. Returns the
    /// progress of the model and the number of these texts. Nobody waits for the views meanwhile.
    fn embed_batch(
        &self,
        model: &ChosenModel,
        few: Option<usize>,
    ) -> std::result::Result<(Embedded, u64), Stopped> {
        let id = model.id();
        let (embedded, batch) = self.with_views(|views| {
            let embedded = views.embedded(id);
            let left = embedded.versions_left;
            match left > 0 && few.is_none_or(|few| left <= few as u64) {
                true => Ok((embedded, Some(views.unembedded(id, few.unwrap_or(BATCH))?))),
                false => Ok((embedded, None)),
            }
        })?;
        let Some(batch) = batch.filter(|batch| !batch.texts.is_empty()) else {
            return Ok((embedded, 0));
        };
        let vectors = self
            .vectors(&model.embedder, &batch)
            .map_err(Stopped::Model)?;
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
        let (model, dim) = (embedder.model(), embedder.dim());
        let known = self.with_cache(|cache| cache.get(model, dim, &texts));
        let mut known = known.unwrap_or_else(|| vec![None; texts.len()]);
        let missing: Vec<usize> = (0..texts.len()).filter(|at| known[*at].is_none()).collect();
        if missing.is_empty() {
            return Ok(known.into_iter().flatten().collect());
        }
        let asked: Vec<&str> = missing.iter().map(|at| texts[*at]).collect();
        // Nothing is held meanwhile: it may take long.
        let given = embedder.embed(&asked)?;
        for vector in &given {
            check_vector(vector, embedder)?;
        }
        if given.len() != asked.len() {
            let (given, asked) = (given.len(), asked.len());
            let why = format!("vectors given: {given}, texts: {asked}");
            return Err(wrong(embedder, why));
        }
        let kept = given.iter().map(Vec::as_slice);
        self.with_cache(|cache| cache.put(model, asked.into_iter().zip(kept)));
        for (at, vector) in missing.into_iter().zip(&given) {
            // As the cache will give it back: an answer is the same with it and without.
            known[at] = Some(Cache::rounded(vector));
        }
        Ok(known.into_iter().flatten().collect())
    }

    /// Looks into the cache; `None` where there is none, or another process has it.
    fn with_cache<T>(&self, look: impl FnOnce(&Cache) -> T) -> Option<T> {
        let mut cache = locked(&self.embedding.cache);
        if cache.as_ref().is_some_and(|cache| !cache.is_there()) {
            *cache = None;
        }
        if cache.is_none() && !self.options.read_only && self.is_there() {
            *cache = Cache::open(&self.cache_dir());
        }
        cache.as_ref().map(look)
    }

    /// Embeds whatever has no vector of the model yet.
    pub fn embed(&self, progress: &dyn Progress) -> Result<EmbedReport> {
        self.embed_for(progress, None)
    }

    /// The same, for so long; the batch that is begun then is finished.
    pub fn embed_for(
        &self,
        progress: &dyn Progress,
        most: Option<Duration>,
    ) -> Result<EmbedReport> {
        let model = match &self.embedding.model {
            Model::Other(model) => model,
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
                why: OPENED_READ_ONLY.to_owned(),
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
        let begun = Instant::now();
        loop {
            let (now, added) = self.embed_batch(model, None).map_err(stopped)?;
            new += added;
            progress.advance(added);
            let is_late = most.is_some_and(|most| begun.elapsed() >= most);
            if added == 0 || now.done >= now.of || is_late || progress.is_cancelled() {
                break;
            }
        }
        progress.finish();
        *locked(&self.embedding.cache) = None;
        if !self.with_views(|views| Ok(views.keeps_vectors(model.id())))? {
            let dir = self.views_dir();
            return Err(ServiceError::ReadOnly {
                why: format!("the vectors cannot be written below {}", dir.display()),
            });
        }
        Ok(EmbedReport {
            new,
            status: self.embed_status()?,
        })
    }

    /// Embeds what is left, unless nothing may be written: then it is answered with what there is.
    pub fn embed_for_reading(&self, progress: &dyn Progress) -> Result<()> {
        match (&self.embedding.model, self.options.read_only) {
            (Model::Other(_) | Model::Unusable(_), false) => self.embed(progress).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Files for the vectors to lie in, also where the store is so small that there are none.
    fn bring_views_to_disk(&self) -> Result<()> {
        let in_memory = self.with_views(|views| Ok(!views.are_on_disk()))?;
        if in_memory && self.is_there() {
            let _one_at_a_time = self.snapshots.write();
            let views = self.build()?.0;
            self.snapshots.put(Some(views));
        }
        Ok(())
    }

    /// How far the model is.
    pub fn embed_status(&self) -> Result<EmbedStatus> {
        let passages = self.with_views(|views| Ok(views.passages()))?;
        Ok(match &self.embedding.model {
            Model::None => EmbedStatus {
                model: "none".to_owned(),
                dim: 0,
                embeds: Embeds::Passages,
                versions: passages,
                embedded: 0,
            },
            Model::BuiltIn => {
                let built_in = StaticEmbedder::built_in();
                EmbedStatus {
                    model: built_in.model().to_owned(),
                    dim: built_in.dim(),
                    embeds: Embeds::Passages,
                    versions: passages,
                    embedded: passages,
                }
            }
            Model::Unusable(error) => return Err(model_error(error)),
            Model::Other(model) => {
                let id = model.id();
                let embedded = self.with_views(|views| {
                    views.unembedded(id, 0)?;
                    Ok(views.embedded(id))
                })?;
                EmbedStatus {
                    model: id.name.to_owned(),
                    dim: id.dim,
                    embeds: id.embeds,
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
    match error.hint() {
        Some(hint) => ServiceError::invalid_with(plain(error), hint),
        None => ServiceError::invalid(plain(error)),
    }
}

fn wrong(embedder: &Arc<dyn Embedder>, why: String) -> EmbedError {
    EmbedError::Unavailable {
        model: embedder.model().to_owned(),
        why,
        hint: Some("choose another one with `icm model use`".to_owned()),
    }
}

/// Checks a vector: its length may differ from the model's description, and its numbers may not be finite.
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
