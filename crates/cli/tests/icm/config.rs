//! The config file.

use crate::world::{Look, Says, World, run};

#[test]
fn init_writes_once_and_what_it_writes_is_valid() {
    let world = World::new();
    world.ok("config init --config sub/icm.toml");
    let text = std::fs::read_to_string(world.path("sub/icm.toml")).unwrap();
    text.says("# limit = 10");
    world.fails("config init --config sub/icm.toml => 2: already there");
    world.ok("config show --config sub/icm.toml");

    let path = world.json("config init")["config"].clone();
    path.as_str().unwrap().finishes("config.toml");
}

#[test]
fn show_says_where_each_value_comes_from() {
    let world = World::new();
    world.write("icm.toml", "db = 'store'\n[recall]\nlimit = 3\n");
    let show = |args: &[&str]| {
        let mut command = world.command("config show --json --config icm.toml");
        command.args(args).env("ICM_SESSION", "s-1");
        run(&mut command, b"").ok().json()
    };
    let from = |settings: &serde_json::Value, key: &str| {
        let setting = settings
            .as_array()
            .unwrap()
            .iter()
            .find(|s| s["key"] == key);
        let setting = setting.unwrap();
        (
            setting["value"].clone(),
            setting["from"].as_str().unwrap().to_string(),
        )
    };
    let settings = show(&[]);
    assert_eq!(
        from(&settings, "recall.limit"),
        (3.into(), "config file".into())
    );
    assert_eq!(
        from(&settings, "recall.record"),
        (true.into(), "default".into())
    );
    assert_eq!(from(&settings, "db").1, "ICM_DB");
    assert_eq!(
        from(&settings, "config"),
        ("icm.toml".into(), "--config".into())
    );
    assert_eq!(
        from(&settings, "session"),
        ("s-1".into(), "ICM_SESSION".into())
    );
    let settings = show(&["--db", "elsewhere"]);
    assert_eq!(from(&settings, "db"), ("elsewhere".into(), "--db".into()));

    let mut command = world.command("config show --config icm.toml");
    command.env_remove("ICM_DB");
    let text = run(&mut command, b"").ok().out;
    text.says("store");
    text.says("(config file)");
}

#[test]
fn mistakes_are_named() {
    let world = World::new();
    for (text, words) in [
        ("[recall]\nlimits = 3\n", "unknown key `recall.limits`"),
        ("dbs = 'x'\n", "unknown key `dbs`"),
        ("[recall]\nlimit = 'many'\n", "a number from 1 to 1000"),
        ("[output]\ncolor = 'blue'\n", "\"auto\""),
        ("db = \n", "line 1"),
        (
            "\n[recall]\nlimit = 0\n",
            "icm.toml, line 3: `recall.limit`",
        ),
    ] {
        world.write("icm.toml", text);
        world.icm("list --config icm.toml").fails(2, words);
    }
    world.write("icm.toml", "[recall]\nlimits = 3\n");
    let error = world.icm("list --config icm.toml").ends(2).err;
    error.says("hint: nearest: `recall.limit`");
    world.write("icm.toml", "nonsense = 1\n");
    let error = world.icm("list --config icm.toml").ends(2).err;
    for key in [
        "`db`",
        "`recall.limit`",
        "`recall.record`",
        "`output.color`",
    ] {
        error.says(key);
    }
    world.fails("list --config absent.toml => 2: absent.toml");
}

#[test]
fn the_limit_of_a_recall_can_be_set() {
    let world = World::new();
    for i in 0..5 {
        let text = format!("apple number {i}");
        world.ok(format!("store -t fruit -c '{text}'"));
    }
    world.write("icm.toml", "[recall]\nlimit = 2\n");
    let count = |args: &[&str]| {
        let answer = world.json(args);
        answer["results"].count()
    };
    assert_eq!(count(&["recall", "apple"]), 5);
    assert_eq!(count(&["recall", "apple", "--config", "icm.toml"]), 2);
    let args = ["recall", "apple", "--config", "icm.toml", "-l", "4"];
    assert_eq!(count(&args), 4);
}
