//! What the pages refuse.

use axum::http::StatusCode;
use countersign_core::violation::Violation;

use super::ApiError;
use crate::pages::words::{EN, put};

impl ApiError {
    /// Nobody is signed in, or not any more.
    pub(crate) fn not_signed_in() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "not_signed_in", "Not signed in", EN.signed_out)
    }

    /// A POST that none of our pages sent.
    pub(crate) fn not_from_our_page(why: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, "foreign_origin", "Not from one of our pages", why)
    }

    /// A form whose token is not good here.
    pub(crate) fn stale_form() -> Self {
        Self::new(StatusCode::FORBIDDEN, "stale_form", "This page is too old", EN.bad_form)
    }

    /// No question, or none for this person.
    pub(crate) fn no_question() -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", EN.no_question, EN.no_question_why)
    }

    /// One source asks for very many codes.
    pub(crate) fn too_many_codes() -> Self {
        let (title, why) = (EN.too_many_codes, EN.too_many_codes_why);
        Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many_codes", title, why)
    }

    /// The digits are not the mailed ones; `left` says how many tries there are.
    pub(crate) fn wrong_sign_in_code(left: &str) -> Self {
        let text = put(EN.wrong_code, &[left]);
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "wrong_code", "The code is wrong", text)
    }

    /// The code is used up, too old, or none of ours.
    pub(crate) fn code_is_over() -> Self {
        let (title, why) = (EN.code_is_over, EN.code_is_over_why);
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "code_over", title, why)
    }

    /// A form that decided nothing, because the code in it is wrong, answers do not fit, or for what `text` says.
    pub(crate) fn not_decided(
        status: StatusCode,
        is_code_wrong: bool,
        text: String,
        wrong: Vec<Violation>,
    ) -> Self {
        let code = if is_code_wrong {
            "wrong_code"
        } else if wrong.is_empty() {
            "not_decided"
        } else {
            "invalid_content"
        };
        Self::new(status, code, "Nothing was decided", text).naming(wrong)
    }
}
