//! The line to one player: dials, carries the open call out, brings the reply back. At most one call is open, because a
//! line is one future. A connection is kept for the next call where the player's server keeps it.

use core::fmt::Write as _;
use core::net::{IpAddr, SocketAddr};

use edge_nal::TcpConnect;
use embassy_futures::select::{Either, select};
use embedded_io_async::{Read, Write};
use heapless::String;
use protocol_core::hall::{Event, Failure, Hall};
use protocol_core::json::{Counter, Slice, Window};
use protocol_core::wire::endpoint;

use crate::Appliance;
use crate::clock::Clock;
use crate::http::{CallError, ClientConn};

/// A call as the line has to carry it out.
#[derive(Clone)]
struct Call {
    id: u32,
    to: SocketAddr,
    host: String<56>,
    path: String<{ endpoint::MAX_BYTES }>,
}

impl<C: Clock, const P: usize, const M: usize, const R: usize, const L: usize> Appliance<C, P, M, R, L> {
    /// Keeps the line to the player at `index`, for ever. `buf` holds a request's head and a whole reply: what does not
    /// fit is not read. `message` holds the part of a message that is written in one go; longer ones take several.
    pub async fn line<N: TcpConnect>(&self, index: u16, net: &N, buf: &mut [u8], message: &mut [u8]) -> ! {
        loop {
            let call = self.next_call(index).await;
            match self.unless_dropped(index, call.id, net.connect(call.to)).await {
                Some(Ok(socket)) => self.connection(index, call, socket, buf, message).await,
                Some(Err(_)) => self.failed(index, call.id, Failure::Unreachable),
                None => {}
            }
        }
    }

    /// Carries out calls over one connection for as long as it can be used and leads to the right place.
    async fn connection<S: Read + Write>(
        &self,
        index: u16,
        first: Call,
        socket: S,
        buf: &mut [u8],
        message: &mut [u8],
    ) {
        let to = first.to;
        let mut call = first;
        let mut conn = ClientConn::new(socket, buf);
        let mut is_fresh = true;
        loop {
            let Some(result) =
                self.unless_dropped(index, call.id, self.carry_out(index, &call, &mut conn, message)).await
            else {
                return;
            };
            match result {
                Ok(()) => {}
                // The player closed the connection it had kept: a new one may do.
                Err(CallError::Unanswered) if !is_fresh => return,
                Err(CallError::Unanswered | CallError::Broken) => {
                    return self.failed(index, call.id, Failure::Unreachable);
                }
                Err(_) => return self.failed(index, call.id, Failure::Unreadable),
            }
            if !conn.is_reusable() {
                return;
            }
            call = self.next_call(index).await;
            if call.to != to {
                return;
            }
            is_fresh = false;
        }
    }

    async fn carry_out<S: Read + Write>(
        &self,
        index: u16,
        call: &Call,
        conn: &mut ClientConn<'_, S>,
        message: &mut [u8],
    ) -> Result<(), CallError> {
        let mut slice = Slice::new(message);
        let fits = self.hall(|hall| hall.write_call(index, &mut slice)).is_ok();
        if fits {
            let mut request = conn.post(&call.path, &call.host, slice.len(), &[])?;
            request.write_all(slice.written()).await?;
            request.finish().await?;
        } else {
            let mut counter = Counter::default();
            self.hall(|hall| hall.write_call(index, &mut counter)).map_err(|_| CallError::BadRequest)?;
            let mut request = conn.post(&call.path, &call.host, counter.bytes, &[])?;
            let mut sent = 0;
            while sent < counter.bytes {
                let mut window = Window::new(sent, message);
                // Full only means that there is more.
                let _ = self.hall(|hall| hall.write_call(index, &mut window));
                let piece = window.written();
                if piece.is_empty() {
                    return Err(CallError::BadRequest);
                }
                sent += piece.len();
                request.write_all(piece).await?;
            }
            request.finish().await?;
        }
        let response = conn.read_response().await?;
        let (status, body) = (response.status, response.body);
        self.act(|hall, now| hall.handle(now, Event::Reply { player: index, call: call.id, status, body }));
        Ok(())
    }

    /// Waits until the line has something to do.
    async fn next_call(&self, index: u16) -> Call {
        loop {
            if let Some(call) = self.hall(|hall| Call::of(hall, index)) {
                return call;
            }
            match self.lines.get(usize::from(index)) {
                Some(bell) => bell.wait().await,
                None => core::future::pending().await,
            }
        }
    }

    /// Works on a call unless the hall drops it first.
    async fn unless_dropped<F: Future>(&self, index: u16, call: u32, work: F) -> Option<F::Output> {
        let dropped = async {
            while self.hall(|hall| hall.call(index).map(|open| open.id)) == Some(call) {
                match self.lines.get(usize::from(index)) {
                    Some(bell) => bell.wait().await,
                    None => core::future::pending().await,
                }
            }
        };
        match select(work, dropped).await {
            Either::First(output) => Some(output),
            Either::Second(()) => None,
        }
    }

    fn failed(&self, player: u16, call: u32, failure: Failure) {
        self.act(|hall, now| hall.handle(now, Event::Failed { player, call, failure }));
    }
}

impl Call {
    fn of<const P: usize, const M: usize, const R: usize, const L: usize>(
        hall: &Hall<P, M, R, L>,
        index: u16,
    ) -> Option<Call> {
        let call = hall.call(index)?;
        let mut host = String::new();
        let _ = match call.ip {
            IpAddr::V4(ip) => write!(host, "{ip}:{}", call.port),
            IpAddr::V6(ip) => write!(host, "[{ip}]:{}", call.port),
        };
        let path = String::try_from(call.path).ok()?;
        Some(Call { id: call.id, to: SocketAddr::new(call.ip, call.port), host, path })
    }
}
