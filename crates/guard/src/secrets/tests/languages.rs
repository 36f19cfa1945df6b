//! Labels and texts of other languages.

use super::*;

/// Name of the language, labels of passwords, labels of keys and tokens, and sentences without a secret.
type Language = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
    &'static [&'static str],
);

const LANGUAGES: [Language; 12] = [
    (
        "German",
        &[
            "Passwort:",
            "Das Kennwort lautet",
            "PASSWORT =",
            "Passwort für admin:",
            "Passwort für den Server:",
            "Passwort für Jürgen:",
            "Das Passwort ist:",
        ],
        &[
            "API-Schlüssel:",
            "Zugangsschlüssel =",
            "geheimer Schlüssel:",
        ],
        &[
            "Das Passwort wird alle 90 Tage geändert",
            "Passwort: siehe Tresor",
            "Passwort für alle im Team: siehe Tresor7 im Keller",
            "Passwort: mindestens 12 Zeichen, 2 Ziffern",
            "Kennwort: <dein Kennwort 123>",
            "Passwort: ${DB_PASSWORT_2}",
            "Passwort: DeinPasswort123",
            "Passwort-Richtlinie: ISO27001-konform",
            "API-Schlüssel: liegt in der Umgebungsvariable API_KEY_2",
        ],
    ),
    (
        "French",
        &[
            "mot de passe :",
            "Mot de passe\u{a0}:",
            "mdp:",
            "Le mot de passe est",
            "mot de passe du serveur :",
        ],
        &["clé API :", "clé d'accès :", "jeton :"],
        &[
            "Le mot de passe est changé tous les 90 jours",
            "mot de passe : voir le coffre",
            "mot de passe : 12 caractères minimum",
            "mot de passe : <mot_de_passe_1>",
            "mot de passe : exemple-2024!",
            "clé API : stockée dans le gestionnaire de secrets v2",
        ],
    ),
    (
        "Spanish",
        &[
            "contraseña:",
            "Contraseña =",
            "CONTRASEÑA:",
            "la contraseña es",
            "contrasena:",
        ],
        &["clave de API:", "clave secreta:", "secreto:"],
        &[
            "La contraseña se cambia cada 90 días",
            "contraseña: véase la caja fuerte",
            "contraseña: mínimo 12 caracteres",
            "contraseña: tu_contraseña_1",
            "la contraseña es obligatoria desde 2024",
            "clave: valor por defecto 2024",
        ],
    ),
    (
        "Portuguese",
        &["senha:", "Senha =", "a senha é", "palavra-passe:"],
        &["chave de API:", "chave secreta:", "segredo:"],
        &[
            "A senha muda a cada 90 dias",
            "senha: ver o cofre",
            "senha: mínimo de 12 caracteres",
            "senha: sua_senha_123",
            "desenhar: resenha2024longa",
        ],
    ),
    (
        "Italian",
        &[
            "parola d'ordine:",
            "Parola d’ordine =",
            "la parola d'ordine è",
            "parola di accesso:",
        ],
        &["chiave API:", "chiave segreta:", "chiave d'accesso:"],
        &[
            "La parola d'ordine cambia ogni 90 giorni",
            "parola d'ordine: vedi cassaforte",
            "parola d'ordine: almeno 12 caratteri",
            "parola d'ordine: esempio-2024!",
            "parola chiave: postgres2024migrazione",
        ],
    ),
    (
        "Dutch",
        &[
            "wachtwoord:",
            "Wachtwoord =",
            "het wachtwoord is",
            "wachtwoord voor root:",
        ],
        &["API-sleutel:", "toegangssleutel:", "geheime sleutel:"],
        &[
            "Het wachtwoord wordt elke 90 dagen gewijzigd",
            "wachtwoord: zie kluis",
            "wachtwoord: minstens 12 tekens",
            "wachtwoord: voorbeeld-2024!",
        ],
    ),
    (
        "Polish",
        &["hasło:", "Hasło =", "HASŁO:", "hasło to", "haslo:"],
        &["klucz API:", "klucz prywatny:", "tajny klucz:"],
        &[
            "Hasło zmieniamy co 90 dni",
            "hasło: patrz sejf",
            "hasło: co najmniej 12 znaków",
            "hasło: przykład-2024!",
        ],
    ),
    (
        "Russian",
        &[
            "пароль:",
            "Пароль =",
            "ПАРОЛЬ:",
            "пароль —",
            "пароль для admin:",
            "Пароль от почты:",
            "Пароль для базы:",
        ],
        &["ключ API:", "секретный ключ:", "Токен:"],
        &[
            "Пароль меняется каждые 90 дней",
            "пароль: см. сейф",
            "пароль: минимум 12 символов",
            "пароль — это 12 символов и 2 цифры",
            "пароль: <пароль123>",
        ],
    ),
    (
        "Turkish",
        &["şifre:", "Şifre =", "parola:", "Parolanız:", "sifre:"],
        &["API anahtarı:", "gizli anahtar:", "erişim anahtarı ="],
        &[
            "Şifre her 90 günde bir değişir",
            "şifre: kasaya bak",
            "parola: en az 12 karakter",
            "şifre: örnek-2024!",
        ],
    ),
    (
        "Chinese",
        &[
            "密码：",
            "密码:",
            "密碼＝",
            "数据库密码是",
            "密码是：",
            "密码为：",
            "口令：",
        ],
        &["密钥：", "API密钥:", "访问令牌："],
        &[
            "密码每90天更换一次",
            "密码：见保险箱",
            "密码：8位以上，包含A-Z和0-9",
            "密码：请参阅手册第3章",
            "密钥：保存在 vault 的 secret/app2 路径",
        ],
    ),
    (
        "Japanese",
        &[
            "パスワード：",
            "パスワード:",
            "パスワードは",
            "パスフレーズ＝",
            "暗証番号：",
        ],
        &["APIキー：", "秘密鍵:", "アクセストークン："],
        &[
            "パスワードは90日ごとに変更します",
            "パスワード：金庫を参照",
            "パスワード：8文字以上、英数字",
            "キー：release2026の設定",
        ],
    ),
    (
        "Korean",
        &[
            "비밀번호:",
            "비밀번호：",
            "비밀번호는",
            "암호 =",
            "패스워드:",
        ],
        &["API 키:", "액세스 키：", "토큰:"],
        &[
            "비밀번호는 90일마다 변경합니다",
            "비밀번호: 금고 참조",
            "비밀번호: 8자 이상, 영문과 숫자",
            "키: release2026 설정",
        ],
    ),
];

