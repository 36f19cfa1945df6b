//! How near versions are to a query in meaning: by the model that is asked, and by the built-in one.

use super::query::RecallQuery;
use crate::error::Result;
use crate::ranking::known_share;
use crate::views::Views;
use crate::views::embedded::{CosineScale, Embedded};
use crate::views::meaning::{self, Cosines};
use icm_vectors::Searched;

/// A query by its meaning.
pub(super) struct Meaning<'a> {
    main: Cosines<'a>,
    /// How well the built-in model knows the words of the query, 0 to 1.
    known: f64,
    /// How far a model is that is not built in.
    pub(super) embedded: Option<Embedded>,
    /// The scale of its cosines.
    scale: Option<CosineScale>,
    /// The built-in model, where the one that is asked has no vectors of some versions.
    stand_in: Option<Cosines<'a>>,
}

/// How near a version is to the query in meaning.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Near {
    /// The plain cosine by the model that is asked, or the one that stands in for it.
    pub(super) cosine: Option<f32>,
    /// The cosine that ranks, by the model that is asked; `None` where there is no vector (yet).
    pub(super) meaning: Option<f64>,
    /// The same by the built-in model, looked at where the model that is asked has no vectors of some versions: it
    /// ranks those.
    pub(super) stand_in: Option<f64>,
    /// The cosine that ranks, times how well the query is known; of a chosen model by its scale.
    pub(super) fit: f64,
}

impl Meaning<'_> {
    /// Whether the model that is asked has a vector of a version.
    fn covers(&self, ordinal: u64) -> bool {
        (self.embedded).is_none_or(|embedded| ordinal < embedded.done)
    }

    /// How much of the model's meaning counts, and of that of the one that stands in for it; 0 to 1.
    pub(super) fn known(&self) -> [f64; 2] {
        let main = if self.embedded.is_some() {
            1.0
        } else {
            self.known
        };
        [main, self.known]
    }

    /// Returns how many models say what is near: the one that is asked, and one that stands in for it.
    pub(super) fn models(&self) -> usize {
        1 + usize::from(self.stand_in.is_some())
    }

    /// The `most` visible passages that are nearest, of those listed if there is a list; as many again of
    /// those that only the stand-in knows; and how the files were searched.
    pub(super) fn nearest(
        &self,
        most: usize,
        listed: Option<&[u64]>,
        (visible, tie): (&dyn Fn(u64) -> bool, &dyn Fn(u64) -> u128),
    ) -> Result<(Vec<u64>, Searched)> {
        let (mut near, searched) = self.main.nearest(most, listed, (visible, tie))?;
        if let Some(stand_in) = &self.stand_in {
            let uncovered = |ordinal| !self.covers(ordinal) && visible(ordinal);
            near.extend(stand_in.nearest(most, listed, (&uncovered, tie))?.0);
        }
        Ok((near, searched))
    }

    /// How near a version is in meaning.
    pub(super) fn of(&self, ordinal: u64) -> Result<Near> {
        let mut near = Near::default();
        if let Some(stand_in) = &self.stand_in {
            (near.cosine, near.stand_in) = stand_in.of(ordinal)?;
            near.fit = self.known * near.stand_in.unwrap_or(0.0);
        }
        if self.covers(ordinal) {
            (near.cosine, near.meaning) = self.main.of(ordinal)?;
            let cosine = near.meaning.unwrap_or(0.0);
            near.fit = match &self.scale {
                None => self.known * cosine,
                Some(scale) => scale.share(cosine),
            };
        }
        Ok(near)
    }
}

impl Views {
    /// The meaning of the query by the model that is asked for, and by the built-in one for what that has
    /// no vectors of.
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
                scale: None,
                stand_in: None,
            });
        };
        self.take_over(asked.id);
        let scale = self.model_scale(asked.id);
        let (main, embedded) = self.model_cosines(asked.id, asked.query);
        let stand_in = match embedded.done < embedded.of && known > 0.0 {
            true => Some(built_in()?),
            false => None,
        };
        Ok(Meaning {
            main,
            known,
            embedded: Some(embedded),
            scale: Some(scale),
            stand_in,
        })
    }
}

/// Returns how much the built-in model's meaning of a query counts, 0 to 1. Where meaning is all that ranks, it counts
/// in full.
pub(super) fn known(query: &RecallQuery<'_>) -> f64 {
    match query.ranking.finds_by_words() {
        true => meaning::embedder()
            .pieces_per_word(query.text)
            .map_or(0.0, known_share),
        false => 1.0,
    }
}
