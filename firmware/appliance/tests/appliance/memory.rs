//! What a board spends on each future of the box: on a board they are static memory. Pointers are twice as wide here as
//! on a microcontroller, so these numbers are upper bounds of those.

use std::mem::size_of_val;

use crate::net_support::{BOX, Plan, Scene, Small, play};
use appliance::Links;

/// What a player's line may cost, buffers included.
const LINK: usize = 4608;
/// What a board of 32 players lends to a line, and to a worker: our buffers, those of TCP, and the socket itself.
const LINE_BUFFERS: [usize; 4] = [1024, 512, 736, 352];
const WORKER_BUFFERS: [usize; 4] = [2704, 512, 1536, 352];

fn sizes(scene: Scene<'_, '_>) -> [(&'static str, usize); 3] {
    let mut buf = vec![0; 1];
    let links = Links::new();
    let line = size_of_val(&scene.leaguebox.line(0, scene.net, &links, &mut buf));
    let port = scene.net.open(BOX);
    let serve = size_of_val(&scene.leaguebox.serve(&*port, &links, &mut buf, 0));
    [("line", line), ("serve", serve), ("keep_time", size_of_val(&scene.leaguebox.keep_time()))]
}

#[test]
fn a_players_link_fits_its_budget() {
    let sizes = play(Plan::new(0), async |scene| sizes(scene));
    println!("futures: {sizes:?}");
    println!("the box of 8 players, without them: {}", size_of::<Small<'_>>());
    let [(_, line), (_, serve), (_, keep_time)] = sizes;
    assert!(line + LINE_BUFFERS.iter().sum::<usize>() <= LINK, "a line of {line} bytes");
    assert!(serve + WORKER_BUFFERS.iter().sum::<usize>() <= 8192, "a worker of {serve} bytes");
    assert!(keep_time <= 512, "{keep_time} bytes");
}
