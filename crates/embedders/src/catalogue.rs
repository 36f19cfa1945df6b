//! The catalogue of models that can be installed by name.

use fastembed::EmbeddingModel as Model;

/// A model that `install` can fetch.
#[derive(Debug, Clone)]
pub struct Known {
    /// Common name of the model.
    pub name: &'static str,
    /// Numbers in a vector.
    pub dim: usize,
    /// Size of the download in megabytes, roughly.
    pub size_mb: u32,
    /// Languages of the texts that the model is for.
    pub languages: &'static str,
    pub(crate) model: Model,
}

macro_rules! known {
    ($($name:literal $dim:literal $mb:literal $languages:literal $model:ident,)*) => {
        /// Every model that can be installed by name, the default first.
        pub static KNOWN: &[Known] = &[$(Known {
            name: $name,
            dim: $dim,
            size_mb: $mb,
            languages: $languages,
            model: Model::$model,
        }),*];
    };
}

known! {
    "all-MiniLM-L6-v2" 384 90 "English" AllMiniLML6V2,
    "all-MiniLM-L6-v2-q" 384 23 "English" AllMiniLML6V2Q,
    "all-MiniLM-L12-v2" 384 133 "English" AllMiniLML12V2,
    "all-MiniLM-L12-v2-q" 384 34 "English" AllMiniLML12V2Q,
    "all-mpnet-base-v2" 768 436 "English" AllMpnetBaseV2,
    "bge-small-en-v1.5" 384 133 "English" BGESmallENV15,
    "bge-base-en-v1.5" 768 436 "English" BGEBaseENV15,
    "bge-large-en-v1.5" 1024 1340 "English" BGELargeENV15,
    "bge-small-zh-v1.5" 512 96 "Chinese" BGESmallZHV15,
    "bge-large-zh-v1.5" 1024 1300 "Chinese" BGELargeZHV15,
    "bge-m3" 1024 2270 "over 100" BGEM3,
    "nomic-embed-text-v1.5" 768 548 "English" NomicEmbedTextV15,
    "nomic-embed-text-v1.5-q" 768 137 "English" NomicEmbedTextV15Q,
    "multilingual-e5-small" 384 490 "over 90" MultilingualE5Small,
    "multilingual-e5-base" 768 1130 "over 90" MultilingualE5Base,
    "multilingual-e5-large" 1024 2260 "over 90" MultilingualE5Large,
    "paraphrase-multilingual-MiniLM-L12-v2" 384 487 "over 50" ParaphraseMLMiniLML12V2,
    "paraphrase-multilingual-mpnet-base-v2" 768 1130 "over 50" ParaphraseMLMpnetBaseV2,
    "mxbai-embed-large-v1" 1024 1340 "English" MxbaiEmbedLargeV1,
    "gte-base-en-v1.5" 768 556 "English" GTEBaseENV15,
    "gte-large-en-v1.5" 1024 1750 "English" GTELargeENV15,
    "modernbert-embed-large" 1024 1590 "English" ModernBertEmbedLarge,
    "jina-embeddings-v2-base-code" 768 642 "English, code" JinaEmbeddingsV2BaseCode,
    "jina-embeddings-v2-base-en" 768 547 "English" JinaEmbeddingsV2BaseEN,
    "snowflake-arctic-embed-xs" 384 91 "English" SnowflakeArcticEmbedXS,
    "snowflake-arctic-embed-s" 384 133 "English" SnowflakeArcticEmbedS,
    "snowflake-arctic-embed-m" 768 436 "English" SnowflakeArcticEmbedM,
    "snowflake-arctic-embed-l" 1024 1340 "English" SnowflakeArcticEmbedL,
}

/// Returns the model of this name; upper and lower case are equal.
pub fn known(name: &str) -> Option<&'static Known> {
    KNOWN
        .iter()
        .find(|known| known.name.eq_ignore_ascii_case(name))
}

/// Returns the prefixes of a query and of a text that the model was trained with; empty for most families.
pub(crate) fn prefixes(model: &Model) -> (&'static str, &'static str) {
    match model {
        Model::MultilingualE5Small | Model::MultilingualE5Base | Model::MultilingualE5Large => {
            ("query: ", "passage: ")
        }
        Model::NomicEmbedTextV15 | Model::NomicEmbedTextV15Q | Model::ModernBertEmbedLarge => {
            ("search_query: ", "search_document: ")
        }
        Model::BGESmallENV15
        | Model::BGEBaseENV15
        | Model::BGELargeENV15
        | Model::MxbaiEmbedLargeV1
        | Model::SnowflakeArcticEmbedXS
        | Model::SnowflakeArcticEmbedS
        | Model::SnowflakeArcticEmbedM
        | Model::SnowflakeArcticEmbedL => (
            "Represent this sentence for searching relevant passages: ",
            "",
        ),
        _ => ("", ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_dimensions_are_those_of_fastembed() {
        for (at, known) in KNOWN.iter().enumerate() {
            let info = fastembed::TextEmbedding::get_model_info(&known.model).unwrap();
            assert_eq!(info.dim, known.dim, "{}", known.name);
            assert!(
                KNOWN[..at]
                    .iter()
                    .all(|other| !other.name.eq_ignore_ascii_case(known.name))
            );
            assert_eq!(known.name, crate::onnx::plain_name(known.name));
        }
        assert_eq!(KNOWN[0].name, crate::DEFAULT_MODEL);
    }
}
