//! Names that ask for a secret: a form must not (MCP), since whoever relays the answer can read it.

/// Words that ask for a secret only when they stand alone: `pin`, not `shipping`.
const SHORT: [&str; 3] = ["pin", "cvv", "cvc"];
/// Terms that nothing harmless ends with, so that `dbpassword` is caught too.
const LONG: [&str; 7] = ["password", "passwd", "passphrase", "secret", "apikey", "accesstoken", "privatekey"];
/// Most words that a long term is spelled in: `api key`, `pass phrase`.
const TERM_WORDS: usize = 2;

/// Whether a name or a title asks for a secret.
pub(super) fn asks_for_secret(label: &str) -> bool {
    let joined = words(label, |_, _, _| false);
    let humps = words(label, is_hump);
    [joined, humps].iter().any(|words| {
        let runs = (1..=TERM_WORDS).flat_map(|length| words.windows(length));
        runs.map(<[String]>::concat).any(|run| LONG.contains(&singular(&run)))
            || words.iter().map(|word| singular(word)).any(is_term)
    })
}

fn is_term(word: &str) -> bool {
    SHORT.contains(&word) || LONG.iter().any(|term| word.ends_with(term))
}

fn singular(word: &str) -> &str {
    word.strip_suffix('s').unwrap_or(word)
}

/// The lower-case words of `label`: runs of letters, cut again wherever `cuts(before, letter, rest)` says so.
fn words(label: &str, cuts: fn(char, char, &str) -> bool) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for (index, letter) in label.char_indices() {
        let rest = &label[index + letter.len_utf8()..];
        if !letter.is_alphabetic() || (before.is_alphabetic() && cuts(before, letter, rest)) {
            words.push(String::new());
        }
        if letter.is_alphabetic() {
            words.last_mut().into_iter().for_each(|word| word.extend(letter.to_lowercase()));
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a camel-case word begins at `letter`: `api|Key`, `API|Key`, but not `PIN|s`.
fn is_hump(before: char, letter: char, rest: &str) -> bool {
    let mut after = rest.chars();
    let next_is_lower = after.next().is_some_and(char::is_lowercase);
    let is_plural = rest.starts_with('s') && !after.next().is_some_and(char::is_lowercase);
    letter.is_uppercase() && (before.is_lowercase() || (next_is_lower && !is_plural))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(labels: &[&str], want: bool) {
        for label in labels {
            assert_eq!(asks_for_secret(label), want, "{label:?}");
        }
    }

    #[test]
    fn every_term_is_caught_in_every_casing() {
        check(
            &[
                "password",
                "Password",
                "PASSWORD",
                "user_password",
                "userPassword",
                "user-password",
                "Your password?",
            ],
            true,
        );
        check(&["passwd", "passphrase", "pass_phrase", "pass word", "secret", "client_secret"], true);
        check(
            &["api_key", "api-key", "apiKey", "APIKey", "APIkey", "API KEY", "apikey", "openai_api_key"],
            true,
        );
        check(
            &["access_token", "accessToken", "accesstoken", "Access Token", "private key", "privateKey"],
            true,
        );
        check(&["pin", "PIN", "card_pin", "cardPin", "cardPIN", "PIN code", "cvv", "CVV2", "cvc"], true);
        check(&["pAsSwOrD", "pIN", "aPi kEy"], true);
    }

    #[test]
    fn plurals_and_digits_do_not_hide_a_term() {
        check(
            &["passwords", "apiKeys", "API keys", "secrets", "access_tokens", "pins", "PINs", "userPINs"],
            true,
        );
        check(&["password2", "2pin", "pin1", "secret_1"], true);
    }

    #[test]
    fn joined_words_do_not_hide_a_long_term() {
        check(&["dbpassword", "clientsecret", "userapikey"], true);
    }

    #[test]
    fn a_word_that_only_contains_a_term_is_harmless() {
        check(&["shipping", "opinion", "pinned", "Pinterest", "spin", "secretary", "secretion"], false);
        check(&["key", "token", "api", "access", "private", "api_version", "keyApi", "access to key"], false);
        check(&["P in kW", "passenger", "pass", "", " ", "名前"], false);
    }

    proptest! {
        #[test]
        fn no_label_makes_it_panic(label in ".*") {
            let _ = asks_for_secret(&label);
        }

        #[test]
        fn a_term_between_other_words_is_always_found(
            before in "[a-z]{1,8}", after in "[a-z]{1,8}", cut in "[ _.-]",
            term in prop::sample::select(LONG.as_slice()),
        ) {
            let label = format!("{before}{cut}{term}{cut}{after}");
            prop_assert!(asks_for_secret(&label));
        }
    }
}
