//! What a board spends on each future of the box: on a board they are static memory. Pointers are twice as wide here as
//! on a microcontroller, so these numbers are upper bounds of those.

use std::mem::size_of_val;

use crate::net_support::{BOX, Exchange, Plan, Scene, Small, play};

/// What a slot may cost, buffers included, where pointers are as wide as here.
const SLOT: usize = 4608;
/// What a board of 32 players lends to a slot: our buffer, those of TCP, and the socket itself.
const BUFFERS: [usize; 4] = [1024, 512, 736, 352];

fn sizes(scene: Scene<'_, '_>) -> [(&'static str, usize); 2] {
    let mut buf = vec![0; 1];
    let exchange = Exchange { port: scene.net.open(BOX), net: scene.net };
    let slot = size_of_val(&scene.leaguebox.slot(&exchange, &mut buf, [0; 2]));
    [("slot", slot), ("keep_time", size_of_val(&scene.leaguebox.keep_time()))]
}

#[test]
fn a_slot_fits_its_budget() {
    let sizes = play(Plan::new(0), async |scene| sizes(scene));
    println!("futures: {sizes:?}");
    println!("the box of 8 players, without them: {}", size_of::<Small<'_>>());
    let [(_, slot), (_, keep_time)] = sizes;
    assert!(slot + BUFFERS.iter().sum::<usize>() <= SLOT, "a slot of {slot} bytes");
    assert!(keep_time <= 512, "{keep_time} bytes");
}
