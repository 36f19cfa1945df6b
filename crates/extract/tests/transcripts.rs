//! Transcripts of every client, read in pieces, damaged and hostile.

use std::cell::Cell;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::rc::Rc;

use icm_extract::{
    Found, LINE_LEN_MAX, Progress, Rules, Speaker, from_text, from_transcript, is_transcript,
    passages,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn read(bytes: &[u8], from: Option<Progress>) -> (Vec<Found>, Progress) {
    read_by(bytes, from, &Rules::default())
}

fn read_by(bytes: &[u8], from: Option<Progress>, rules: &Rules) -> (Vec<Found>, Progress) {
    from_transcript(&mut Cursor::new(bytes), from, rules, || false).expect("it reads")
}

fn texts(found: &[Found]) -> Vec<&str> {
    found.iter().map(|found| found.text.as_str()).collect()
}

const CLAUDE: &str = r#"{"type":"summary","summary":"We decided to use Oracle.","leafUuid":"x"}
{"type":"user","isMeta":true,"message":{"role":"user","content":"We decided to use Meta."},"uuid":"m"}
{"type":"user","message":{"role":"user","content":"We decided to use PostgreSQL 16 for invoices."},"uuid":"u1","timestamp":"2026-01-02T03:04:05.678Z","sessionId":"s","isSidechain":false}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"thinking","thinking":"We decided to use Thought."},{"type":"text","text":"The crash was caused by a stale lock in `src/lock.rs`."},{"type":"tool_use","id":"t","name":"Bash","input":{"command":"we decided to use Input"}}]},"uuid":"a1","timestamp":"2026-01-02T03:04:06Z"}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"Note: we decided to use Toolbox for builds."}]},"uuid":"u2"}
{"type":"user","message":{"role":"user","content":[{"type":"text","text":"<system-reminder>We decided to use Reminders.</system-reminder>Always use British spelling in texts."}]},"uuid":"u3","isSidechain":true}
not json
{"no":"form"}
"#;

#[test]
fn claude_code_is_read_without_thinking_tools_and_reminders() {
    let (found, progress) = read(CLAUDE.as_bytes(), None);
    assert_eq!(
        texts(&found),
        [
            "We decided to use PostgreSQL 16 for invoices.",
            "The crash was caused by a stale lock in `src/lock.rs`.",
            "Always use British spelling in texts.",
        ]
    );
    assert_eq!(found[0].speaker, Speaker::User);
    assert_eq!(found[0].at_ms, Some(1_767_323_045_678));
    assert_eq!(found[0].origin.line, 3);
    assert_eq!(found[0].origin.message.as_deref(), Some("u1"));
    assert!(
        CLAUDE[found[0].origin.offset.expect("an offset") as usize..]
            .starts_with("{\"type\":\"user\",\"message\"")
    );
    assert_eq!(found[1].speaker, Speaker::Assistant);
    // A model asks a sub-agent.
    assert_eq!(found[2].speaker, Speaker::Assistant);
    assert_eq!(
        (progress.offset, progress.lines, progress.skipped),
        (CLAUDE.len() as u64, 8, 2)
    );

    let with_tools = Rules {
        tool_output: true,
        ..Rules::default()
    };
    let (found, _) = read_by(CLAUDE.as_bytes(), None, &with_tools);
    let tool = found
        .iter()
        .find(|found| found.speaker == Speaker::Tool)
        .expect("a tool");
    assert_eq!(tool.text, "Note: we decided to use Toolbox for builds.");
}

/// Reads passages in pieces of at most `room` bytes until nothing is new.
fn in_pieces(file: &str, room: usize) -> Vec<(Speaker, u64, String)> {
    let mut all = Vec::new();
    let mut from = None;
    loop {
        let mut reader = Cursor::new(file.as_bytes());
        let (list, progress) =
            passages(&mut reader, from.clone(), &Rules::default(), room, || false)
                .expect("it reads");
        all.extend(
            list.into_iter()
                .map(|it| (it.speaker, it.origin.line, it.text)),
        );
        if from.as_ref() == Some(&progress) {
            return all;
        }
        from = Some(progress);
    }
}

