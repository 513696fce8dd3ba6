//! Base URLs: others append paths to them.

use http::Uri;

/// `text` as a base URL, without a trailing slash.
///
/// # Errors
/// What is wrong, without the text: a user part may hold a password.
pub(super) fn base(text: &str) -> Result<String, String> {
    if text.contains(['?', '#']) {
        return Err("a base URL has no query and no fragment".into());
    }
    let url: Uri = text.parse().map_err(|_| "it must be a URL, such as https://countersign.example.com")?;
    if !matches!(url.scheme_str(), Some("http" | "https")) {
        return Err("start it with https:// or http://".into());
    }
    let host = url.host().unwrap_or_default();
    if host.is_empty() || url.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err("name a host after ://, without a user".into());
    }
    if url
        .authority()
        .is_some_and(|authority| authority.as_str().len() > host.len() && url.port_u16().is_none())
    {
        return Err("the port must be a number up to 65535".into());
    }
    Ok(text.trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Option<&str>) {
        assert_eq!(base(text).ok().as_deref(), want, "{text}: {:?}", base(text));
    }

    #[test]
    fn a_base_url_keeps_no_trailing_slash() {
        check("https://ask.example.com", Some("https://ask.example.com"));
        check("https://ask.example.com/", Some("https://ask.example.com"));
        check("http://127.0.0.1:8787", Some("http://127.0.0.1:8787"));
        check("http://[::1]:8787", Some("http://[::1]:8787"));
        check("https://ask.example.com/prod//", Some("https://ask.example.com/prod"));
    }

    #[test]
    fn what_paths_cannot_be_appended_to_is_refused() {
        for text in [
            "ask.example.com",
            "/prod",
            "ftp://ask.example.com",
            "https://",
            "https:///prod",
            "https://ask.example.com?x=1",
            "https://ask.example.com/#top",
            "https://agnes:hunter2@ask.example.com",
            "https://ask.example.com:99999",
            "https://ask example.com",
            "https://ask.example.com:",
        ] {
            check(text, None);
            assert!(!base(text).unwrap_err().contains("hunter2"));
        }
    }
}
