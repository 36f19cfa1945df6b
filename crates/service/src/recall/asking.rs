//! Sentences that ask, told by lists of words: whether a sentence asks, and whether it says what about.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use icm_text::content_words;

/// First words of a question without a mark.
const ASKING: &str = "what which where when who whom whose why how is are was were does do did can could should would \
    was welche welcher welches wo wann wer wem wen warum wieso weshalb wie woher wohin wofür kann können darf gibt ist sind \
    que quoi quel quelle quels quelles où quand qui pourquoi comment combien est-ce peut-on \
    qué cuál cuáles dónde cuándo quién quiénes cómo cuánto cuántos por \
    che cosa quale quali dove quando chi perché come quanto wat welke waar wanneer wie waarom hoe \
    что где когда кто почему как какой какая какие сколько";
/// Parts of sentences that ask without being questions.
const REQUESTS: &str = "tell me|tell us|show me|show us|remind me|let me know|let us know|explain to me|explain how|explain what|\
    explain why|explain this|explain the|help me|help us|need to know|want to know|like to know|have to know|must know|do you know|i wonder|\
    am looking for|m looking for|sag mir|sage mir|sagt mir|sagen sie mir|mir sagen|zeig mir|zeige mir|zeigen sie mir|\
    nenn mir|nenne mir|nennen sie mir|erklär mir|erkläre mir|erklären sie mir|erinnere mich|hilf mir|muss wissen|\
    müssen wissen|müsste wissen|will wissen|wollen wissen|möchte wissen|möchten wissen|wüsste gern|weißt du|\
    wissen sie|ich suche|dis moi|dites moi|montre moi|montrez moi|explique moi|expliquez moi|rappelle moi|\
    rappelez moi|aide moi|aidez moi|besoin de savoir|veux savoir|voudrais savoir|aimerais savoir|dois savoir|sais tu|savez vous|\
    je cherche|me dire|dime|dígame|dinos|muéstrame|explícame|recuérdame|ayúdame|necesito saber|necesitamos saber|\
    quiero saber|quisiera saber|gustaría saber|tengo que saber|debo saber|decirme";
/// [`REQUESTS`] by their first words.
static REQUESTS_BY_WORD: LazyLock<FxHashMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let mut by_word: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
    for request in REQUESTS.split('|') {
        let first = request.split(' ').next().unwrap_or_default();
        by_word.entry(first).or_default().push(request);
    }
    by_word
});
/// Such parts in scripts without blanks.
const DENSE_REQUESTS: [&str; 4] = ["教えて", "知りたい", "告诉我", "请问"];
/// Words of questions about a pasted text, beside function words.
const VAGUE: &str = "mean means meant meaning happen happens happened happening wrong error errors warning warnings exception \
    fail fails failed failing failure problem problems issue issues bug cause causes reason break breaks broken crash crashes \
    crashed work works working help fix solve understand explain idea ideas clue thought thoughts know tell show say says \
    see look looks make going go do line lines message messages log logs output trace text code build test tests command \
    program please thanks thank hi hello hey maybe don doesn isn didn won couldn seen before known serious root come \
    check red bad ever happening again \
    bedeutet bedeuten heißt fehler meldung meldungen warnung zeile zeilen ausgabe passiert passieren schlägt fehl scheitert \
    geht funktioniert klappt falsch kaputt hilfe helfen hilf bitte danke hallo erkläre erklären verstehe idee ideen ahnung hast habt \
    ursache grund lösen beheben problem kennt jemand hatten schon mal gesehen bekannt schlimm nun \
    erreur erreurs veut dire signifie passe plante échoue marche fonctionne idée aide aider aidez merci bonjour svp plaît cela \
    ça problème ligne lignes journal corriger résoudre comprends faire cassé grave vu connu maintenant \
    error errores significa pasa quiere decir falla fallan fallo funciona idea ayuda ayudar ayúdame gracias hola favor \
    problema línea líneas mensaje registro arreglar entiendo hacer hago roto alguna visto conocido ahora";
/// Such words in scripts without blanks.
const DENSE_VAGUE: [&str; 12] = [
    "意思",
    "失败",
    "失敗",
    "错误",
    "問題",
    "问题",
    "原因",
    "意味",
    "エラー",
    "怎么",
    "帮我",
    "何",
];
/// Words that stand for what another line names, if a word of [`VAGUE`] or none follows: *this error*, *who owns it?*
const POINTING: &str = "this these that those it they them he she him \
    dieser diese dieses diesen diesem das ihn ihm es ce cet cette ces ça cela este esta esto estos estas eso ese esa";
/// Ends of questions in languages that need no mark.
const ASKING_ENDS: [&str; 6] = ["か", "吗", "呢", "嗎", "까", "나요"];

/// The subject of a sentence that asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum About {
    /// It does not say, as in *What does this mean?*
    Nothing,
    /// Its own words and the text that it points to, as in *Who owns this?* and *What is this error of the ledger?*
    Both,
    /// Its own words.
    Itself,
}

