//! Steps over the bytes of a text that do not depend on what stands around them.

/// The byte behind the text that starts here.
pub(super) fn end_of_string(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut at = start + 1;
    loop {
        at += plain_len(bytes.get(at..).unwrap_or_default(), quote);
        match bytes.get(at).copied() {
            None => return bytes.len(),
            Some(b'\\') => {
                while bytes.get(at) == Some(&b'\\') {
                    at += 2;
                }
            }
            Some(byte) if byte == quote => return at + 1,
            Some(_) => at += 1,
        }
    }
}

/// The first byte from here that is no blank.
pub(super) fn behind_blanks(text: &str, mut at: usize) -> usize {
    while matches!(byte(text, at), b' ' | b'\n' | b'\r' | b'\t') {
        at += 1;
    }
    at
}

/// The byte at this place; 0 behind the end.
pub(super) fn byte(text: &str, at: usize) -> u8 {
    text.as_bytes().get(at).copied().unwrap_or_default()
}

/// How many bytes in front are neither this quote nor a backslash nor a control character.
pub(super) fn plain_len(bytes: &[u8], quote: u8) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    // Sets the highest bit of every byte that is less than `bound`; one above such a byte may be wrong, none below.
    let less = |word: u64, bound: u8| word.wrapping_sub(ONES * u64::from(bound)) & !word & HIGHS;
    let (words, tail) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let same = |byte: u8| less(word ^ (ONES * u64::from(byte)), 1);
        let found = same(quote) | same(b'\\') | less(word, b' ');
        if found != 0 {
            return at * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let is_plain = |b: &&u8| **b != quote && **b != b'\\' && **b >= b' ';
    bytes.len() - tail.len() + tail.iter().take_while(is_plain).count()
}
