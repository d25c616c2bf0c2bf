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

/// A master seed that nobody finds by trying. The seed of a match is revealed when it is over, and follows from the master
/// seed by a hash: of a short one, all there are can be tried within minutes, and then all draws to come are known. Fresh
/// digits stand before it then, which leaves those that were given at the end.
pub fn lengthened(seed: [u8; 32]) -> Result<[u8; 32], Failure> {
    let mut seed = seed;
    let (high, _) = seed.split_at_mut(16);
    if high.iter().all(|&byte| byte == 0) {
        high.copy_from_slice(&bytes::<16>()?);
    }
    Ok(seed)
}

/// Whether a seed looks as if somebody had typed it: of 32 random bytes some 30 are different ones.
pub fn is_plain(seed: &[u8; 32]) -> bool {
    seed.iter().collect::<std::collections::BTreeSet<_>>().len() < 12
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_seed_gets_fresh_digits_before_it_and_a_long_one_stays_as_it_is() {
        let short: [u8; 32] = std::array::from_fn(|at| if at == 31 { 7 } else { 0 });
        let [one, two] = [short, short].map(|seed| lengthened(seed).unwrap());
        assert_ne!(one[..16], two[..16]);
        assert_eq!((&one[16..], &two[16..]), (&short[16..], &short[16..]));
        let long: [u8; 32] = std::array::from_fn(|at| at as u8 + 1);
        assert_eq!(lengthened(long), Ok(long));
        assert!(is_plain(&[0xab; 32]) && !is_plain(&long) && !is_plain(&bytes().unwrap()));
    }

    #[test]
    fn an_admin_code_is_three_groups_of_four_and_never_the_same() {
        let code = admin_code().unwrap();
        assert_eq!(code.split('-').map(str::len).collect::<Vec<_>>(), [4, 4, 4]);
        assert_ne!(code, admin_code().unwrap());
    }
}
