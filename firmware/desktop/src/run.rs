//! The box itself, on this computer: bind the port, say so, and serve until the end. `run` is the box of the command
//! line; [`start_box`] is the same box on a thread, for the demo. Both end in [`serve`].

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::thread::{self, JoinHandle};

use crate::cli::Options;
use crate::failure::{Failure, say};
use crate::net::{Dialler, Listener, allow_many_sockets};
use crate::stop::Stop;
use crate::{entropy, lan, startup};

/// A box that is about to serve: its port is bound and nothing about it is left to choose.
struct Ready {
    options: Options,
    listener: TcpListener,
    address: SocketAddr,
    /// Decides every draw.
    seed: [u8; 32],
    admin_code: String,
}

/// Is the box until Ctrl-C, or with `--once` until the league ends.
pub fn run(options: Options) -> Result<(), Failure> {
    let ready = Ready::new(options)?;
    let stop = Stop::on_ctrl_c()?;
    let text = startup::text(&ready.options, &lan::addresses(ready.address), &ready.admin_code);
    say(&mut io::stdout(), &text)?;
    serve(ready, &stop)
}

/// A box that serves on a thread of its own. Dropping it ends it.
pub struct RunningBox {
    /// Where it listens.
    pub address: SocketAddr,
    stop: Stop,
    thread: Option<JoinHandle<Result<(), Failure>>>,
}

/// Starts a box and returns when it can be connected to.
pub fn start_box(options: Options) -> Result<RunningBox, Failure> {
    let ready = Ready::new(options)?;
    let (address, stop) = (ready.address, Stop::default());
    let thread = thread::spawn({
        let stop = stop.clone();
        move || serve(ready, &stop)
    });
    Ok(RunningBox { address, stop, thread: Some(thread) })
}

impl RunningBox {
    /// Ends the box and says how it went.
    pub fn end(mut self) -> Result<(), Failure> {
        self.join()
    }

    fn join(&mut self) -> Result<(), Failure> {
        self.stop.raise();
        match self.thread.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(ended)) => ended,
            Some(Err(_)) => Err(Failure::work("the box stopped by a fault of its own: please report the lines above")),
        }
    }
}

impl Drop for RunningBox {
    fn drop(&mut self) {
        // Whoever wants to know how it went calls `end`.
        _ = self.join();
    }
}

impl Ready {
    fn new(options: Options) -> Result<Self, Failure> {
        allow_many_sockets();
        let cannot_listen = |error| startup::cannot_listen(options.listen, &error);
        let listener = TcpListener::bind(options.listen).map_err(cannot_listen)?;
        let address = listener.local_addr().map_err(cannot_listen)?;
        let seed = options.seed.map_or_else(entropy::bytes, Ok)?;
        let admin_code = options.admin_code.clone().map_or_else(entropy::admin_code, Ok)?;
        Ok(Self { options, listener, address, seed, admin_code })
    }
}

/// SEAM: the appliance goes here. For now the port is open and nobody answers.
///
/// What it must do: serve on `listener` (accept through [`Listener`], dial players through [`Dialler`]) until
/// `stop` is raised; with `options.once` return when the league has ended, having printed
/// [`crate::table::standings`]. Returning drops the listener and every connection.
fn serve(ready: Ready, stop: &Stop) -> Result<(), Failure> {
    let Ready { options, listener, address, seed, admin_code } = ready;
    let _for_the_appliance = (options, address, seed, admin_code, Dialler);
    async_io::block_on(async {
        let _listener =
            Listener::new(listener).map_err(|error| Failure::work(format!("cannot use the port: {error}")))?;
        stop.raised().await;
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpStream;

    fn options(listen: SocketAddr) -> Options {
        Options { listen, ..Options::new("even_odd") }
    }

    #[test]
    fn a_started_box_is_reachable_and_an_ended_one_is_not() {
        let running = start_box(options("127.0.0.1:0".parse().unwrap())).unwrap();
        let address = running.address;
        assert!(TcpStream::connect(address).is_ok());
        running.end().unwrap();
        assert!(TcpStream::connect(address).is_err());
    }

    #[test]
    fn a_second_box_on_the_same_port_says_what_to_do() {
        let first = start_box(options("127.0.0.1:0".parse().unwrap())).unwrap();
        let failure = start_box(options(first.address)).err().unwrap();
        assert_eq!(failure.code, 1);
        assert!(failure.message.starts_with(&format!("port {} is in use", first.address.port())), "{failure}");
    }

    #[test]
    fn what_the_command_line_leaves_open_is_chosen_afresh() {
        let ready = || Ready::new(options("127.0.0.1:0".parse().unwrap())).unwrap();
        let (a, b) = (ready(), ready());
        assert_ne!(a.seed, b.seed);
        assert_ne!(a.admin_code, b.admin_code);
        let given = Options { seed: Some([7; 32]), admin_code: Some("code".into()), ..a.options };
        let given = Ready::new(given).unwrap();
        assert_eq!((given.seed, given.admin_code.as_str()), ([7; 32], "code"));
    }
}
