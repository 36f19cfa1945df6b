//! What a new config file says.

/// The file that `icm config init` writes.
pub(crate) const TEMPLATE: &str = "\
# Configuration of icm. Flags and environment variables go before what stands here.
# `icm config show` prints the values in force and where each comes from.

# The store's folder. `~/` is the home folder; a relative path starts at this file's folder.
# db = \"~/memory\"

[recall]
# Results shown unless `-l` is given, 1 to 1000.
# limit = 10

# Recalls are events of the log, unless this is false or `--no-record` is given.
# record = true

# Whether links have a say: what is superseded stands behind what supersedes it, what contradicts
# one another stands together, and what is related is added.
# links = true

[ranking]
# What counts how much in a recall; 0 switches it off. The values here are the measured ones:
# `icm bench recall` measures others. A transcript is a topic in which at least two names (`Ada: …`) come back;
# anything else is a note.

# Rare words in common, in transcripts and in notes; and how many of the query's words a memory has, by
# their rarity, whatever their endings.
# text = 1.5
# notes_text = 0.7
# coverage = 4.0

# Nearness of meaning, as far as the model knows the language of the query.
# meaning = 1.5

# What the three memories before and after one in its topic add to its words, in transcripts and in notes;
# and how well those beside a note fit themselves.
# window = 4.0
# notes_window = 1.5
# neighbours = 0.3

# In transcripts: what follows a question that fits, where the query names who speaks, what a question
# loses, long turns, and words of time where the query asks when.
# answers = 2.0
# speaker = 1.0
# asks = 0.75
# length = 1.0
# when = 1.4

# Where a text has a rare identifier of the query (`E0382`, `src/main.rs`).
# identifier = 7.0

# What a critical memory gets; a high one half of it, and a low one loses half.
# importance = 0.35

# What a memory of the project or session gets that one is in, as far as it fits the query; one of a parent
# or child of the session gets a third of it. One of another project, where that is asked for, loses a sixth.
# scope = 42.0

# What a memory that others confirm gets among those found: times the logarithm of one more than they are.
# confirmed = 0.35

# The least fit of a result, 0 to 1: what fits less is left out, and 0 shows everything.
# floor = 0.2

# How many memories words bring to be looked at closely, and how many meaning; and how many of the best of
# those bring the ones next to them in their topic. More find a little more and take longer.
# candidates = 64
# nearest = 16
# expand = 16

[embedding]
# What turns texts into vectors: \"static\" (in the program, for English), \"none\", \"endpoint\" (a server,
# see below), the name of an installed model, or a model's folder. `icm model list` shows them, and
# `icm model use` writes this.
# model = \"static\"

# A server that speaks OpenAI's /v1/embeddings, and what it calls the model.
# url = \"http://localhost:11434\"
# endpoint_model = \"nomic-embed-text\"

# The environment variable that holds the server's key; none is sent unless it is named.
# key_env = \"ICM_EMBEDDING_KEY\"

# Numbers in each of its vectors; `icm model use endpoint` asks and writes it.
# dim = 768

# How long a request may take, 0.1 to 600 seconds; a question is given up after 3.
# timeout_s = 10

[secrets]
# What to do with a text that holds a password, a token or a key: refuse it, warn and store it,
# mask the secret in it, or off. Names are refused where a text is masked.
# action = \"refuse\"

# Regular expressions of what is no secret, tried on what was found.
# allow = []

[dedup]
# How alike two texts of a topic are, 0 to 1, for the newer one to be called similar. 0: only the
# very same text is looked for.
# similar = 0.85

# What to do then: link the newer one to the older, update the older one, or off.
# on_similar = \"link\"

[decay]
# Whether a recall lets memories fade up to its day, once a day. `icm decay` does it by hand.
# auto = true

# What a memory of medium importance that nobody recalled loses of its weight a day, 0 to 1.
# rate = 0.05

# How many times as much a memory of each importance loses, 0 to 100.
# critical = 0
# high = 0.5
# medium = 1
# low = 2

# The weight, 0 to 1, below which `icm prune` forgets memories of medium and low importance.
# prune_threshold = 0.1

[consolidate]
# A store says so when its topic has more memories of one scope than this; 0: never.
# hint_over = 7

[summarizer]
# What makes the summary of `icm consolidate` where none is given: a command line that reads the
# memories on stdin and writes the summary to stdout. Without one, rules make it.
# command = \"ollama run llama3.2\"

# How long it may take, 0.1 to 3600 seconds.
# timeout_s = 60

[output]
# When to use colours: auto, always or never.
# color = \"auto\"
";
