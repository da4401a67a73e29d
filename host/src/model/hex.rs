//! Digests as text.

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn bytes_are_two_digits_each() {
        assert_eq!(super::hex(&[0, 15, 16, 255]), "000f10ff");
    }
}
