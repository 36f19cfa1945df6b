//! Reads the questions of a pair: JSON lines with `query`, `category` and `evidence`.

use std::collections::HashSet;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use serde_json::{Map, Value};

use super::Question;
use icm_api::error::{Result, ServiceError};
use icm_api::limits;
use icm_api::limits::{KEY_LEN_MAX, QUERY_LEN_MAX};
use icm_guard::json;
use icm_service::next_line;

/// The category of questions without one.
pub(super) const NO_CATEGORY: &str = "none";

/// Returns the questions of a file with their places, `FILE:LINE`.
pub(super) fn questions(path: &Path) -> Result<Vec<(String, Question)>> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|source| ServiceError::Io {
        doing: format!("cannot read {name}"),
        source,
    })?;
    let mut input = BufReader::new(file);
    let mut questions = Vec::new();
    let mut number = 0;
    while let Some(line) = next_line(&mut input, &name, number + 1)? {
        number += 1;
        let place = format!("{name}:{number}");
        let wrong = |why: String| ServiceError::invalid(format!("{place}: {why}"));
        let text = String::from_utf8(line).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            wrong(format!("not UTF-8 at byte {at}"))
        })?;
        if text.trim().is_empty() {
            continue;
        }
        let Value::Object(object) = json::parse(&text).map_err(wrong)? else {
            return Err(wrong("not a JSON object".to_owned()));
        };
        let question = question(&object, number).map_err(|error| wrong(error.to_string()))?;
        questions.push((place, question));
    }
    Ok(questions)
}

fn question(object: &Map<String, Value>, number: u64) -> Result<Question> {
    let query = match object.get("query") {
        Some(Value::String(query)) => query.clone(),
        Some(_) => return Err(ServiceError::invalid("`query` is not text")),
        None => return Err(ServiceError::invalid("`query` is missing")),
    };
    limits::text("the query", &query, QUERY_LEN_MAX)?;
    let category = match object.get("category") {
        None | Some(Value::Null) => NO_CATEGORY.to_owned(),
        Some(Value::String(category)) => category.clone(),
        Some(Value::Number(category)) => category.to_string(),
        Some(_) => {
            return Err(ServiceError::invalid(
                "`category` is neither text nor a number",
            ));
        }
    };
    let mut evidence = Vec::new();
    let mut seen = HashSet::new();
    match object.get("evidence") {
        None | Some(Value::Null) => {}
        Some(Value::Array(keys)) => {
            for key in keys {
                let Value::String(key) = key else {
                    return Err(ServiceError::invalid("a piece of evidence is not text"));
                };
                // Keys are stored in this form.
                let key = limits::name("a piece of evidence", key, KEY_LEN_MAX)?;
                if seen.insert(key.clone()) {
                    evidence.push(key);
                }
            }
        }
        Some(_) => return Err(ServiceError::invalid("`evidence` is not a list of keys")),
    }
    Ok(Question {
        id: number.to_string(),
        query,
        category,
        evidence,
    })
}
