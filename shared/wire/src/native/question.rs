//! What a person is asked, as the native API shows it to those who may read everything.

use countersign_core::ask::{Binding, Content, Detail};
use countersign_core::json::Sha256;
use serde::Serialize;
use serde_json::Value;

/// The question itself. `context`, and details of origin `caller`, are the agent's words: nobody has checked them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuestionView {
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    consequence: Option<String>,
    irreversible: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    details: Vec<DetailView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preview: Option<String>,
    requested_schema: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    binding: Option<BindingView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct DetailView {
    label: String,
    value: String,
    origin: &'static str,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct BindingView {
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args_sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preview_sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gate: Option<String>,
}

impl QuestionView {
    /// The question.
    pub fn of(content: &Content) -> Self {
        Self {
            message: content.message.clone(),
            context: content.context.clone(),
            consequence: content.consequence.clone(),
            irreversible: content.irreversible,
            warnings: content.warnings.clone(),
            details: content.details.iter().map(detail).collect(),
            preview: content.preview.clone(),
            requested_schema: content.schema.source().clone(),
            binding: content.binding.as_ref().map(binding),
        }
    }
}

fn detail(detail: &Detail) -> DetailView {
    DetailView { label: detail.label.clone(), value: detail.value.clone(), origin: detail.origin.word() }
}

fn binding(binding: &Binding) -> BindingView {
    BindingView {
        resource_key: binding.resource_key.clone(),
        args: binding.args.clone(),
        args_sha256: binding.args_sha256.map(Sha256::hex),
        preview_sha256: binding.preview_sha256.map(Sha256::hex),
        gate: binding.gate.clone(),
    }
}
