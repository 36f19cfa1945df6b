//! Measures the cost of a model: `cargo run -p icm-embedders --example model_cost -- STORE NAME < texts`, one text a
//! line. Prints the time of the first text, which loads the model, and the mean of the others one by one and in batches
//! of 64. With a third argument writes the vectors to that file, one a line.

#![allow(clippy::print_stdout, missing_docs)]

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use icm_embedders::{Choice, Opened, open};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, store, name, rest @ ..] = arguments.as_slice() else {
        return Err("usage: model_cost STORE NAME [FILE] < texts".into());
    };
    let texts: Vec<String> = std::io::stdin().lines().collect::<Result<_, _>>()?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let begun = Instant::now();
    let Opened::Model(model) = open(&Choice::Installed(name.clone()), Path::new(store))? else {
        return Err("no model".into());
    };
    println!(
        "opened in {:.2?}: {}, {} numbers",
        begun.elapsed(),
        model.model(),
        model.dim()
    );
    let begun = Instant::now();
    model.embed_query(texts.first().copied().unwrap_or("a text"))?;
    println!("first text {:.1?}", begun.elapsed());
    let n = texts.len().max(1) as u32;
    let begun = Instant::now();
    for text in &texts {
        model.embed_query(text)?;
    }
    println!("one by one {:.2?} a text", begun.elapsed() / n);
    let begun = Instant::now();
    let mut vectors = Vec::new();
    for texts in texts.chunks(64) {
        vectors.append(&mut model.embed(texts)?);
    }
    println!("in batches {:.2?} a text", begun.elapsed() / n);
    if let Some(path) = rest.first() {
        let mut out = std::io::BufWriter::new(std::fs::File::create(path)?);
        for vector in &vectors {
            writeln!(out, "{}", serde_json::to_string(vector)?)?;
        }
    }
    Ok(())
}