/// Returns what a sentence is about.
pub(super) fn about(sentence: &str) -> About {
    let lower = sentence.to_lowercase();
    let words: Vec<&str> = words(&lower).collect();
    let mut rest = format!(" {} ", words.join(" "));
    for request in REQUESTS.split('|') {
        rest = rest.replace(&format!(" {request} "), " ");
    }
    for phrase in DENSE_REQUESTS.iter().chain(&DENSE_VAGUE) {
        rest = rest.replace(phrase, " ");
    }
    let words: Vec<&str> = rest.split(' ').filter(|word| !word.is_empty()).collect();
    let is_vague = |at: usize| words.get(at).is_none_or(|word| is_in(VAGUE, word));
    let mut numbered = words.iter().enumerate();
    let points = numbered.any(|(at, word)| is_in(POINTING, word) && is_vague(at + 1));
    let tells = |word: &&str| !is_in(VAGUE, word) && !is_in(POINTING, word);
    let telling = content_words(&rest).into_iter().filter(tells);
    match (telling.count(), points) {
        (0, _) => About::Nothing,
        (_, true) => About::Both,
        _ => About::Itself,
    }
}

/// Returns the words of a text between its marks. Of *what's* and *l'erreur*, the longer part is the word.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let marks = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.' | '\'' | '’');
    text.split(marks)
        .filter_map(|word| word.split(['\'', '’']).max_by_key(|part| part.len()))
        .map(|word| word.trim_matches('.'))
        .filter(|word| !word.is_empty())
}

/// Returns `true` if a list of words has a word.
fn is_in(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|listed| listed == word)
}

/// Returns `true` if a sentence requests an answer, such as *Tell me where it is.*
pub(super) fn requests(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let spaced = format!(" {} ", words(&lower).collect::<Vec<_>>().join(" "));
    let begins = |text: &str| {
        let first = text.split(' ').next().unwrap_or_default();
        let mut requests = REQUESTS_BY_WORD.get(first).into_iter().flatten();
        requests.any(|request| {
            let after = text.strip_prefix(request);
            after.is_some_and(|after| after.starts_with(' '))
        })
    };
    spaced
        .match_indices(' ')
        .any(|(at, _)| begins(&spaced[at + 1..]))
        || DENSE_REQUESTS.iter().any(|request| lower.contains(request))
}

/// Returns `true` if a word may be the first one of a question.
pub(super) fn opens_question(word: &str) -> bool {
    let word = word.to_lowercase();
    is_in(ASKING, word.trim_matches(|c: char| !c.is_alphanumeric()))
}

/// Returns `true` if a sentence without a question mark asks by its first or last word.
pub(super) fn asks_unmarked(sentence: &str) -> bool {
    let bare = sentence.trim_end_matches(|c: char| !c.is_alphanumeric());
    let mut words = bare.split_whitespace();
    // *Could not connect to the server* says something.
    words.next().is_some_and(opens_question) && words.next() != Some("not")
        || ASKING_ENDS.iter().any(|end| bare.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_says_what_it_is_about_or_points_to_it() {
        for text in [
            "Where does the deploy key live?",
            "Where is Kibana?",
            "Who is Rashid?",
            "Who has an allergy?",
            "Please tell me how callbacks are signed.",
            "I need to know where Sentry is",
            "Who is on call this week?",
            "What does E4711PAY mean?",
            "Warum scheitert der Deploy von Billing?",
            "Sag mir, wo die Katze ist.",
            "Où est la clé ?",
            "Dime dónde está la llave.",
            "デプロイキーはどこですか",
            "狗叫什么？",
        ] {
            assert_eq!(about(text), About::Itself, "{text}");
        }
        for text in [
            "Who owns this?",
            "Who renews it?",
            "Can you help me with this error of the billing service?",
            "Wem gehört das?",
            "Que fait le déploiement avec ce message ?",
        ] {
            assert_eq!(about(text), About::Both, "{text}");
        }
        for text in [
            "Why is that?",
            "What does this error mean?",
            "What's wrong here?",
            "Why does it fail?",
            "any idea?",
            "seen this before?",
            "root cause?",
            "how come?",
            "Kennt das jemand?",
            "Hatten wir das schon mal?",
            "¿alguna idea?",
            "C'est grave ?",
            "how do I fix this",
            "Can you help me?",
            "Please explain this log.",
            "Was bedeutet dieser Fehler?",
            "Warum schlägt das fehl?",
            "Hast du eine Idee?",
            "Que veut dire cette erreur ?",
            "Pourquoi ça ne marche pas ?",
            "Qu'est-ce que ça veut dire ?",
            "¿Qué significa esto?",
            "¿Por qué falla?",
            "?",
            "为什么？",
            "这是什么意思？",
            "なぜ失敗しますか",
        ] {
            assert_eq!(about(text), About::Nothing, "{text}");
        }
    }

    #[test]
    fn requests_are_told_from_statements() {
        for text in [
            "Please tell me how callbacks are signed.",
            "I need to know where Sentry is",
            "Sag mir bitte, wer die Reisekosten prüft.",
            "Dis-moi qui remplace Camille.",
            "Dígame dónde está",
            "パスワードを教えて",
        ] {
            assert!(requests(text), "{text}");
        }
        for text in ["We must tell metrics from logs.", "The key is known.", ""] {
            assert!(!requests(text), "{text}");
        }
        assert!(asks_unmarked("when do the reports go out"));
        assert!(!asks_unmarked("could not connect to the database"));
    }
}
