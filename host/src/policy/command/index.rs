//! Many patterns, one command line: which of them match? The price grows with the words of the line, not with the number
//! of patterns.
//!
//! The patterns are a tree of words. Only a word that the shell still turns into something else (a wildcard in an
//! argument) is compared with each continuation that rules know at its place.

use std::collections::HashMap;

use super::super::letter_case::fold_case;
use super::loosely::Arguments;
use super::unwrap::base_name;
use super::word::Word;
use super::{CommandLine, CommandPattern};

/// See the module. What it gives are the positions of the patterns in the list that it was built from.
#[derive(Clone, Debug, Default)]
pub struct CommandIndex {
    /// By the command word, its letters folded: the command words so spelled, and where each goes on.
    first: HashMap<String, Vec<(String, usize)>>,
    nodes: Vec<Node>,
    len: usize,
}

/// The patterns that begin with the same words.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) next: HashMap<String, usize>,
    /// Those that end here.
    pub(super) exact: Vec<usize>,
    /// Those that end here in `:*`.
    pub(super) any_further: Vec<usize>,
}

impl CommandIndex {
    /// Indexes patterns.
    pub fn new<'a>(patterns: impl IntoIterator<Item = &'a CommandPattern>) -> Self {
        let mut index = Self::default();
        for (position, pattern) in patterns.into_iter().enumerate() {
            index.len += 1;
            let Some((first, further)) = pattern.words().split_first() else {
                continue;
            };
            let mut at = index.first_node(first);
            for word in further {
                at = index.next_node(at, word);
            }
            if let Some(node) = index.nodes.get_mut(at) {
                if pattern.any_further() {
                    node.any_further.push(position);
                } else {
                    node.exact.push(position);
                }
            }
        }
        index
    }

    fn first_node(&mut self, word: &str) -> usize {
        let fresh = self.nodes.len();
        let spelled = self.first.entry(fold_case(word)).or_default();
        if let Some((_, node)) = spelled.iter().find(|(known, _)| known == word) {
            return *node;
        }
        spelled.push((word.to_owned(), fresh));
        self.nodes.push(Node::default());
        fresh
    }

    fn next_node(&mut self, at: usize, word: &str) -> usize {
        let fresh = self.nodes.len();
        let Some(node) = self.nodes.get_mut(at) else {
            return fresh;
        };
        if let Some(next) = node.next.get(word) {
            return *next;
        }
        node.next.insert(word.to_owned(), fresh);
        self.nodes.push(Node::default());
        fresh
    }

    /// Whether there is no pattern.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The patterns that allow the line, in their order; none unless every simple command matches one. A command word
    /// matches as it is spelled, with its path; an argument that the shell still turns into something else matches only
    /// as one of any further words.
    pub fn allowing(&self, line: &CommandLine) -> Vec<usize> {
        let mut found = Vec::new();
        for command in line.commands().unwrap_or_default() {
            let before = found.len();
            if let Some((first, further)) = command.parts().split_first()
                && let Some(first) = first.known()
            {
                let spelled = self.first.get(&fold_case(first));
                let node = spelled
                    .into_iter()
                    .flatten()
                    .find(|(known, _)| known == first);
                if let Some((_, node)) = node {
                    self.literally(*node, further, &mut found);
                }
            }
            if found.len() == before {
                return Vec::new();
            }
        }
        in_order(found)
    }

    fn literally(&self, mut at: usize, further: &[Word], found: &mut Vec<usize>) {
        let mut rest = further.iter();
        while let Some(node) = self.nodes.get(at) {
            found.extend(&node.any_further);
            let Some(word) = rest.next() else {
                found.extend(&node.exact);
                return;
            };
            match word.known().and_then(|text| node.next.get(text)) {
                Some(next) => at = *next,
                None => return,
            }
        }
    }

    /// The patterns that any reading of the line matches, in their order: what deny and ask rules are asked. Whatever
    /// the command is inside of, or how its word is spelled (path, letter case), it is found; and a word that the shell
    /// still turns into something else matches whatever it could become. Options between the words of a pattern are left
    /// out, and its own are found in any order and cluster: `git -C . push` touches `git push:*`, `rm -fr` and `rm -r -f`
    /// touch `rm -rf:*`. With `bare_covers` a pattern that is a command
    /// name alone covers all arguments: so deny rules are read, and ask rules may be.
    pub fn touching(&self, line: &CommandLine, bare_covers: bool) -> Vec<usize> {
        let mut found = Vec::new();
        if self.is_empty() {
            return found;
        }
        for view in line.views() {
            let Some((first, further)) = view.words().split_first() else {
                continue;
            };
            let Some(text) = first.known() else {
                continue;
            };
            let text = fold_case(text);
            self.possibly_from(&text, further, bare_covers, &mut found);
            let base = base_name(&text);
            if base != text {
                self.possibly_from(base, further, bare_covers, &mut found);
                let folded = fold(&text);
                if folded != text {
                    self.possibly_from(&folded, further, bare_covers, &mut found);
                }
            }
        }
        in_order(found)
    }

    fn possibly_from(
        &self,
        first: &str,
        further: &[Word],
        bare_covers: bool,
        found: &mut Vec<usize>,
    ) {
        for (_, node) in self.first.get(first).into_iter().flatten() {
            if bare_covers && let Some(node) = self.nodes.get(*node) {
                found.extend(&node.exact);
            }
            self.possibly(*node, further, found);
            if self
                .nodes
                .get(*node)
                .is_some_and(|node| !node.next.is_empty())
            {
                Arguments::new(further).meet(&self.nodes, *node, found);
            }
        }
    }

    fn possibly(&self, mut at: usize, further: &[Word], found: &mut Vec<usize>) {
        let mut rest = further.iter();
        while let Some(node) = self.nodes.get(at) {
            found.extend(&node.any_further);
            let Some(word) = rest.next() else {
                found.extend(&node.exact);
                return;
            };
            let Some(text) = word.known() else {
                // It may become several words, so nothing is known of what stands behind it, or none.
                found.extend(&node.exact);
                for (text, next) in &node.next {
                    if word.could_become(text) {
                        self.all_below(*next, found);
                    }
                }
                return;
            };
            match node.next.get(text) {
                Some(next) => at = *next,
                None => return,
            }
        }
    }

    fn all_below(&self, at: usize, found: &mut Vec<usize>) {
        let mut nodes = vec![at];
        while let Some(node) = nodes.pop().and_then(|at| self.nodes.get(at)) {
            found.extend(&node.any_further);
            found.extend(&node.exact);
            nodes.extend(node.next.values());
        }
    }
}

fn in_order(mut found: Vec<usize>) -> Vec<usize> {
    found.sort_unstable();
    found.dedup();
    found
}

/// A path without `.`, `..` and doubled slashes.
pub(super) fn fold(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}
