//! Words too common to tell memories apart.

/// English function words, question words, pronouns and auxiliaries, folded and
/// without apostrophes, sorted for binary search.
///
/// `may`, `will` and `us` are left out on purpose: they are also a month, a name
/// and a country, and where they are auxiliaries BM25 gives them little weight.
const STOPWORDS: &[&str] = &[
    "a", "about", "above", "after", "again", "against", "all", "also", "am", "an", "and", "any",
    "are", "arent", "as", "at", "be", "because", "been", "before", "being", "below", "between",
    "both", "but", "by", "can", "cannot", "cant", "could", "couldnt", "did", "didnt", "do", "does",
    "doesnt", "doing", "dont", "down", "during", "each", "etc", "ever", "every", "few", "for",
    "from", "further", "get", "gets", "getting", "got", "had", "hadnt", "has", "hasnt", "have",
    "havent", "having", "he", "her", "here", "hers", "herself", "him", "himself", "his", "how",
    "i", "if", "in", "into", "is", "isnt", "it", "its", "itself", "just", "let", "lets", "many",
    "me", "might", "mightnt", "more", "most", "much", "must", "mustnt", "my", "myself", "neednt",
    "no", "nor", "not", "of", "off", "on", "once", "only", "or", "other", "ought", "our", "ours",
    "ourselves", "out", "over", "own", "really", "same", "shall", "shant", "she", "should",
    "shouldnt", "so", "some", "such", "than", "that", "thats", "the", "their", "theirs", "them",
    "themselves", "then", "there", "these", "they", "this", "those", "through", "to", "too",
    "under", "until", "up", "upon", "very", "was", "wasnt", "we", "were", "werent", "what",
    "whatever", "when", "whenever", "where", "wherever", "whether", "which", "whichever", "while",
    "who", "whoever", "whom", "whose", "why", "with", "wont", "would", "wouldnt", "yet", "you",
    "your", "yours", "yourself", "yourselves",
];

/// Whether a folded word is in the list.
pub(crate) fn is_stopword(folded: &str) -> bool {
    STOPWORDS.binary_search(&folded).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_is_sorted_so_that_every_word_is_found() {
        assert!(STOPWORDS.is_sorted());
        assert!(STOPWORDS.iter().all(|word| is_stopword(word)));
        assert!(!is_stopword("may"));
    }
}
