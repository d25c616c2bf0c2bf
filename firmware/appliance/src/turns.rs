//! Long answers take turns. An answer that fits its buffer is made at once; one that does not is made piece by piece, and of
//! all that are under way one goes on each time everybody else on this thread has had a turn. So what the players wait
//! for at most is one piece, however many ask for long pages and however fast they read them: no address has to be limited for
//! that, this computer's own neither.

use core::cell::Cell;

use embassy_futures::yield_now;

/// Whether somebody's turn is on.
#[derive(Default)]
pub(crate) struct Turns(Cell<bool>);

/// A turn. It ends when this is dropped.
struct Turn<'a>(&'a Cell<bool>);

impl Turns {
    pub const fn new() -> Self {
        Self(Cell::new(false))
    }

    /// Waits for one's turn, for as long as it takes to ask everybody who is ready to run.
    pub fn next(&self) -> impl Future<Output = ()> {
        async move {
            // Whoever had the last turn comes after those who wait.
            yield_now().await;
            while self.0.get() {
                yield_now().await;
            }
            self.0.set(true);
            let _turn = Turn(&self.0);
            yield_now().await;
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::pin::{Pin, pin};
    use core::task::{Context, Poll, Waker};
    use std::boxed::Box;
    use std::vec::Vec;

    #[test]
    fn of_many_long_answers_one_goes_on_in_each_round_and_each_as_often_as_the_others() {
        let (turns, made) = (Turns::new(), [const { Cell::new(0) }; 10]);
        let mut answers: Vec<Pin<Box<dyn Future<Output = ()> + '_>>> =
            made.iter().map(|_| Box::pin(turns.next()) as Pin<Box<dyn Future<Output = ()> + '_>>).collect();
        let mut context = Context::from_waker(Waker::noop());
        for round in 0..100 {
            let before: u32 = made.iter().map(Cell::get).sum();
            for (answer, made) in answers.iter_mut().zip(&made) {
                if answer.as_mut().poll(&mut context).is_ready() {
                    made.set(made.get() + 1);
                    *answer = Box::pin(turns.next());
                }
            }
            assert!(made.iter().map(Cell::get).sum::<u32>() <= before + 1, "round {round}");
        }
        assert!(made.iter().all(|made| (8..=12).contains(&made.get())), "{made:?}");
    }

    #[test]
    fn who_gives_up_in_its_turn_gives_it_back() {
        let turns = Turns::new();
        let mut context = Context::from_waker(Waker::noop());
        {
            let mut given_up = pin!(turns.next());
            assert_eq!((0..2).map(|_| given_up.as_mut().poll(&mut context)).last(), Some(Poll::Pending));
            assert!(turns.0.get());
        }
        assert!(!turns.0.get());
    }
}
