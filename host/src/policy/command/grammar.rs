//! The second reader: bash's grammar, by a parser that shares nothing with the first.
//!
//! It is asked only about text that the first reader took for a plain list of commands, so it meets no nesting. A list
//! counts only if both readers found the same words in it.

use std::panic::catch_unwind;

use brush_parser::ast::{
    AndOr, Command, CommandPrefixOrSuffixItem, CompoundListItem, Pipeline, Program,
    SeparatorOperator, SimpleCommand,
};
use brush_parser::{ParserOptions, parse_tokens, uncached_tokenize_str};

use super::scan::{RawCommand, scan_arguments};

/// Whether the grammar finds these commands in the text, and nothing else.
///
/// # Errors
/// A phrase for people that says why not.
pub(super) fn confirm(text: &str, commands: &[RawCommand]) -> Result<(), &'static str> {
    // A parser that fails in a way of its own has not understood the text.
    let parsed = catch_unwind(|| parse(text)).ok().flatten();
    let program = parsed.ok_or("text that is no complete command")?;
    let found = simple_commands(&program).ok_or("a compound command")?;
    let same = found.len() == commands.len()
        && found
            .iter()
            .zip(commands)
            .all(|(found, command)| same_words(found, command).unwrap_or(false));
    if same {
        Ok(())
    } else {
        Err("text that can be read in two ways")
    }
}

fn parse(text: &str) -> Option<Program> {
    let options = ParserOptions::default();
    let tokens = uncached_tokenize_str(text, &options.tokenizer_options()).ok()?;
    parse_tokens(&tokens, &options).ok()
}

fn simple_commands(program: &Program) -> Option<Vec<&SimpleCommand>> {
    let mut found = Vec::new();
    let items = program.complete_commands.iter().flat_map(|list| &list.0);
    for CompoundListItem(list, separator) in items {
        match separator {
            SeparatorOperator::Sequence => {}
            SeparatorOperator::Async => return None,
        }
        pipeline(&list.first, &mut found)?;
        for next in &list.additional {
            let (AndOr::And(next) | AndOr::Or(next)) = next;
            pipeline(next, &mut found)?;
        }
    }
    Some(found)
}

fn pipeline<'a>(pipeline: &'a Pipeline, found: &mut Vec<&'a SimpleCommand>) -> Option<()> {
    if pipeline.timed.is_some() || pipeline.bang {
        return None;
    }
    for command in &pipeline.seq {
        match command {
            Command::Simple(simple) => found.push(simple),
            Command::Compound(..) | Command::Function(_) | Command::ExtendedTest(..) => {
                return None;
            }
        }
    }
    Some(())
}

fn same_words(found: &SimpleCommand, command: &RawCommand) -> Option<bool> {
    if found.prefix.is_some() {
        return None;
    }
    let mut raw = vec![found.word_or_name.as_ref()?];
    for item in found.suffix.iter().flat_map(|suffix| &suffix.0) {
        match item {
            CommandPrefixOrSuffixItem::Word(word) => raw.push(word),
            // `if=/dev/zero` behind a command word.
            CommandPrefixOrSuffixItem::AssignmentWord(_, word) => raw.push(word),
            CommandPrefixOrSuffixItem::IoRedirect(_)
            | CommandPrefixOrSuffixItem::ProcessSubstitution(..) => {
                return None;
            }
        }
    }
    Some(
        raw.len() == command.words.len()
            && raw.iter().zip(&command.words).all(|(raw, word)| {
                let scan = scan_arguments(&raw.value);
                scan.reason.is_none()
                    && matches!(scan.commands.as_slice(), [only] if only.words == std::slice::from_ref(word))
            }),
    )
}
