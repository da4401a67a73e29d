//! A look at a component before it is compiled: what makes a compiler take minutes or gigabytes is counted and refused.
//!
//! Linear in the size of the component, without recursion, in constant memory. Never contains a judgement on what the
//! component does; whether it is valid is the compiler's to say.

use wasmparser::{FunctionBody, Operator, Parser, Payload};

use crate::runtime::ComponentError;

/// Functions of all modules together. A Python component has some 20,000.
const MAX_FUNCTIONS: u32 = 65_536;
/// Bytes of one function. Compilers need more than linear time for long ones; interpreters' main loops have 200 KiB.
const MAX_FUNCTION: usize = 1 << 20;
/// Locals of one function.
const MAX_LOCALS: u32 = 10_000;
/// Locals times loops of one function: each loop may have to carry each local.
const MAX_CARRIED: u64 = 4_000_000;
/// Blocks inside each other. A `switch` of a thousand cases is a thousand blocks deep.
const MAX_NESTING: usize = 10_000;
/// Core modules and components inside the component. A Python component has 38.
const MAX_PARTS: usize = 1_000;
/// Components inside each other.
const MAX_DEPTH: usize = 16;

/// Refuses what cannot be compiled within bounds.
pub(super) fn check(binary: &[u8]) -> Result<(), ComponentError> {
    let (mut functions, mut parts, mut depth) = (0_u32, 0_usize, 0_usize);
    for payload in Parser::new(0).parse_all(binary) {
        match payload.map_err(|error| ComponentError::Invalid(error.to_string()))? {
            Payload::CodeSectionStart { count, .. } => {
                functions = functions.saturating_add(count);
                bound("functions", functions as usize, MAX_FUNCTIONS as usize)?;
            }
            Payload::CodeSectionEntry(body) => function(&body)?,
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => {
                parts += 1;
                depth += 1;
                bound("modules and components inside it", parts, MAX_PARTS)?;
                bound("components inside each other", depth, MAX_DEPTH)?;
            }
            Payload::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

fn function(body: &FunctionBody<'_>) -> Result<(), ComponentError> {
    let invalid = |error: wasmparser::BinaryReaderError| ComponentError::Invalid(error.to_string());
    let range = body.range();
    let length = range.end.saturating_sub(range.start);
    bound("bytes in one function", length, MAX_FUNCTION)?;
    let mut locals = 0_u32;
    for group in body.get_locals_reader().map_err(invalid)? {
        let (count, _) = group.map_err(invalid)?;
        locals = locals.saturating_add(count);
    }
    bound(
        "locals in one function",
        locals as usize,
        MAX_LOCALS as usize,
    )?;
    let (mut nesting, mut loops) = (0_usize, 0_u64);
    let mut operators = body.get_operators_reader().map_err(invalid)?;
    while !operators.eof() {
        match operators.read().map_err(invalid)? {
            Operator::Loop { .. } => {
                nesting += 1;
                loops += 1;
            }
            Operator::Block { .. } | Operator::If { .. } | Operator::TryTable { .. } => {
                nesting += 1
            }
            Operator::End => nesting = nesting.saturating_sub(1),
            _ => continue,
        }
        bound("blocks inside each other", nesting, MAX_NESTING)?;
    }
    if loops * u64::from(locals) > MAX_CARRIED {
        return Err(ComponentError::TooComplex(format!(
            "a function has {locals} locals and {loops} loops, and the product may be {MAX_CARRIED} at most"
        )));
    }
    Ok(())
}

fn bound(what: &str, found: usize, most: usize) -> Result<(), ComponentError> {
    match found > most {
        true => Err(ComponentError::TooComplex(format!(
            "it has {found} or more {what}, and {most} is the most"
        ))),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(component: &str) -> String {
        let binary = wat::parse_str(component).unwrap();
        check(&binary).unwrap_err().to_string()
    }

    fn function(body: &str) -> String {
        format!("(component (core module (func {body})))")
    }

    #[test]
    fn ordinary_code_passes() {
        let body = "(local i32) ".repeat(100) + &"block ".repeat(1_000) + &"end ".repeat(1_000);
        check(&wat::parse_str(function(&body)).unwrap()).unwrap();
    }

    #[test]
    fn what_makes_compilers_slow_is_named() {
        let many = format!("(component (core module {}))", "(func)".repeat(65_537));
        assert!(said(&many).contains("65537 or more functions"));
        let long = "i32.const 1 drop ".repeat(400_000);
        assert!(said(&function(&long)).contains("bytes in one function"));
        let deep = "block ".repeat(20_000) + &"end ".repeat(20_000);
        assert!(said(&function(&deep)).contains("10001 or more blocks inside each other"));
        let locals = format!("(local {})", "i64 ".repeat(10_001));
        assert!(said(&function(&locals)).contains("locals in one function"));
        let carried = format!("(local {})", "i64 ".repeat(9_000)) + &"loop end ".repeat(1_000);
        assert!(said(&function(&carried)).contains("9000 locals and 1000 loops"));
        let modules = format!("(component {})", "(core module)".repeat(1_001));
        assert!(said(&modules).contains("modules and components inside it"));
        let nested = "(component ".repeat(18) + &")".repeat(18);
        assert!(said(&nested).contains("components inside each other"));
    }

    #[test]
    fn what_is_cut_off_is_not_valid() {
        let mut binary = wat::parse_str(function("nop")).unwrap();
        binary.truncate(binary.len() - 3);
        assert!(matches!(check(&binary), Err(ComponentError::Invalid(_))));
    }
}
