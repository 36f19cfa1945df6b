//! The language of a question, and its function words.
//!
//! Texts are indexed without regard to their language. Only a question loses its function words: beside the few words
//! with a meaning they would count as much. The lists are NLTK's, with question words of our own. They are kept short:
//! long lists cost several points of recall, so the Arabic list is our own, too.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::stopwords::is_stopword;

/// A language whose function words are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// English, also assumed for a question without signs of another language.
    English,
    /// A language by its place in [`LISTS`].
    Other(usize),
    /// A language of a script without lists.
    Unknown,
}

/// The function words of a language.
struct List {
    script: Script,
    /// Words in lower case, with their accents.
    written: FxHashSet<&'static str>,
    /// More words, folded.
    folded: FxHashSet<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    Latin,
    Cyrillic,
    Arabic,
    Greek,
    Hebrew,
}

impl Script {
    fn of(c: char) -> Option<Script> {
        match c {
            'a'..='z' | 'A'..='Z' | '\u{C0}'..='\u{24F}' | '\u{1E00}'..='\u{1EFF}' => {
                Some(Script::Latin)
            }
            '\u{400}'..='\u{52F}' => Some(Script::Cyrillic),
            '\u{600}'..='\u{6FF}' | '\u{750}'..='\u{77F}' => Some(Script::Arabic),
            '\u{370}'..='\u{3FF}' | '\u{1F00}'..='\u{1FFF}' => Some(Script::Greek),
            '\u{590}'..='\u{5FF}' => Some(Script::Hebrew),
            _ => None,
        }
    }
}

const GERMAN: &str = "wer wen wem wessen wann warum wieso weshalb wozu wohin woher wieviel womit wofur woran worauf wurde \
                      wurden worden";
const FRENCH: &str = "quand comment pourquoi combien quoi quel quelle quels quelles lequel laquelle lesquels lesquelles ou";
const SPANISH: &str =
    "que quien quienes cuando donde como cual cuales cuanto cuanta cuantos cuantas por";
const ITALIAN: &str =
    "che chi quando dove come perche quale quali quanto quanta quanti quante cosa";
const DUTCH: &str = "wie wat waar wanneer waarom hoe hoeveel welke welk";
const PORTUGUESE: &str =
    "que quem quando onde como porque qual quais quanto quanta quantos quantas";
const RUSSIAN: &str = "что кто как где когда куда откуда почему зачем сколько какой какая какое какие какого каком \
                       каких какую чеи чем";
const TURKISH: &str = "acaba ama ancak artik bana bazi belki ben beni benim bir biri birkac biz bize bizi bizim bu buna \
                       bunu bunun burada cok cunku da daha de degil diye eden en etti gibi gore hangi hangisi hem hep \
                       hepsi her herhangi hic icin idi ile ise iste kac kadar karsi kendi ki kim kime kimi kimin mi mu \
                       nasil ne neden nedir nerede nereden nereye nicin niye o olan olarak oldu oldugu ona onlar onlarin \
                       onu onun sey sonra tarafindan tum uzere var vardi ve veya ya yani zaman";
const ARABIC: &str = "من في على الى عن ما ماذا متى اين كيف لماذا هل كم اي اية الذي التي الذين هذا هذه ذلك تلك هو هي هم كان \
                      كانت يكون تكون قد و او ثم ان لا لم لن مع بين بعد قبل عند عندما كل غير حتى اذا كما منذ حول ايضا له لها \
                      به بها فيه فيها منه منها عليه عليها تم";

/// The languages beside English, whose list is [`is_stopword`]: the code of their list, their script, and more words.
const LANGUAGES: [(&str, Script, &str); 16] = [
    ("de", Script::Latin, GERMAN),
    ("fr", Script::Latin, FRENCH),
    ("es", Script::Latin, SPANISH),
    ("it", Script::Latin, ITALIAN),
    ("nl", Script::Latin, DUTCH),
    ("pt", Script::Latin, PORTUGUESE),
    ("sv", Script::Latin, ""),
    ("da", Script::Latin, ""),
    ("no", Script::Latin, ""),
    ("fi", Script::Latin, ""),
    ("hu", Script::Latin, ""),
    ("tr", Script::Latin, TURKISH),
    ("ru", Script::Cyrillic, RUSSIAN),
    ("", Script::Arabic, ARABIC),
    ("el", Script::Greek, ""),
    ("he", Script::Hebrew, ""),
];

static LISTS: LazyLock<Vec<List>> = LazyLock::new(|| {
    let list = |(code, script, more): (&str, Script, &'static str)| List {
        script,
        written: stop_words::lookup(code)
            .into_iter()
            .flatten()
            .copied()
            .collect(),
        folded: more.split_whitespace().collect(),
    };
    LANGUAGES.map(list).into_iter().collect()
});

impl List {
    /// Returns `true` if the list has a word, given folded and as it was written.
    fn has(&self, folded: &str, written: &str) -> bool {
        self.folded.contains(folded) || self.written.contains(written)
    }
}