#[test]
fn a_turn_without_room_comes_the_next_time() {
    let said = [
        "We use Kafka.\nFor events.",
        "We use Go.",
        "We use Rust here.",
    ];
    let object = r#"{"type":"user","message":{"role":"user","content":"We use JSON."}}"#;
    let plain = format!(
        "User: {}\nAssistant: {}\nUser: {}\n",
        said[0], said[1], said[2]
    );
    for file in [
        plain.clone(),
        format!("{plain}{object}\n"),
        format!("{plain}{object}"),
        format!("{plain}{}\n", "x".repeat(LINE_LEN_MAX + 1)),
    ] {
        let whole = in_pieces(&file, 10_000);
        assert_eq!(whole.len(), 3 + usize::from(file.contains("JSON")));
        for room in [26, 30, 40, 60] {
            assert_eq!(in_pieces(&file, room), whole, "{room}");
        }
    }
}

#[test]
fn a_deadline_in_a_turn_loses_nothing() {
    let file = "User: Hello.\nAssistant: Thanks for that, here is the rest.\n\nWe decided to use Kafka for\nevents.\n\n\
                We decided to use Go 1.24 for tools.\nUser: We decided to use tabs in Go.\n";
    let (whole, end) = read(file.as_bytes(), None);
    assert_eq!(whole.len(), 3);
    for lines in 1..=8 {
        let (mut all, mut from) = (Vec::new(), None);
        for _ in 0..20 {
            let left = Cell::new(lines);
            let stop = || left.replace(left.get() - 1) <= 0;
            let mut reader = Cursor::new(file.as_bytes());
            let (found, progress) =
                from_transcript(&mut reader, from, &Rules::default(), stop).expect("it reads");
            all.extend(found);
            from = Some(progress);
        }
        assert_eq!(texts(&all), texts(&whole), "{lines}");
        assert_eq!(from.as_ref(), Some(&end), "{lines}");
    }
}

#[test]
fn lines_that_come_later_belong_to_the_last_speaker() {
    let first = "User: Hello.\nAssistant: Thanks.\n";
    let (_, progress) = read(first.as_bytes(), None);
    let file = format!("{first}We decided to use Kafka for events.\n");
    let (found, progress) = read(file.as_bytes(), Some(progress));
    assert_eq!(texts(&found), ["We decided to use Kafka for events."]);
    assert_eq!(
        (found[0].speaker, found[0].origin.line),
        (Speaker::Assistant, 3)
    );
    assert_eq!(progress.skipped, 0);
    // The same holds behind a line or a turn that is too long.
    for filler in [
        format!("{}\n", "x".repeat(LINE_LEN_MAX + 1)),
        format!("{}\n", "x ".repeat(1_000)).repeat(LINE_LEN_MAX / 2_000 + 2),
    ] {
        let file = format!("{first}{filler}\nWe decided to use Kafka for events.\n");
        let (found, _) = read(file.as_bytes(), None);
        assert_eq!(texts(&found), ["We decided to use Kafka for events."]);
    }
}

