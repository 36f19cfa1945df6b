//! The reasons of a recall, in words.

use serde_json::Value;

/// Returns the number of texts with a word of the question, by the reasons of a recall; of several forms the largest
/// number.
pub fn texts_with(explain: &Value, word: &str) -> Option<u64> {
    let terms = explain["text"]["terms"].as_array()?;
    let of_word = terms.iter().filter(|term| term["word"] == word);
    of_word.filter_map(|term| term["documents"].as_u64()).max()
}

/// Returns the way in which a recall searched vectors, by its reasons: `120 vectors scanned`. `None` if there was none.
pub fn vectors_searched(explain: &Value) -> Option<String> {
    let searched = &explain["vectors"];
    let number = |name: &str| searched[name].as_u64().unwrap_or(0);
    let rows = match number("rows") {
        1 => "1 vector".to_owned(),
        rows => format!("{rows} vectors"),
    };
    match searched["by"].as_str() {
        Some("graph") => Some(format!("{rows} searched by the graph")),
        Some("list") => {
            let listed = number("listed");
            Some(format!("{listed} of {rows} looked at, those that fit"))
        }
        // The vectors of the tail are in memory, and few.
        _ if number("rows") == 0 => None,
        _ => Some(format!("{rows} scanned")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reasons_are_told_in_words() {
        let told = |vectors: Value| vectors_searched(&json!({ "vectors": vectors }));
        for (vectors, words) in [
            (
                json!({ "by": "graph", "rows": 9 }),
                Some("9 vectors searched by the graph"),
            ),
            (
                json!({ "by": "list", "rows": 9, "listed": 2 }),
                Some("2 of 9 vectors looked at, those that fit"),
            ),
            (json!({ "by": "scan", "rows": 1 }), Some("1 vector scanned")),
            (json!({ "by": "scan", "rows": 0 }), None),
        ] {
            assert_eq!(told(vectors).as_deref(), words);
        }
        let term = |word: &str, documents: u64| json!({ "word": word, "documents": documents });
        let terms = json!({ "text": { "terms": [term("a", 2), term("a", 5), term("b", 9)] } });
        assert_eq!(texts_with(&terms, "a"), Some(5));
        assert_eq!(texts_with(&terms, "c"), None);
    }
}
