//! Permits as text: base64url without padding (RFC 4648, section 5), which needs no quoting in a shell.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The text of a permit.
pub(super) fn encode(token: &[u8]) -> String {
    let mut text = String::with_capacity(token.len().div_ceil(3) * 4);
    for group in token.chunks(3) {
        let bits = group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..=group.len() {
            let index = usize::try_from(bits >> (18 - 6 * place) & 63).unwrap_or(0);
            text.extend(ALPHABET.get(index).copied().map(char::from));
        }
    }
    text
}

/// The permit of a text; trailing `=` is forgiven.
pub(super) fn decode(text: &str) -> Result<Vec<u8>, String> {
    let rule = "no permit: one as `tripnote admit` prints it is due";
    let digits = text.trim_end_matches('=').bytes().map(|c| ALPHABET.iter().position(|known| *known == c));
    let digits: Vec<u32> =
        digits.map(|digit| digit.and_then(|digit| u32::try_from(digit).ok())).collect::<Option<_>>().ok_or(rule)?;
    let mut token = Vec::with_capacity(digits.len() * 3 / 4);
    for group in digits.chunks(4) {
        let bits = group.iter().fold(0_u32, |bits, digit| bits << 6 | digit) << (6 * (4 - group.len()));
        let bytes = group.len() * 6 / 8;
        let [_, bytes_of @ ..] = bits.to_be_bytes();
        let (kept, rest) = bytes_of.split_at_checked(bytes).ok_or(rule)?;
        if group.len() == 1 || rest.iter().any(|byte| *byte != 0) {
            return Err(rule.to_owned()); // a lone digit or spare bits: cut or altered
        }
        token.extend_from_slice(kept);
    }
    if token.is_empty() { Err(rule.to_owned()) } else { Ok(token) }
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn a_permit_comes_back_as_it_was() {
        for length in 1..70_u8 {
            let token: Vec<u8> = (0..length).map(|i| i.wrapping_mul(37).wrapping_add(length)).collect();
            assert_eq!(decode(&encode(&token)), Ok(token));
        }
    }

    #[test]
    fn the_text_is_base64url_without_padding() {
        let known: [(&[u8], &str); 5] =
            [(b"f", "Zg"), (b"fo", "Zm8"), (b"foo", "Zm9v"), (b"foobar", "Zm9vYmFy"), (b"\xfb\xff\xfe", "-__-")];
        for (token, text) in known {
            assert_eq!(encode(token), text);
        }
        assert_eq!(decode("Zg=="), Ok(b"f".to_vec()));
    }

    #[test]
    fn a_cut_or_altered_text_is_no_permit() {
        for text in ["", "Z", "Zm9vY", "Zh", "Zm9+", "Zm 9v", "käse"] {
            assert!(decode(text).is_err(), "{text}");
        }
    }
}
