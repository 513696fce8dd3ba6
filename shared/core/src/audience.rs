//! Who may answer: groups, approvers, and the rule that a question records (PROTOCOL.md sections 2.5 and 4).

use std::fmt;
use std::str::FromStr;

use crate::id::{ApproverId, BadId, GroupName};

/// What a group's name starts with where an approver's id may stand too.
const GROUP_PREFIX: &str = "group:";

/// One entry of an audience.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AudienceEntry {
    /// Whoever belongs to the group when they answer.
    Group(GroupName),
    /// This approver.
    Approver(ApproverId),
}

impl AudienceEntry {
    /// The group, if it is one.
    pub const fn group(&self) -> Option<&GroupName> {
        match self {
            Self::Group(group) => Some(group),
            Self::Approver(_) => None,
        }
    }

    /// Whether the entry means the approver `id`, who belongs to `groups`.
    pub fn admits(&self, id: ApproverId, groups: &[GroupName]) -> bool {
        match self {
            Self::Group(group) => groups.contains(group),
            Self::Approver(named) => *named == id,
        }
    }
}

impl fmt::Display for AudienceEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Group(group) => write!(f, "{GROUP_PREFIX}{group}"),
            Self::Approver(id) => write!(f, "{id}"),
        }
    }
}

impl FromStr for AudienceEntry {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let entry = match text.strip_prefix(GROUP_PREFIX) {
            Some(group) => group.parse().map(Self::Group),
            None => text.parse().map(Self::Approver),
        };
        entry.map_err(|_| BadId("audience entry"))
    }
}

/// The rule that says who may answer a question: whoever is meant by each of its lists, so that a list can only narrow.
/// No list means every approver. The rule is stored with the question; who fits it is looked at when they answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Audience(Vec<Vec<AudienceEntry>>);

impl Audience {
    /// The rule of these lists.
    pub fn new(lists: impl IntoIterator<Item = Vec<AudienceEntry>>) -> Self {
        Self(lists.into_iter().collect())
    }

    /// Its lists.
    pub fn lists(&self) -> &[Vec<AudienceEntry>] {
        &self.0
    }

    /// Whether the approver `id`, who belongs to `groups`, may answer.
    pub fn admits(&self, id: ApproverId, groups: &[GroupName]) -> bool {
        self.0.iter().all(|list| list.iter().any(|entry| entry.admits(id, groups)))
    }

    /// What must be true of the approver's groups for them to answer: one group of each list.
    pub fn groups_needed_of(&self, id: ApproverId) -> Vec<Vec<&GroupName>> {
        let open = self.0.iter().filter(|list| !list.iter().any(|entry| entry.admits(id, &[])));
        open.map(|list| list.iter().filter_map(AudienceEntry::group).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Bits130;

    fn approver(byte: u8) -> ApproverId {
        ApproverId::new(Bits130::from_bytes([byte; 17]))
    }

    fn group(name: &str) -> GroupName {
        name.parse().unwrap()
    }

    fn list(entries: &[&str]) -> Vec<AudienceEntry> {
        entries.iter().map(|entry| entry.parse().unwrap()).collect()
    }

    #[test]
    fn an_entry_reads_back() {
        for text in ["group:finance", &approver(1).to_string()] {
            assert_eq!(text.parse::<AudienceEntry>().unwrap().to_string(), text);
        }
        for bad in ["", "finance", "group:", "group:Finance", "group:-a", "ap_1", "everybody"] {
            assert!(bad.parse::<AudienceEntry>().is_err(), "{bad}");
        }
    }

    #[test]
    fn no_list_means_everybody_and_an_empty_one_nobody() {
        assert!(Audience::default().admits(approver(1), &[]));
        assert!(!Audience::new([vec![]]).admits(approver(1), &[]));
    }

    #[test]
    fn each_list_narrows() {
        let one = approver(1).to_string();
        let rule = Audience::new([list(&["group:finance", &one]), list(&["group:night", "group:day"])]);
        assert!(rule.admits(approver(2), &[group("finance"), group("day")]));
        assert!(rule.admits(approver(1), &[group("night")]));
        assert!(!rule.admits(approver(1), &[group("finance")]));
        assert!(!rule.admits(approver(2), &[group("night"), group("day")]));
    }

    #[test]
    fn what_the_groups_must_be_is_what_the_id_leaves_open() {
        let one = approver(1).to_string();
        let rule = Audience::new([list(&["group:finance", &one]), list(&["group:night", "group:day"])]);
        let (finance, night, day) = (group("finance"), group("night"), group("day"));
        assert_eq!(rule.groups_needed_of(approver(1)), vec![vec![&night, &day]]);
        assert_eq!(rule.groups_needed_of(approver(2)), vec![vec![&finance], vec![&night, &day]]);
        assert_eq!(
            Audience::new([list(&[&one])]).groups_needed_of(approver(2)),
            vec![Vec::<&GroupName>::new()]
        );
    }
}
