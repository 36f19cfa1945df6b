//! Tests of schemas, of complaints, and of values in other forms.

use super::*;

const PARAMS: &[Param] = &[
    Param {
        name: "topic",
        kind: Kind::Text,
        required: true,
        about: "what it is about",
    },
    Param {
        name: "importance",
        kind: Kind::OneOf(&["low", "high", "so_so"]),
        required: false,
        about: "",
    },
    Param {
        name: "labels",
        kind: Kind::Words,
        required: false,
        about: "",
    },
    Param {
        name: "keywords",
        kind: Kind::Texts,
        required: false,
        about: "",
    },
    Param {
        name: "limit",
        kind: Kind::Limit { min: 1, max: 50 },
        required: false,
        about: "default 10",
    },
    Param {
        name: "cursor",
        kind: Kind::Whole {
            min: 1,
            max: u64::MAX,
        },
        required: false,
        about: "where it goes on",
    },
    Param {
        name: "all",
        kind: Kind::Flag,
        required: false,
        about: "",
    },
    Param {
        name: "share",
        kind: Kind::Share,
        required: false,
        about: "how much",
    },
];

fn checked(given: Value) -> Result<Args, String> {
    let Value::Object(given) = given else {
        panic!("an object")
    };
    Args::check(PARAMS, given)
}

#[test]
fn a_complaint_names_the_fix() {
    let list =
        |name: &str| format!("`{name}` must be a list of strings, for instance [\"one\", \"two\"]");
    for (given, expected) in [
        (json!({}), "missing argument `topic`: what it is about".to_owned()),
        (
            json!({"topic": null}),
            "missing argument `topic`: what it is about".to_owned(),
        ),
        (json!({"topic": ["t"]}), "`topic` must be a string".to_owned()),
        (
            json!({"topic": "t", "importance": "higher"}),
            "`importance` must be one of low, high, so_so".to_owned(),
        ),
        (
            json!({"topic": "t", "importance": 1}),
            "`importance` must be one of low, high, so_so".to_owned(),
        ),
        (json!({"topic": "t", "labels": ["a", {}]}), list("labels")),
        (json!({"topic": "t", "keywords": {"a": 1}}), list("keywords")),
        (json!({"topic": "t", "keywords": "[\"a\", \"b"}), list("keywords")),
        (
            json!({"topic": "t", "cursor": 0}),
            "`cursor` must be a whole number from 1".to_owned(),
        ),
        (
            json!({"topic": "t", "limit": 2.5}),
            "`limit` must be a whole number from 1 to 50".to_owned(),
        ),
        (
            json!({"topic": "t", "limit": "many"}),
            "`limit` must be a whole number from 1 to 50".to_owned(),
        ),
        (
            json!({"topic": "t", "all": "perhaps"}),
            "`all` must be true or false".to_owned(),
        ),
        (
            json!({"topic": "t", "share": "1.5"}),
            "`share` must be a number from 0 to 1".to_owned(),
        ),
        (
            json!({"topic": "t", "color": "red"}),
            "unknown argument `color`: give only topic, importance, labels, keywords, limit, cursor, all, share"
                .to_owned(),
        ),
    ] {
        let complaint = checked(given.clone()).err().unwrap_or_default();
        assert_eq!(complaint, expected, "{given}");
    }
}

