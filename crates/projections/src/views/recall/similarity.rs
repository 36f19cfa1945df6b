//! The similarity of versions and a query in meaning: by the chosen model, and by the built-in one.

use super::query::RecallQuery;
use crate::error::Result;
use crate::passages::Passages;
use crate::ranking::known_share;
use crate::views::Views;
use crate::views::embedded::{CosineScale, Embedded, Embeds};
use crate::views::meaning::{self, Cosines};
use icm_vectors::Searched;

/// The meaning of a query.
pub(super) struct Meaning<'a> {
    main: Cosines<'a>,
    /// The built-in model's knowledge of the query's words, 0 to 1.
    known: f64,
    /// The progress of a model that is not built in.
    pub(super) embedded: Option<Embedded>,
    /// The number of rows of that model.
    rows: u64,
    /// The passages of versions, if that model embeds whole texts.
    whole: Option<&'a Passages>,
    /// The scale of that model's cosines.
    scale: Option<CosineScale>,
    /// The built-in model, if the chosen model lacks vectors of some versions.
    stand_in: Option<Cosines<'a>>,
}

/// The similarity of a version and the query in meaning.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Similarity {
    /// The plain cosine by the chosen model, or by the built-in one that stands in for it.
    pub(super) cosine: Option<f32>,
    /// The ranking cosine by the chosen model; `None` without a vector (yet).
    pub(super) meaning: Option<f64>,
    /// The ranking cosine by the built-in model, for versions that lack a vector of the chosen model.
    pub(super) stand_in: Option<f64>,
    /// The ranking cosine times the knowledge of the query's words; for a chosen model, the cosine on its scale.
    pub(super) cosine_for_fit: f64,
}

impl Meaning<'_> {
    /// Returns `true` if the chosen model has a vector of a passage, or of its whole text.
    fn covers(&self, passage: u64) -> bool {
        self.embedded.is_none() || self.row(passage) < self.rows
    }

    /// Returns the row of a passage. With whole texts this is the row of the version's first passage.
    fn row(&self, passage: u64) -> u64 {
        let first = |passages: &Passages| passages.of(passages.version(passage).0).start;
        self.whole.map_or(passage, first)
    }

    /// Returns the weight of the meaning by the chosen model, and by the one that stands in for it; 0 to 1.
    pub(super) fn known(&self) -> [f64; 2] {
        let main = if self.embedded.is_some() {
            1.0
        } else {
            self.known
        };
        [main, self.known]
    }

    /// Returns the number of models that find near passages: the chosen one, and one that stands in for it.
    pub(super) fn models(&self) -> usize {
        1 + usize::from(self.stand_in.is_some())
    }

    /// Returns the `most` nearest visible passages, restricted to `listed` if given; as many again of the passages that
    /// only the stand-in knows; and how the files were searched.
    pub(super) fn nearest(
        &self,
        most: usize,
        listed: Option<&[u64]>,
        (visible, tie): (&dyn Fn(u64) -> bool, &dyn Fn(u64) -> u128),
    ) -> Result<(Vec<u64>, Searched)> {
        let (mut near, searched) = self.main.nearest(most, listed, (visible, tie))?;
        if let Some(stand_in) = &self.stand_in {
            let uncovered = |passage| !self.covers(passage) && visible(passage);
            near.extend(stand_in.nearest(most, listed, (&uncovered, tie))?.0);
        }
        Ok((near, searched))
    }

    /// Returns the similarity of a passage in meaning.
    pub(super) fn of(&self, passage: u64) -> Result<Similarity> {
        let mut similarity = Similarity::default();
        if let Some(stand_in) = &self.stand_in {
            (similarity.cosine, similarity.stand_in) = stand_in.of(passage)?;
            similarity.cosine_for_fit = self.known * similarity.stand_in.unwrap_or(0.0);
        }
        if self.covers(passage) {
            (similarity.cosine, similarity.meaning) = self.main.of(self.row(passage))?;
            let cosine = similarity.meaning.unwrap_or(0.0);
            similarity.cosine_for_fit = match &self.scale {
                None => self.known * cosine,
                Some(scale) => scale.share(cosine),
            };
        }
        Ok(similarity)
    }
}

impl Views {
    /// Returns the meaning of the query by the chosen model, and by the built-in one for versions without a vector.
    pub(super) fn meaning(&self, query: &RecallQuery<'_>, known: f64) -> Result<Meaning<'_>> {
        let built_in = || -> Result<Cosines<'_>> {
            Ok(Cosines::new(
                self.base_vectors()?.clone(),
                self.graph.as_deref(),
                self.tail.rows_of_vectors().to_vec(),
                meaning::centre(),
                &meaning::embed_text(query.text),
            ))
        };
        let Some(asked) = &query.model else {
            return Ok(Meaning {
                main: built_in()?,
                known,
                embedded: None,
                rows: 0,
                whole: None,
                scale: None,
                stand_in: None,
            });
        };
        self.take_over(asked.id);
        let scale = self.model_scale(asked.id);
        let (main, rows, embedded) = self.model_cosines(asked.id, asked.query);
        let stand_in = match embedded.done < embedded.of && known > 0.0 {
            true => Some(built_in()?),
            false => None,
        };
        Ok(Meaning {
            main,
            known,
            embedded: Some(embedded),
            rows,
            whole: (asked.id.embeds == Embeds::Texts).then_some(&self.tail.passages),
            scale: Some(scale),
            stand_in,
        })
    }
}

/// Returns the weight of the built-in model's meaning of a query, 0 to 1. It is 1 if only meaning ranks.
pub(super) fn known(query: &RecallQuery<'_>) -> f64 {
    match query.ranking.finds_by_words() {
        true => meaning::embedder()
            .pieces_per_word(query.text)
            .map_or(0.0, known_share),
        false => 1.0,
    }
}
