//! What nobody may guess: the master seed and the admin code, from the system's entropy.

use crate::failure::Failure;

/// Small letters and digits but those that are taken for each other (l and 1, o and 0): 32 of them, five bits each.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// Fresh bytes nobody knows.
pub fn bytes<const N: usize>() -> Result<[u8; N], Failure> {
    let mut bytes = [0; N];
    match getrandom::fill(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(error) => Err(Failure::work(format!("this computer gives no random numbers ({error})"))),
    }
}

/// An admin code: 12 characters in groups of four, easy to read aloud and type. 60 bits.
pub fn admin_code() -> Result<String, Failure> {
    let letters = bytes::<12>()?.map(|byte| char::from(ALPHABET[usize::from(byte % 32)]));
    Ok(letters.chunks(4).map(String::from_iter).collect::<Vec<_>>().join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_admin_code_is_three_groups_of_four_and_never_the_same() {
        let code = admin_code().unwrap();
        assert_eq!(code.split('-').map(str::len).collect::<Vec<_>>(), [4, 4, 4]);
        assert_ne!(code, admin_code().unwrap());
    }
}
