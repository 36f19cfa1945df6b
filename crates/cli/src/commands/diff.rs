//! `icm diff`

use clap::Args;
use icm_api::{
    Basis, Concept, Diff, DiffOp, DiffPiece, DiffRequest, FeedbackDiff, GraphDiff, LogRequest,
    Memoir, Memory, MemoryChange, MemoryLink,
};
use serde_json::{Map, Value};

use crate::app::App;
use crate::error::{CliError, ErrorKind, Outcome};
use crate::memory_view::{print_quoted, short_id_len};
use crate::ui::{BAD, BOLD, DIM, GOOD, TOPIC, Ui, WARN};
use crate::{columns, text, when};

/// Show the changes of memories and memoirs between two moments
///
/// First come the memories that were added, changed, forgotten and revived from T1 to T2, by topic. Then come the links
/// that were added and removed; with `--topic`, one end of the link must be in the topic. Changes of memoirs, their
/// concepts and links, and feedback, come last, but not with `--topic` or `--session`. Texts are compared word by word. A change that
/// was taken back before T2 is not shown.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm diff yesterday
  icm diff @120 @250 -t payments/
  icm diff '2h ago' --memoir system")]
pub(crate) struct DiffArgs {
    /// The earlier moment: a time, a position (`@123`) or the beginning of an event id [default with `--session`:
    /// before its first event]
    #[arg(value_name = "T1", required_unless_present = "session")]
    from: Option<String>,
    /// The later moment [default: now]
    #[arg(value_name = "T2")]
    to: Option<String>,
    /// Only this topic; `a/` for `a` and everything below it
    #[arg(short, long)]
    topic: Option<String>,
    /// Only memories changed by an event of this session
    #[arg(long)]
    session: Option<String>,
    /// Only this memoir, its concepts and links: name or id
    #[arg(long, value_name = "NAME", conflicts_with_all = ["topic", "session"])]
    memoir: Option<String>,
}

pub(crate) fn run(args: DiffArgs, app: &App) -> Result<Outcome, CliError> {
    let from = match (args.from, &args.session) {
        (Some(from), _) => from,
        (None, session) => before_session(session.as_deref(), app)?,
    };
    let diff = app.service()?.diff(&DiffRequest {
        from,
        to: args.to,
        topic: args.topic,
        session: args.session,
        memoir: args.memoir,
        limit: None,
    })?;

    if app.ui.json {
        app.ui.json(&diff)?;
    } else {
        print(app, &diff)?;
    }
    Ok(Outcome::Fine)
}