impl Language {
    /// Guesses the language by the words of a question, each folded and as it was written.
    ///
    /// The script is that of most letters; with no known script in the majority the language is unknown. Each word
    /// gives one vote to the languages that have it among their function words, divided by their number. The most votes
    /// within the script win. In Latin script English wins if no other language has more votes.
    pub(crate) fn of<'w>(words: impl Iterator<Item = (&'w str, &'w str)>) -> Language {
        let (mut english, mut votes) = (0.0, vec![0.0; LISTS.len()]);
        let (mut scripts, mut letters) = ([0_u32; 5], 0_u32);
        for (folded, written) in words {
            for c in written.chars().filter(|c| c.is_alphabetic()) {
                letters += 1;
                if let Some(script) = Script::of(c) {
                    scripts[script as usize] += 1;
                }
            }
            let written = as_listed(written);
            let has = |list: &List| list.has(folded, &written);
            let is_english = is_stopword(folded);
            let having: Vec<usize> = (0..LISTS.len()).filter(|at| has(&LISTS[*at])).collect();
            let vote = 1.0 / (having.len() + usize::from(is_english)).max(1) as f64;
            having.iter().for_each(|at| votes[*at] += vote);
            english += if is_english { vote } else { 0.0 };
        }
        let all = [
            Script::Latin,
            Script::Cyrillic,
            Script::Arabic,
            Script::Greek,
            Script::Hebrew,
        ];
        let most = all
            .into_iter()
            .max_by_key(|script| scripts[*script as usize]);
        let script = most.filter(|script| scripts[*script as usize] * 2 > letters);
        let Some(script) = script else {
            return match letters {
                0 => Language::English,
                _ => Language::Unknown,
            };
        };
        let of_script = (0..LISTS.len()).filter(|at| LISTS[*at].script == script);
        let best = of_script.max_by(|a, b| votes[*a].total_cmp(&votes[*b]).then(b.cmp(a)));
        match best {
            Some(best) if script != Script::Latin || votes[best] > english => Language::Other(best),
            _ => Language::English,
        }
    }

    /// Returns `true` if a word, given folded and as it was written, is a function word of this language.
    pub(crate) fn is_function_word(self, folded: &str, written: &str) -> bool {
        match self {
            Language::English => is_stopword(folded),
            Language::Other(at) => LISTS[at].has(folded, &as_listed(written)),
            Language::Unknown => false,
        }
    }
}

/// Characters of Chinese function words.
const CHINESE: &str = "的是了在和有什么怎哪谁吗呢这那个些为被与及或何时候多少";

/// Returns `true` if both characters of a pair belong to function words and endings: hiragana, which Japanese writes
/// them in, or characters of Chinese function words.
pub(crate) fn is_function_pair(pair: &str) -> bool {
    let hiragana = |c: char| matches!(c, '\u{3041}'..='\u{309F}');
    let vowel = |c: char| is_combining_mark(c) && !hiragana(c);
    pair.chars().all(hiragana)
        || pair.chars().all(|c| CHINESE.contains(c))
        || pair.chars().all(vowel)
}

/// Returns a word in the form of the lists.
fn as_listed(written: &str) -> String {
    written.nfc().flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::super::analyze::query_terms;

    /// Checks the words of a question that are searched for.
    fn check(question: &str, expect: &str) {
        let mut words: Vec<String> = Vec::new();
        for term in query_terms(question, 100) {
            if !words.contains(&term.word) {
                words.push(term.word);
            }
        }
        assert_eq!(words.join(" "), expect, "{question}");
    }

    #[test]
    fn a_question_loses_the_function_words_of_its_own_language() {
        for (question, expect) in [
            ("数据库的备份是什么时候", "数据 据库 库的 的备 备份 份是"),
            ("東京にあるのは何ですか", "東京 京に は何 何で"),
            ("where do the invoices live", "invoices live"),
            ("Wann hat die Firma das Büro gekauft?", "Firma Büro gekauft"),
            (
                "Welche Sprache spricht man in der Schweiz",
                "Sprache spricht Schweiz",
            ),
            (
                "Où se trouve la préférence de mes équipes ?",
                "trouve préférence équipes",
            ),
            ("¿Cuándo se fundó la empresa?", "fundó empresa"),
            ("Dove si trovano le fatture?", "trovano fatture"),
            (
                "Waar staan de facturen van het bedrijf?",
                "staan facturen bedrijf",
            ),
            ("Onde ficam as faturas da empresa?", "ficam faturas empresa"),
            ("Где находятся счета компании?", "находятся счета компании"),
            (
                "Faturalar nerede ve nasıl saklanıyor",
                "Faturalar saklanıyor",
            ),
            ("أين توجد الفواتير في الشركة", "توجد الفواتير الشركة"),
        ] {
            check(question, expect);
        }
    }

    #[test]
    fn the_same_word_says_nothing_in_one_language_and_something_in_another() {
        check("how do you die in this game", "die game");
        check("wo steht die Tabelle", "steht Tabelle");
        check("what was decided", "decided");
        check("was wurde entschieden", "entschieden");
    }

    #[test]
    fn of_function_words_alone_all_are_looked_for() {
        check("der die das", "der die das");
        check("what is it", "what is it");
    }
}