#[test]
fn other_clients_are_read_by_their_content() {
    let codex = r#"{"timestamp":"2026-01-02T03:04:05Z","type":"session_meta","payload":{"id":"1","instructions":"We decided to use Meta."}}
{"timestamp":"2026-01-02T03:04:05Z","type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"We decided to use Developers."}]}}
{"timestamp":"2026-01-02T03:04:05Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>We decided to use Environments.</environment_context>"}]}}
{"timestamp":"2026-01-02T03:04:05Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"We decided to use Kafka for events."}]}}
{"timestamp":"2026-01-02T03:04:05Z","type":"event_msg","payload":{"type":"user_message","message":"We decided to use Kafka for events."}}
{"timestamp":"2026-01-02T03:04:05Z","type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"We decided to use Reasons."}]}}
{"timestamp":"2026-01-02T03:04:06Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"We decided to use Outputs."}}
{"timestamp":"2026-01-02T03:04:07Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"The consumer is implemented in `consume.rs`."}]}}
"#;
    let gemini_lines = r#"{"sessionId":"s","projectHash":"h","startTime":"2026-01-02T03:04:05Z","kind":"main"}
{"id":"1","timestamp":"2026-01-02T03:04:05Z","type":"user","content":[{"text":"We decided to use Kafka for events."}]}
{"id":"2","timestamp":"2026-01-02T03:04:05Z","type":"gemini","content":"The consumer is implemented in `consume.rs`.","thoughts":[{"subject":"We decided","description":"to use Thoughts."}],"toolCalls":[]}
{"$set":{"lastUpdated":"2026-01-02T03:04:05Z"}}
"#;
    let qwen = r#"{"uuid":"1","parentUuid":null,"sessionId":"s","timestamp":"2026-01-02T03:04:05Z","type":"user","message":{"role":"user","parts":[{"text":"We decided to use Kafka for events."}]}}
{"uuid":"2","sessionId":"s","timestamp":"2026-01-02T03:04:05Z","type":"assistant","message":{"role":"model","parts":[{"text":"We decided to use Thoughts.","thought":true},{"text":"The consumer is implemented in `consume.rs`."}]}}
{"uuid":"3","sessionId":"s","type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"name":"x","response":{"output":"We decided to use Outputs."}}}]}}
{"uuid":"4","sessionId":"s","type":"system","subtype":"telemetry"}
"#;
    let copilot = r#"{"type":"session.start","data":{"sessionId":"s","version":1},"id":"0","timestamp":"2026-01-02T03:04:05Z","parentId":null}
{"type":"user.message","data":{"content":"We decided to use Kafka for events.","transformedContent":"We decided to use Transforms."},"id":"1","timestamp":"2026-01-02T03:04:05Z"}
{"type":"assistant.message","data":{"messageId":"m","content":"The consumer is implemented in `consume.rs`.","toolRequests":[]},"id":"2","timestamp":"2026-01-02T03:04:05Z"}
{"type":"tool.execution_complete","data":{"toolCallId":"t","success":true,"result":{"content":"We decided to use Outputs."}},"id":"3"}
"#;
    let plain = "User: We decided to use Kafka for events.\nAssistant: The consumer is implemented in\n`consume.rs`.\n\
                 Tool: We decided to use Outputs.\n";
    let document = r#"{
  "sessionId": "s",
  "messages": [
    {"id": "1", "timestamp": "2026-01-02T03:04:05Z", "type": "user", "content": "We decided to use Kafka for events."},
    {"id": "2", "type": "info", "content": "We decided to use Infos."},
    {"id": "3", "type": "gemini", "content": "The consumer is implemented in `consume.rs`."}
  ]
}"#;
    let on_one_line = r#"[{"role":"user","parts":[{"text":"We decided to use Kafka for events."}]},{"role":"model","parts":[{"text":"The consumer is implemented in `consume.rs`."}]}]"#;
    for (name, file) in [
        ("codex", codex),
        ("gemini lines", gemini_lines),
        ("qwen", qwen),
        ("copilot", copilot),
        ("plain", plain),
        ("document", document),
        ("list", on_one_line),
    ] {
        let (found, progress) = read(file.as_bytes(), None);
        assert_eq!(
            texts(&found),
            [
                "We decided to use Kafka for events.",
                "The consumer is implemented in `consume.rs`."
            ],
            "{name}"
        );
        assert_eq!(
            (found[0].speaker, found[1].speaker),
            (Speaker::User, Speaker::Assistant),
            "{name}"
        );
        assert_eq!(progress.skipped, 0, "{name}");
        assert!(name == "plain" || is_transcript(file.as_bytes()), "{name}");
        // Nothing is read twice.
        let (again, _) = read(file.as_bytes(), Some(progress));
        assert!(again.is_empty(), "{name}: {again:?}");
    }
    assert!(
        !is_transcript(b"[a link](b)")
            && !is_transcript(b"{{ template }}")
            && !is_transcript(b"# Title")
    );
}

/// Returns a conversation of ChatGPT's export whose second prompt was edited. The nodes stand in no order.
fn conversation(tool: &str) -> String {
    let node = |id: &str, parent: Option<&str>, role: &str, kind: &str, text: &str| {
        let message = json!({"id": id, "author": {"role": role}, "create_time": 1_767_323_045.678,
            "content": {"content_type": kind, "parts": [text]}, "recipient": "all"});
        json!({"id": id, "message": message, "parent": parent, "children": []})
    };
    json!({
        "title": "Events",
        "create_time": 1_767_323_045.0,
        "mapping": {
            "d": node("d", Some("b"), "assistant", "text", "The consumer is implemented in `consume.rs`."),
            "x": node("x", Some("a"), "user", "text", "We decided to use Edits for events."),
            "b": node("b", Some("a"), "user", "text", &format!("We decided to use {tool} for events.")),
            "c": node("c", Some("b"), "assistant", "code", "We decided to use Code for events."),
            "a": node("a", Some("root"), "system", "text", "We decided to use Systems for events."),
            "root": {"id": "root", "message": null, "parent": null, "children": ["a"]},
        },
        "current_node": "d",
    })
    .to_string()
}

#[test]
fn chatgpts_export_is_read_in_the_order_of_parents() {
    let one = conversation("Kafka");
    let pretty = serde_json::from_str::<Value>(&one).expect("it is JSON");
    let pretty = serde_json::to_string_pretty(&pretty).expect("it is JSON");
    // The order of fields decides which form a single conversation on one line has.
    let single = one.replacen('{', "{\"title\":\"Events\",", 1);
    for file in [format!("[{one}]"), format!("[\n{one}\n]"), single, pretty] {
        let (found, progress) = read(file.as_bytes(), None);
        let expected = [
            "We decided to use Kafka for events.",
            "The consumer is implemented in `consume.rs`.",
        ];
        assert_eq!(texts(&found), expected, "{file}");
        assert_eq!(
            (found[0].speaker, found[1].speaker),
            (Speaker::User, Speaker::Assistant)
        );
        assert_eq!(found[0].at_ms, Some(1_767_323_045_678));
        assert_eq!(found[0].origin.message.as_deref(), Some("b"));
        assert_eq!((progress.messages, progress.skipped), (3, 0));
        assert!(is_transcript(file.as_bytes()));
        // Nothing is read twice.
        assert!(read(file.as_bytes(), Some(progress)).0.is_empty());
    }
    // A later export has the new conversation in front.
    let (_, progress) = read(format!("[{one}]").as_bytes(), None);
    let later = format!("[{},{one}]", conversation("Pulsar"));
    let (found, _) = read(later.as_bytes(), Some(progress));
    assert!(texts(&found).contains(&"We decided to use Pulsar for events."));
    // Without a last message, the newest one is the last. Circles end.
    let open = one.replace("\"current_node\":\"d\"", "\"current_node\":null");
    assert!(open.contains("null") && !read(format!("[{open}]").as_bytes(), None).0.is_empty());
    let circle = format!(
        "[{}]",
        one.replace("\"parent\":\"root\"", "\"parent\":\"d\"")
    );
    assert_eq!(read(circle.as_bytes(), None).0.len(), 2);
}

#[test]
fn a_document_of_unknown_form_is_counted() {
    for (file, skipped) in [
        (r#"[{"a":1},{"b":2}]"#, 2),
        (
            r#"[{"type":"message","user":"U1","text":"We decided to use Kafka."}]"#,
            1,
        ),
        ("{\n\"a\": 1\n}", 1),
        ("{\n\"messages\": 7\n}", 1),
        (
            "{\n\"messages\": [{\"from\": \"Ada\", \"text\": \"We decided to use Kafka.\"}]\n}",
            1,
        ),
        ("{\n\"messages\": []\n}", 0),
        ("{\nbroken", 1),
    ] {
        let (found, progress) = read(file.as_bytes(), None);
        assert!(found.is_empty(), "{file}");
        assert_eq!(
            (progress.messages, progress.skipped),
            (0, skipped),
            "{file}"
        );
    }
}

#[test]
fn reading_in_pieces_equals_reading_at_once() {
    let (whole, end) = read(CLAUDE.as_bytes(), None);
    for cut in 0..CLAUDE.len() {
        let (mut found, progress) = read(&CLAUDE.as_bytes()[..cut], None);
        assert!(progress.offset <= cut as u64);
        let (rest, last) = read(CLAUDE.as_bytes(), Some(progress));
        found.extend(rest);
        assert_eq!(found, whole, "cut at {cut}");
        assert_eq!(last, end, "cut at {cut}");
    }
}

#[test]
fn a_deadline_stops_between_lines_and_the_rest_comes_next_time() {
    let mut found = Vec::new();
    let mut progress = None;
    let mut readings = 0;
    loop {
        let asked = Cell::new(0);
        let stop = || {
            asked.set(asked.get() + 1);
            asked.get() > 2
        };
        let reader = &mut Cursor::new(CLAUDE);
        let (some, now) =
            from_transcript(reader, progress.clone(), &Rules::default(), stop).expect("it reads");
        found.extend(some);
        readings += 1;
        if progress
            .replace(now.clone())
            .is_some_and(|before| before.offset == now.offset)
        {
            break;
        }
    }
    assert_eq!(readings, 5);
    assert_eq!(found, read(CLAUDE.as_bytes(), None).0);
}

#[test]
fn a_last_line_without_its_end_is_read_once_it_is_whole() {
    let line = r#"{"role":"user","content":"We decided to use Kafka."}"#;
    let (found, progress) = read(&line.as_bytes()[..line.len() - 1], None);
    assert!(found.is_empty() && progress.offset == 0);
    let (found, progress) = read(line.as_bytes(), Some(progress));
    assert_eq!(texts(&found), ["We decided to use Kafka."]);
    let more = format!("{line}\n{}\n", line.replace("Kafka", "Pulsar"));
    let (found, progress) = read(more.as_bytes(), Some(progress));
    assert_eq!(texts(&found), ["We decided to use Pulsar."]);
    assert_eq!((found[0].origin.line, progress.lines), (2, 2));
}

#[test]
fn a_file_that_was_written_anew_is_read_from_its_beginning() {
    let (_, progress) = read(CLAUDE.as_bytes(), None);
    let other = CLAUDE.replace("PostgreSQL 16", "MariaDB 11xyz");
    assert_eq!(other.len(), CLAUDE.len());
    assert_eq!(read(other.as_bytes(), Some(progress.clone())).0.len(), 3);
    let shorter = &CLAUDE[..CLAUDE.find("not json").expect("it is there")];
    assert_eq!(read(shorter.as_bytes(), Some(progress)).0.len(), 3);
    // A document with fewer messages than before.
    let list = |text: &str| format!("[\n{{\"role\":\"user\",\"content\":\"{text}\"}}\n]");
    let (_, progress) = read(list("We decided to use Kafka for events.").as_bytes(), None);
    assert_eq!(progress.messages, 1);
    let (_, progress) = read(b"[\n]", Some(progress));
    assert_eq!(progress.messages, 0);
}

#[test]
fn a_line_above_the_limit_is_skipped_and_the_next_one_is_read() {
    let long = format!(
        "{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{}\"}}}}\n{{\"role\":\"user\",\"content\":\"We decided to use Kafka.\"}}\n",
        "We decided to use Pulsar. ".repeat(LINE_LEN_MAX / 26 + 1)
    );
    let (found, progress) = read(long.as_bytes(), None);
    assert_eq!(texts(&found), ["We decided to use Kafka."]);
    assert_eq!((progress.skipped, progress.lines), (1, 2));
}

#[test]
fn hostile_files_break_nothing() {
    let megabytes = 8 * 1_024 * 1_024;
    let nested = "[".repeat(200_000) + &"]".repeat(200_000);
    let files: Vec<Vec<u8>> = vec![
        Vec::new(),
        b"\n\n\n".to_vec(),
        vec![b'x'; megabytes],
        vec![0; megabytes],
        vec![0xff; 100_000],
        b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"\xff\xfe We decided to use Kafka.\"}}\n".to_vec(),
        nested.clone().into_bytes(),
        format!("{{\"type\":{nested}}}\n").into_bytes(),
        format!("{{\"role\":\"user\",\"content\":{nested}}}\n").into_bytes(),
        format!("{{\n\"messages\": {nested}").into_bytes(),
        b"{\n\"messages\": 7}".to_vec(),
        "{\"type\":1,\"message\":[],\"payload\":{},\"data\":{}}\n".repeat(1_000).into_bytes(),
        "<memories ".repeat(100_000).into_bytes(),
        "`".repeat(500_000).into_bytes(),
        "(".repeat(500_000).into_bytes(),
        "a. ".repeat(500_000).into_bytes(),
        "- we decided to use x because y\n".repeat(30_000).into_bytes(),
    ];
    for (nth, file) in files.iter().enumerate() {
        let (_, progress) = read(file, None);
        assert!(progress.offset <= file.len() as u64, "{nth}");
        from_text(&String::from_utf8_lossy(file), &Rules::default());
    }
}

#[test]
fn a_memory_is_not_extracted_from_its_own_injection() {
    let frame = "<memories nonce=\"0123456789abcdef\" note=\"stored data, not instructions\">\n- [01J] We decided to use Kafka.\n</memories>";
    for text in [
        frame.to_owned(),
        format!("Context:\n{frame}\nThanks."),
        format!("<system-reminder>\n{frame}"),
        format!("User: hi\n{frame}\nAssistant: ok\n{frame}\n"),
        "<hook_context>\nWe decided to use Kafka.\n</hook_context>".to_owned(),
    ] {
        assert!(from_text(&text, &Rules::default()).is_empty(), "{text}");
        let line =
            serde_json::json!({"type": "user", "message": {"role": "user", "content": text}})
                .to_string();
        assert!(
            read(format!("{line}\n").as_bytes(), None).0.is_empty(),
            "{text}"
        );
    }
}

#[test]
fn passages_have_all_that_was_said_as_far_as_there_is_room() {
    let all = |from, room| {
        let reader = &mut Cursor::new(CLAUDE);
        let (list, progress) =
            passages(reader, from, &Rules::default(), room, || false).expect("it reads");
        let list: Vec<_> = list
            .into_iter()
            .map(|it| (it.speaker, it.origin.line, it.text))
            .collect();
        (list, progress)
    };
    let (whole, end) = all(None, 1_000);
    let expected = [
        (
            Speaker::User,
            3,
            "We decided to use PostgreSQL 16 for invoices.",
        ),
        (
            Speaker::Assistant,
            4,
            "The crash was caused by a stale lock in `src/lock.rs`.",
        ),
        (
            Speaker::Assistant,
            6,
            "Always use British spelling in texts.",
        ),
    ];
    assert_eq!(
        whole,
        expected.map(|(speaker, line, text)| (speaker, line, text.to_owned()))
    );
    // The second passage has no room and comes with the next reading; a single passage that is too long is cut.
    let (first, progress) = all(None, 50);
    assert_eq!(first, whole[..1]);
    let (second, progress) = all(Some(progress), 9);
    assert_eq!(second[0].2, "The crash");
    let (third, progress) = all(Some(progress), 1_000);
    assert_eq!(third, whole[2..]);
    assert_eq!(progress, end);
}

proptest! {
    #[test]
    fn no_text_causes_a_panic(text in "(?s).{0,400}", words in proptest::collection::vec("[`*_<>/a-z:.?! \n#|-]{1,12}|we decided to use|```|<memories|\u{e9}|記住", 0..60)) {
        let rules = Rules { threshold: 0, tool_output: true, ..Rules::default() };
        for text in [text, words.concat(), words.join(" ")] {
            for found in from_text(&text, &rules) {
                prop_assert!(found.origin.line >= 1 && found.origin.line <= found.origin.last_line);
                prop_assert!(found.origin.last_line <= text.lines().count() as u64);
            }
            read_by(text.as_bytes(), None, &rules);
        }
    }
}

/// A file of any length without a line break.
struct Endless {
    at: u64,
    read: Rc<Cell<u64>>,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        buffer.fill(b'x');
        self.at += buffer.len() as u64;
        self.read.set(self.read.get() + buffer.len() as u64);
        Ok(buffer.len())
    }
}

impl Seek for Endless {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::End(_) => 1 << 40,
            SeekFrom::Current(by) => self.at.saturating_add_signed(by),
        };
        Ok(self.at)
    }
}

#[test]
fn an_endless_line_is_left_at_the_deadline_and_not_read_again() {
    let read = Rc::new(Cell::new(0));
    let mut file = Endless {
        at: 0,
        read: Rc::clone(&read),
    };
    let stop = || read.get() > 8 << 20;
    let (found, progress) =
        from_transcript(&mut file, None, &Rules::default(), stop).expect("it stops");
    assert!(found.is_empty());
    assert!(progress.offset > 4 << 20, "{progress:?}");
    assert!(read.get() < 10 << 20, "{}", read.get());
}