#[test]
fn arguments_are_read_as_the_schema_means_them() {
    for (name, given, read) in [
        ("topic", json!(2026), json!("2026")),
        ("topic", json!(true), json!("true")),
        ("importance", json!("HIGH"), json!("high")),
        ("importance", json!("soSo"), json!("so_so")),
        ("importance", json!("So So"), json!("so_so")),
        ("labels", json!("a:b, c,,"), json!(["a:b", "c"])),
        ("labels", json!("[\"a:b\", \"c\"]"), json!(["a:b", "c"])),
        ("labels", json!(["a:b", " c", ""]), json!(["a:b", "c"])),
        ("keywords", json!("a, b"), json!(["a", "b"])),
        ("keywords", json!("[\"a\",\"b\"]"), json!(["a", "b"])),
        ("keywords", json!(["a", 7, null]), json!(["a", "7"])),
        ("keywords", json!("['a', 'b']"), json!(["a", "b"])),
        ("keywords", json!("[a, b]"), json!(["a", "b"])),
        ("keywords", json!("\"a\",\"b\""), json!(["a", "b"])),
        ("labels", json!("['kind:queue']"), json!(["kind:queue"])),
        (
            "keywords",
            json!("黄蜂，昆虫、虫"),
            json!(["黄蜂", "昆虫", "虫"]),
        ),
        ("keywords", json!("it's"), json!(["it's"])),
        ("limit", json!("3"), json!(3)),
        ("limit", json!(" 5.0 "), json!(5)),
        ("limit", json!(5.0), json!(5)),
        ("cursor", json!("18446744073709551615"), json!(u64::MAX)),
        ("all", json!("false"), json!(false)),
        ("all", json!("True"), json!(true)),
        ("all", json!(1), json!(true)),
        ("share", json!("0.5"), json!(0.5)),
        ("share", json!(1), json!(1.0)),
    ] {
        let mut arguments = json!({"topic": "t"});
        arguments[name] = given.clone();
        let mut args = checked(arguments).expect(name);
        assert_eq!(args.given[name], read, "{name}: {given}");
        assert_eq!(args.take_notes(), [""; 0], "{name}: {given}");
    }
}

#[test]
fn empty_arguments_count_as_left_out() {
    for (name, empty) in [
        ("importance", json!("")),
        ("importance", json!("null")),
        ("labels", json!(" ")),
        ("labels", json!("[]")),
        ("keywords", json!([])),
        ("keywords", json!(["", null])),
        ("limit", json!("")),
        ("cursor", json!("null")),
        ("all", json!("  ")),
        ("share", Value::Null),
    ] {
        let mut arguments = json!({"topic": "t"});
        arguments[name] = empty.clone();
        let args = checked(arguments).expect(name);
        let left: Vec<_> = args.given.keys().collect();
        assert_eq!(left, ["topic"], "{name}: {empty}");
    }
    // The tool itself checks a required text.
    assert_eq!(
        checked(json!({"topic": ""})).expect("text").given["topic"],
        ""
    );
}

#[test]
fn a_limit_out_of_bounds_is_brought_to_the_nearest_and_said() {
    for (given, used, shown) in [
        (json!(500), 50, "500"),
        (json!(0), 1, "0"),
        (json!(-3), 1, "-3"),
        (json!("51"), 50, "51"),
        (json!(u64::MAX), 50, "18446744073709551615"),
    ] {
        let mut args = checked(json!({"topic": "t", "limit": given})).expect("a limit");
        assert_eq!(args.whole("limit"), Some(used));
        let note = format!("`limit` is from 1 to 50: {used} was used, not {shown}");
        assert_eq!(args.take_notes(), [note]);
    }
    let mut args = checked(json!({"topic": "t", "limit": 1e300})).expect("a limit");
    assert_eq!(
        (args.whole("limit"), args.take_notes().len()),
        (Some(50), 1)
    );
}

#[test]
fn arguments_that_clients_add_are_left_out_unread() {
    for name in ADDED_BY_CLIENTS.into_iter().chain(["_meta", "_sessionID"]) {
        let mut arguments = json!({"topic": "t"});
        arguments[name] = json!({"anything": [true]});
        let args = checked(arguments).expect(name);
        assert_eq!(args.given.len(), 1, "{name}");
    }
    // A tool with such a parameter reads the argument.
    let params = [Param {
        name: "sessionId",
        kind: Kind::Text,
        required: false,
        about: "",
    }];
    let given = Map::from_iter([("sessionId".to_owned(), json!("s"))]);
    let mut args = Args::check(&params, given).expect("its own parameter");
    assert_eq!(args.text("sessionId").as_deref(), Some("s"));
}

#[test]
fn bounds_stand_in_the_descriptions() {
    let schema = Value::from(input_schema(PARAMS));
    let about = |name: &str| schema["properties"][name]["description"].clone();
    assert_eq!(about("limit"), "default 10; 1 to 50");
    assert_eq!(about("share"), "how much; 0 to 1");
    assert_eq!(about("cursor"), "where it goes on");
}