/// The change of one memory.
enum Fate<'a> {
    Added(&'a Memory),
    Changed(&'a MemoryChange),
    Forgotten(&'a Memory),
    Revived(&'a Memory),
}

impl Fate<'_> {
    fn topic(&self) -> &str {
        match self {
            Fate::Added(memory) | Fate::Forgotten(memory) | Fate::Revived(memory) => &memory.topic,
            Fate::Changed(change) => &change.topic,
        }
    }

    fn id(&self) -> &str {
        match self {
            Fate::Added(memory) | Fate::Forgotten(memory) | Fate::Revived(memory) => &memory.id,
            Fate::Changed(change) => &change.id,
        }
    }

    fn planned_from(&self) -> Option<&str> {
        match self {
            Fate::Added(memory) | Fate::Revived(memory) => memory.planned_from.as_deref(),
            Fate::Changed(_) | Fate::Forgotten(_) => None,
        }
    }
}

/// Returns the position before the first event of a session.
fn before_session(session: Option<&str>, app: &App) -> Result<String, CliError> {
    let request = LogRequest {
        session: session.map(str::to_owned),
        oldest_first: true,
        limit: Some(1),
        ..LogRequest::default()
    };
    let mut first = None;
    app.service()?.log(&request, &mut |entry| {
        first = Some(entry.position);
        false
    })?;
    match first {
        Some(first) => Ok(format!("@{}", first.saturating_sub(1))),
        None => Err(CliError::failed("no event is of that session")
            .with_hint("`icm sessions` lists the sessions")
            .of_kind(ErrorKind::NotFound)),
    }
}

fn print(app: &App, diff: &Diff) -> Result<(), CliError> {
    let ui = &app.ui;
    let mut fates: Vec<Fate<'_>> = Vec::new();
    fates.extend(diff.added.iter().map(Fate::Added));
    fates.extend(diff.changed.iter().map(Fate::Changed));
    fates.extend(diff.forgotten.iter().map(Fate::Forgotten));
    fates.extend(diff.revived.iter().map(Fate::Revived));
    fates.sort_by(|a, b| a.topic().cmp(b.topic())); // stable: in a topic as above
    let links = || diff.linked.iter().chain(&diff.unlinked);
    let mut ids: Vec<&str> = fates.iter().map(Fate::id).collect();
    ids.extend(links().flat_map(|link| [link.from.as_str(), link.to.as_str()]));
    let id_len = short_id_len(app, &ids)?;

    for (i, group) in fates.chunk_by(|a, b| a.topic() == b.topic()).enumerate() {
        if i > 0 {
            ui.line(format_args!(""))?;
        }
        let topic = text::one_line(group.first().map_or("", Fate::topic));
        ui.line(format_args!("{}", ui.paint(TOPIC.bold(), &topic)))?;
        for fate in group {
            print_fate(ui, fate, id_len)?;
        }
    }
    let moment = |basis: &Basis| match basis.position {
        0 => "before the first event".to_owned(),
        position => format!(
            "{} ({})",
            ui.paint(BOLD, &format!("@{position}")),
            when::ago(ui.now, &basis.at)
        ),
    };
    if links().next().is_some() {
        ui.line(format_args!("{}", ui.paint(TOPIC.bold(), "links")))?;
    }
    for (deed, style, list) in [
        ("linked", GOOD, &diff.linked),
        ("unlinked", BAD, &diff.unlinked),
    ] {
        for link in list {
            print_link(ui, columns::Cell::new(deed).style(style), link, id_len)?;
        }
    }
    print_graph(ui, &diff.graph)?;
    print_feedback(ui, &diff.feedback)?;
    let linked = match (diff.linked.len(), diff.unlinked.len()) {
        (0, 0) => String::new(),
        (linked, unlinked) => format!(", {linked} linked, {unlinked} unlinked"),
    };
    let graph = match diff.graph.count() {
        0 => String::new(),
        1 => ", and 1 change of memoirs,".to_owned(),
        n => format!(", and {n} changes of memoirs,"),
    };
    ui.remark(format_args!(
        "{} added, {} changed, {} forgotten, {} revived{linked}{graph}{} from {} to {}",
        diff.added.len(),
        diff.changed.len(),
        diff.forgotten.len(),
        diff.revived.len(),
        match diff.faded {
            0 => String::new(),
            others => format!(", {} faded", text::count(others, "other", "others")),
        },
        moment(&diff.from),
        moment(&diff.to),
    ));
    Ok(())
}

/// Prints a link between two memories.
fn print_link(
    ui: &Ui,
    deed: columns::Cell,
    link: &MemoryLink,
    id_len: usize,
) -> Result<(), CliError> {
    let short = |id: &str| id.get(..id_len).unwrap_or(id).to_owned();
    let text = format!("{} {}", link.relation, short(&link.to));
    let row = [
        deed,
        columns::Cell::new(short(&link.from)).style(DIM),
        columns::Cell::new(text),
    ];
    columns::print_row(ui, &row, &[DEED_WIDTH, id_len, 0])
}

/// Characters of each text of a correction.
const FEEDBACK_CHARS: usize = 80;

/// Prints the changes of feedback and of marks.
fn print_feedback(ui: &Ui, feedback: &FeedbackDiff) -> Result<(), CliError> {
    if feedback.is_empty() {
        return Ok(());
    }
    ui.line(format_args!("{}", ui.paint(TOPIC.bold(), "feedback")))?;
    let row = |deed: &str, style, id: &str, text: &str| {
        let cells = [
            columns::Cell::new(deed).style(style),
            columns::Cell::new(id).style(DIM),
            columns::Cell::new(text::one_line(text)),
        ];
        columns::print_row(ui, &cells, &[DEED_WIDTH, 0, 0])
    };
    for it in &feedback.recorded {
        row("recorded", GOOD, &it.id, &it.told(FEEDBACK_CHARS))?;
    }
    for it in &feedback.gone {
        row("undone", BAD, &it.id, &it.told(FEEDBACK_CHARS))?;
    }
    for it in &feedback.judged {
        let told = it.marks.told();
        row(
            "judged",
            WARN,
            &it.id,
            told.as_deref().unwrap_or("no longer judged"),
        )?;
    }
    Ok(())
}

/// Prints the changes of memoirs, concepts and links.
fn print_graph(ui: &Ui, graph: &GraphDiff) -> Result<(), CliError> {
    if graph.is_empty() {
        return Ok(());
    }
    ui.line(format_args!(
        "{}",
        ui.paint(TOPIC.bold(), "memoirs and concepts")
    ))?;
    let row = |deed: &str, style, name: String, text: Option<&str>| {
        let cells = [
            columns::Cell::new(deed).style(style),
            columns::Cell::new(name),
            columns::Cell::new(text.unwrap_or_default()),
        ];
        columns::print_row(ui, &cells, &[DEED_WIDTH, 0, 0])
    };
    let memoirs = |list: &[Memoir], deed, style| {
        let mut memoirs = list.iter();
        memoirs.try_for_each(|it| row(deed, style, it.name.clone(), it.description.as_deref()))
    };
    let concepts = |list: &[Concept], deed, style| {
        let mut concepts = list.iter();
        concepts.try_for_each(|it| {
            let name = format!("{} / {}", it.memoir, it.name);
            row(deed, style, name, it.definition.as_deref())
        })
    };
    memoirs(&graph.memoirs_added, "added", GOOD)?;
    memoirs(&graph.memoirs_forgotten, "forgotten", BAD)?;
    concepts(&graph.added, "added", GOOD)?;
    concepts(&graph.forgotten, "forgotten", BAD)?;
    for change in graph.memoirs_changed.iter().chain(&graph.changed) {
        let name = match change.name.as_deref() {
            Some(name) => format!("{} / {name}", change.memoir),
            None => change.memoir.clone(),
        };
        row("changed", WARN, name, Some(&change.fields.join(", ")))?;
        print_fields(
            ui,
            &change.fields,
            [&change.before, &change.after],
            (change.text_field(), &change.text_diff),
        )?;
    }
    for (deed, style, links) in [
        ("linked", GOOD, &graph.linked),
        ("unlinked", BAD, &graph.unlinked),
    ] {
        for link in links {
            let text = format!(
                "{} / {} {} {}",
                link.memoir, link.from, link.relation, link.to
            );
            row(deed, style, text, None)?;
        }
    }
    Ok(())
}

/// Width of the longest word for a change.
const DEED_WIDTH: usize = 9;

fn print_fate(ui: &Ui, fate: &Fate<'_>, id_len: usize) -> Result<(), CliError> {
    let (deed, style) = match fate {
        Fate::Added(_) => ("added", GOOD),
        Fate::Changed(_) => ("changed", WARN),
        Fate::Forgotten(_) => ("forgotten", BAD),
        Fate::Revived(_) => ("revived", GOOD),
    };
    let id = fate.id().get(..id_len).unwrap_or(fate.id());
    let what = match fate {
        Fate::Changed(change) => columns::Cell::new(change.fields.join(", ")),
        Fate::Added(memory) | Fate::Forgotten(memory) | Fate::Revived(memory) => {
            columns::Cell::new(memory.content.as_deref().unwrap_or("(withheld)"))
        }
    };
    let row = [
        columns::Cell::new(deed).style(style),
        columns::Cell::new(id).style(DIM),
        what,
    ];
    columns::print_row(ui, &row, &[DEED_WIDTH, id_len, 0])?;
    if let Some(from) = fate.planned_from() {
        let planned = format!("planned, valid from {}", when::local(from));
        ui.line(format_args!("  {}", ui.paint(DIM, &planned)))?;
    }
    if let Fate::Changed(change) = fate {
        print_fields(
            ui,
            &change.fields,
            [&change.before, &change.after],
            ("content", &change.content_diff),
        )?;
    }
    Ok(())
}

/// Prints the fields that differ; the text field word by word.
fn print_fields(
    ui: &Ui,
    fields: &[String],
    [before, after]: [&Map<String, Value>; 2],
    (text, pieces): (&str, &[DiffPiece]),
) -> Result<(), CliError> {
    for field in fields.iter().filter(|field| *field != text) {
        let [before, after] = [before, after].map(|fields| fields.get(field));
        let line = match field.as_str() {
            "keywords" | "labels" => format!("{field}: {}", keywords(before, after)),
            "raw_excerpt" => "raw excerpt: changed".to_string(),
            name => {
                let [before, after] = [before, after].map(|it| value(name, it));
                format!("{name}: {before} → {after}")
            }
        };
        let room = ui.columns.map(|columns| columns.saturating_sub(4));
        for line in text::wrap(&text::one_line(&line), room) {
            ui.line(format_args!("  {}", ui.paint(DIM, &line)))?;
        }
    }
    match after.get(text) {
        None => Ok(()),
        Some(Value::String(text)) if pieces.is_empty() => print_quoted(ui, text),
        Some(_) if pieces.is_empty() => ui.line(format_args!("  {}", ui.paint(WARN, "(withheld)"))),
        Some(_) => print_pieces(ui, pieces),
    }
}

fn value(field: &str, value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "none".into(),
        Some(Value::String(text)) => when::of_field(field, text),
        Some(other) => other.to_string(),
    }
}

/// Returns the difference as `+new -old`.
fn keywords(before: Option<&Value>, after: Option<&Value>) -> String {
    let words = |list: Option<&Value>| -> Vec<String> {
        let words = list.and_then(Value::as_array).into_iter().flatten();
        words.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let (before, after) = (words(before), words(after));
    let new = after.iter().filter(|word| !before.contains(word));
    let old = before.iter().filter(|word| !after.contains(word));
    let changes: Vec<String> = new
        .map(|word| format!("+{word}"))
        .chain(old.map(|word| format!("-{word}")))
        .collect();
    match changes.is_empty() {
        true => "in another order".into(),
        false => changes.join(" "),
    }
}

/// Unchanged words that are shown beside a change. Raised, a diff shows more of the unchanged text.
const CONTEXT_WORDS: usize = 12;

/// Placeholders for the marks while the text is wrapped. They are removed from the text first.
const MARKS: [char; 4] = ['\u{e000}', '\u{e001}', '\u{e002}', '\u{e003}'];

/// Prints a text with its changes: in colours if the output has them, else as `[-old-]{+new+}`.
fn print_pieces(ui: &Ui, pieces: &[DiffPiece]) -> Result<(), CliError> {
    let [delete, deleted, insert, inserted] = MARKS;
    let mut marked = String::new();
    for (i, piece) in pieces.iter().enumerate() {
        let shown = text::cleaned(&piece.text).replace(MARKS, "");
        match piece.op {
            DiffOp::Equal => {
                let (first, last) = (i == 0, i + 1 == pieces.len());
                marked.push_str(&shortened(&shown, first, last));
            }
            DiffOp::Delete => marked.extend([delete.to_string(), shown, deleted.to_string()]),
            DiffOp::Insert => marked.extend([insert.to_string(), shown, inserted.to_string()]),
        }
    }
    let paints = ui.paints();
    if !paints {
        for (mark, text) in MARKS.iter().zip(["[-", "-]", "{+", "+}"]) {
            marked = marked.replace(*mark, text);
        }
        return print_quoted(ui, &marked);
    }
    let bar = ui.paint(DIM, "│");
    let mut style = None;
    for line in text::wrap(&marked, ui.columns.map(|columns| columns.saturating_sub(4))) {
        let mut shown = String::new();
        for part in line.split_inclusive(MARKS) {
            let mark = part.chars().next_back().filter(|c| MARKS.contains(c));
            let part = part.trim_end_matches(MARKS);
            shown.push_str(&match style {
                Some(style) => ui.paint(style, part),
                None => part.to_string(),
            });
            match mark {
                Some(mark) if mark == delete => style = Some(BAD.strikethrough()),
                Some(mark) if mark == insert => style = Some(GOOD),
                Some(_) => style = None,
                None => {}
            }
        }
        ui.line(format_args!("  {bar} {shown}"))?;
    }
    Ok(())
}

/// Returns the words of an unchanged stretch that stand beside a change, with `…` for the others.
fn shortened(text: &str, first: bool, last: bool) -> String {
    let words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
    let (head, tail) = match (first, last) {
        (true, true) => (words.len(), 0),
        (true, false) => (0, CONTEXT_WORDS),
        (false, true) => (CONTEXT_WORDS, 0),
        (false, false) => (CONTEXT_WORDS, CONTEXT_WORDS),
    };
    if words.len() <= head + tail + 1 {
        return text.to_string();
    }
    let (head, tail) = (&words[..head], &words[words.len() - tail..]);
    let gap = if head.is_empty() { "… " } else { " … " };
    let gap = if tail.is_empty() { " …" } else { gap };
    format!("{}{gap}{}", head.concat().trim_end(), tail.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_stretches_are_shortened_where_nothing_changed() {
        let words = |n: usize| (0..n).map(|i| format!("w{i} ")).collect::<String>();
        assert_eq!(shortened(&words(13), true, false), words(13));
        let start = shortened(&words(30), true, false);
        assert!(
            start.starts_with("… w18 ") && start.ends_with("w29 "),
            "{start}"
        );
        let end = shortened(&words(30), false, true);
        assert!(end.starts_with("w0 ") && end.ends_with("w11 …"), "{end}");
        let middle = shortened(&words(40), false, false);
        assert!(middle.contains("w11 … w28 "), "{middle}");
        assert_eq!(shortened(&words(25), false, false), words(25));
    }

    #[test]
    fn keywords_are_told_by_what_came_and_went() {
        let list = |words: &[&str]| Value::from(words.to_vec());
        let (a, b) = (list(&["x", "y"]), list(&["y", "z"]));
        assert_eq!(keywords(Some(&a), Some(&b)), "+z -x");
        assert_eq!(
            keywords(Some(&a), Some(&list(&["y", "x"]))),
            "in another order"
        );
    }
}
