//! Headers as every front sees them: what stands in front of a Lambda joins repeated ones by a comma, so we do.

use std::borrow::Cow;

use axum::http::HeaderMap;

/// The value of `name`; of a repeated header all values, joined by a comma. `None` where it is absent.
///
/// # Errors
/// A value that is not visible ASCII.
pub(crate) fn text<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<Cow<'a, str>>, NotText> {
    let mut values = headers.get_all(name).iter().map(|value| value.to_str().map_err(|_| NotText));
    let Some(first) = values.next().transpose()? else { return Ok(None) };
    values.try_fold(Cow::Borrowed(first), |all, next| Ok(Cow::Owned(format!("{all},{}", next?)))).map(Some)
}

/// A header that holds something else than visible ASCII.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotText;

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[track_caller]
    fn check(values: &[&'static str], want: Result<Option<&str>, NotText>) {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append("x-a", HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        assert_eq!(text(&headers, "x-a").as_ref().map(|text| text.as_deref()), want.as_ref().map(|w| *w));
    }

    #[test]
    fn a_repeated_header_is_one_list() {
        check(&[], Ok(None));
        check(&["1"], Ok(Some("1")));
        check(&["1", "2", "3"], Ok(Some("1,2,3")));
        check(&["1", "é"], Err(NotText));
    }
}
