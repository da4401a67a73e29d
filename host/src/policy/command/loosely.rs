//! How deny and ask rules read the arguments of a command: with options in any place, order and cluster.

use std::collections::HashSet;

use super::index::Node;
use super::word::Word;

/// Letters of an option that is compared as a set; a longer one is a name, and compared as a whole.
const MAX_LETTERS: usize = 3;

/// Letters of a cluster on a line that count for such a comparison.
const MAX_CLUSTER: usize = 6;

/// Comparisons for one command. If they are not enough, the patterns count as met.
const MAX_COMPARISONS: usize = 100_000;

/// The words behind a command word.
#[derive(Debug)]
pub(super) struct Arguments<'a> {
    words: &'a [Word],
    letters: HashSet<char>,
    comparisons: usize,
}

impl<'a> Arguments<'a> {
    /// Reads the words.
    pub(super) fn new(words: &'a [Word]) -> Self {
        let clusters = words.iter().filter_map(|word| cluster(word.known()?));
        Self {
            words,
            letters: clusters
                .filter(|letters| letters.chars().count() <= MAX_CLUSTER)
                .flat_map(str::chars)
                .collect(),
            comparisons: 0,
        }
    }

    /// Adds the patterns below this node that the arguments meet.
    pub(super) fn meet(&mut self, nodes: &[Node], at: usize, found: &mut Vec<usize>) {
        self.walk(nodes, (at, 0, false), found);
    }

    /// `from`: the first word that is not compared yet; `options`: whether the pattern has options so far.
    fn walk(
        &mut self,
        nodes: &[Node],
        (at, from, options): (usize, usize, bool),
        found: &mut Vec<usize>,
    ) {
        let Some(node) = nodes.get(at) else {
            return;
        };
        if from > 0 || options {
            found.extend(&node.any_further);
            let rest = self.words.get(from..).unwrap_or_default();
            if rest.is_empty() || (options && rest.iter().all(|word| is_option(word.text()))) {
                found.extend(&node.exact);
            }
        }
        for (text, next) in &node.next {
            if !is_option(text) {
                continue;
            }
            let mut known = cluster(text).is_some_and(|wanted| {
                wanted.chars().count() <= MAX_LETTERS
                    && wanted.chars().all(|letter| self.letters.contains(&letter))
            });
            for position in 0..self.words.len() {
                if self.spent() {
                    return all_below(nodes, at, found);
                }
                let word = self.words.get(position).and_then(Word::known);
                if word == Some(text.as_str()) {
                    known = true;
                    // What stands behind it may be its value, and the next word of the pattern.
                    self.walk(nodes, (*next, position + 1, true), found);
                }
            }
            if known {
                self.walk(nodes, (*next, from, true), found);
            }
        }
        self.operand(nodes, (at, from, options), found);
    }

    /// The next operand, with options and what may be their values left out.
    fn operand(
        &mut self,
        nodes: &[Node],
        (at, from, options): (usize, usize, bool),
        found: &mut Vec<usize>,
    ) {
        let Some(node) = nodes.get(at).filter(|node| !node.next.is_empty()) else {
            return;
        };
        let mut may_be_value = false;
        for position in from..self.words.len() {
            if self.spent() {
                return all_below(nodes, at, found);
            }
            let Some(word) = self.words.get(position) else {
                return;
            };
            let text = word.text();
            if !word.is_literal() {
                for (wanted, next) in &node.next {
                    if !is_option(wanted) && word.could_become(wanted) {
                        all_below(nodes, *next, found);
                    }
                }
            } else if is_option(text) {
                may_be_value = !text.contains('=');
                continue;
            } else if let Some(next) = node.next.get(text) {
                self.walk(nodes, (*next, position + 1, options), found);
            }
            if !std::mem::take(&mut may_be_value) {
                return;
            }
        }
    }

    fn spent(&mut self) -> bool {
        self.comparisons += 1;
        self.comparisons > MAX_COMPARISONS
    }
}

fn is_option(text: &str) -> bool {
    text.len() > 1 && text.starts_with('-')
}

/// The letters of `-abc`.
fn cluster(text: &str) -> Option<&str> {
    text.strip_prefix('-')
        .filter(|letters| !letters.is_empty() && letters.chars().all(|c| c.is_ascii_alphanumeric()))
}

fn all_below(nodes: &[Node], at: usize, found: &mut Vec<usize>) {
    let mut open = vec![at];
    while let Some(node) = open.pop().and_then(|at| nodes.get(at)) {
        found.extend(&node.any_further);
        found.extend(&node.exact);
        open.extend(node.next.values());
    }
}
