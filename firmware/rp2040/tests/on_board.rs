//! What can only be seen on the board: `cargo test` with a probe flashes and runs these, one after the other. The same image as a
//! whole is tested from outside, in the emulator and on the board.
#![no_std]
#![no_main]

use defmt_rtt as _;

#[embedded_test::tests]
mod tests {
    use appliance::board::Reset;
    use embassy_rp::Peripherals;
    use embassy_rp::watchdog::ResetReason;
    use leaguebox_rp2040::entropy::Entropy;
    use leaguebox_rp2040::flash::JournalFlash;
    use leaguebox_rp2040::identity::Identity;
    use leaguebox_rp2040::{lent_stack, panic};

    #[init]
    fn init() -> Peripherals {
        embassy_rp::init(Default::default())
    }

    #[test]
    fn the_flash_chip_has_a_number_that_stays(p: Peripherals) {
        let [mut flash, _] = JournalFlash::new(p.FLASH);
        let id = flash.unique_id();
        assert_ne!(id, [0; 8]);
        assert_ne!(id, [0xff; 8]);
        assert_eq!(id, flash.unique_id());
    }

    #[test]
    fn two_chips_that_differ_in_one_bit_are_two_boxes(_: Peripherals) {
        let (a, b) = (Identity::of([0; 8]), Identity::of([0, 0, 0, 0, 0, 0, 0, 1]));
        assert_ne!(a.mac, b.mac);
        assert_ne!(a.name, b.name);
        assert_eq!(a.mac[0] & 3, 2, "one station, and nobody sold the address");
    }

    #[test]
    fn no_two_seeds_are_the_same_even_from_the_same_start(_: Peripherals) {
        let (mut a, mut b) = (Entropy::new(b"box"), Entropy::new(b"box"));
        let seeds = [a.seed(), b.seed(), a.seed(), b.seed()];
        for (i, seed) in seeds.iter().enumerate() {
            assert!(!seeds[i + 1..].contains(seed));
            // Of 256 fair bits fewer than 80 are ones about once in a billion times.
            let ones: u32 = seed.iter().map(|byte| byte.count_ones()).sum();
            assert!((80..=176).contains(&ones), "{ones} ones");
        }
    }

    #[test]
    fn an_admin_code_is_eight_characters_and_never_the_same(_: Peripherals) {
        let mut entropy = Entropy::new(b"box");
        let (a, b) = (entropy.admin_code(), entropy.admin_code());
        assert_eq!(a.len(), 8);
        assert_ne!(a, b);
    }

    #[test]
    fn the_last_words_are_found_once_as_news_and_then_as_history(_: Peripherals) {
        panic::keep(format_args!("{} of {}", "the end", 7));
        assert_eq!(panic::find(Some(ResetReason::Forced)), (Reset::Panic, Some("the end of 7")));
        assert_eq!(panic::find(Some(ResetReason::Forced)), (Reset::Software, Some("the end of 7")));
        assert_eq!(panic::find(Some(ResetReason::TimedOut)), (Reset::Watchdog, Some("the end of 7")));
    }

    #[test]
    fn last_words_too_long_to_keep_are_cut_between_characters(_: Peripherals) {
        // 1 + 2 n bytes: 240 of them end inside a character.
        panic::keep(format_args!("a{}", Repeat("é", 200)));
        let (_, words) = panic::find(None);
        assert_eq!(words.map(str::len), Some(239));
    }

    struct Repeat(&'static str, usize);

    impl core::fmt::Display for Repeat {
        fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
            (0..self.1).try_for_each(|_| f.write_str(self.0))
        }
    }

    #[test]
    fn what_runs_on_lent_memory_returns_its_result_and_used_that_memory(_: Peripherals) {
        let mut memory = [0; 4096];
        let range = memory.as_ptr_range();
        let range = range.start as usize..range.end as usize;
        let factor = 6;
        let (product, at) = lent_stack::run(&mut memory, || {
            let on_the_stack = core::hint::black_box(7);
            (factor * on_the_stack, &raw const on_the_stack as usize)
        });
        assert_eq!(product, 42);
        assert!(range.contains(&at));
    }
}