#[test]
fn labels_of_other_languages_are_known() {
    let word = ["Tr0ub", "4dor&3x"].concat();
    let token = ["A7f9Kq2L", "xP0zWm3Rt8Vb"].concat();
    let policy = Policy::default();
    for (language, passwords, secrets, harmless) in LANGUAGES {
        assert!(passwords.len() >= 4 && secrets.len() >= 3 && harmless.len() >= 4);
        for (labels, rule, secret) in [
            (passwords, "password-label", &word),
            (secrets, "secret-label", &token),
        ] {
            for label in labels {
                for text in [
                    format!("{label} {secret}"),
                    format!("x\n{label} \"{secret}\".\n"),
                    format!("({label} „{secret}“)"),
                ] {
                    assert_eq!(rules_of(&text), [rule], "{language}: {text}");
                    let masked = policy.masked(&text).expect("it is found");
                    assert!(!masked.contains(&secret[..8]), "{masked}");
                    assert_eq!(policy.masked(&masked), None, "{masked}");
                }
            }
        }
        for text in harmless {
            assert_eq!(rules_of(text), [""; 0], "{language}: {text}");
        }
    }
    // Labels without a space, in JSON and in tags.
    for text in [
        format!("密码：{word}。"),
        format!("パスワードは{word}です"),
        format!("パスワードは「{word}」です"),
        format!("비밀번호는 {word}입니다"),
        format!("{{\"passwort\":\"{word}\"}}"),
        format!("{{\"senha\": \"{word}\", \"x\": 1}}"),
        format!(r#"{{\"contraseña\": \"{word}\"}}"#),
        format!("<senha>{word}</senha>"),
        format!("Passwort: 'zwei Wörter {word}'"),
        format!("Passwort: Größe{word}"),
    ] {
        assert_eq!(rules_of(&text), ["password-label"], "{text}");
        let masked = policy.masked(&text).expect("it is found");
        assert!(!masked.contains(&word[..8]), "{masked}");
    }
}
