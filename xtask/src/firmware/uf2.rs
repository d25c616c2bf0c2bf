//! UF2, the format a board takes by drag and drop: blocks of 512 bytes, each with 256 bytes of the image and the address
//! they belong to, so that the order in which an operating system writes them does not matter.

const PAYLOAD: usize = 256;
const FAMILY_RP2040: u32 = 0xe48b_ff56;
/// Says that the block names a family.
const FLAGS: u32 = 0x2000;

/// The file for an image that begins at `start`.
pub fn file(start: u32, image: &[u8]) -> Vec<u8> {
    let count = image.len().div_ceil(PAYLOAD) as u32;
    let mut file = Vec::with_capacity(count as usize * 512);
    for (index, page) in (0..count).zip(image.chunks(PAYLOAD)) {
        let address = start + index * PAYLOAD as u32;
        let head = [0x0a32_4655, 0x9e5d_5157, FLAGS, address, PAYLOAD as u32, index, count, FAMILY_RP2040];
        let block_end = file.len() + 508;
        file.extend(head.iter().flat_map(|word: &u32| word.to_le_bytes()));
        file.extend(page);
        file.resize(block_end, 0);
        file.extend(0x0ab1_6f30_u32.to_le_bytes());
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_says_where_it_belongs_and_how_many_there_are() {
        let image: Vec<u8> = (0..600).map(|byte| byte as u8 | 1).collect();
        let file = file(0x1000_0000, &image);
        assert_eq!(file.len(), 3 * 512);
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
        for block in 0..3 {
            let at = block * 512;
            assert_eq!((word(at), word(at + 4), word(at + 508)), (0x0a32_4655, 0x9e5d_5157, 0x0ab1_6f30));
            assert_eq!(word(at + 12), 0x1000_0000 + block as u32 * 256);
            assert_eq!((word(at + 16), word(at + 20), word(at + 24)), (256, block as u32, 3));
            assert_eq!(word(at + 28), FAMILY_RP2040);
        }
        assert_eq!(file[512 + 32..512 + 288], image[256..512]);
        assert_eq!(file[1024 + 32 + 88], 0, "the last page is filled up");
    }
}
