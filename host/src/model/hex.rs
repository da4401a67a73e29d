//! Digests as text.

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| {
        DIGITS
            .get(usize::from(half))
            .map_or('0', |digit| char::from(*digit))
    };
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn bytes_are_two_digits_each() {
        assert_eq!(super::hex(&[0, 15, 16, 255]), "000f10ff");
    }
}
