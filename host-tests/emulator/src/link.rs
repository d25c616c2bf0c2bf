//! The ways from a box's cable to a network. The emulator's end is a Unix socket on which every frame has its length in four bytes
//! before it. At the other end is either a TAP device, served by a thread here, or the user-mode network that QEMU has.

use crate::Result;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::ioctl;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Where a box's cable goes.
#[derive(Debug, Clone)]
pub enum Link {
    /// Nowhere. Frames and time are in the test's hands: nothing depends on this computer's speed.
    ByHand,
    /// To a new TAP device in the network namespace we are in. Needs root there, which `unshare --user --map-root-user --net` gives to
    /// everybody.
    Tap {
        /// The device's name, at most 15 bytes.
        name: String,
        /// A bridge that it joins.
        bridge: Option<String>,
    },
    /// To a network inside QEMU, without root. It has a DHCP server, and this computer in it is [`HOST_IN_USER_NETWORK`], also for its
    /// loopback address.
    User {
        /// Ports of 127.0.0.1, and to which port of the box each leads.
        ports: Vec<(u16, u16)>,
    },
}

/// Who this computer is in [`Link::User`]: the sender of all that comes to the box, and where the box finds it.
pub const HOST_IN_USER_NETWORK: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
/// The address the box gets in [`Link::User`].
pub const BOX_IN_USER_NETWORK: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);

/// How long QEMU may take to start.
const START_WITHIN: Duration = Duration::from_secs(20);
/// How often we look whether it has.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// The longest frame, with room to spare.
const FRAME_MAX: usize = 2048;

/// The other end of the emulator's socket. Drop it after the emulator has ended.
#[derive(Debug)]
pub(crate) struct Wire {
    directory: PathBuf,
    far_end: FarEnd,
}

#[derive(Debug)]
enum FarEnd {
    Tap(Option<JoinHandle<()>>),
    Qemu(Child),
}

impl Wire {
    pub fn open(link: &Link) -> Result<Option<Wire>> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        if matches!(link, Link::ByHand) {
            return Ok(None);
        }
        // Others may run, or have been killed, under the same number: a process has it only within its namespace.
        let directory = loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let directory = std::env::temp_dir().join(format!("leaguebox-emulator-{}-{number}", std::process::id()));
            match std::fs::create_dir(&directory) {
                Ok(()) => break directory,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(format!("{}: {error}", directory.display())),
            }
        };
        let socket = directory.join("cable");
        let far_end = match link {
            Link::ByHand => return Ok(None),
            Link::Tap { name, bridge } => tap(name, bridge.as_deref(), &socket),
            Link::User { ports } => qemu(ports, &socket),
        };
        match far_end {
            Ok(far_end) => Ok(Some(Wire { directory, far_end })),
            Err(why) => {
                let _ = std::fs::remove_dir_all(&directory);
                Err(why)
            }
        }
    }

    pub fn socket(&self) -> PathBuf {
        self.directory.join("cable")
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        match &mut self.far_end {
            FarEnd::Tap(thread) => {
                // If the emulator never came, the thread still waits for it. A visit that ends at once sends it home.
                drop(UnixStream::connect(self.directory.join("cable")));
                if let Some(thread) = thread.take() {
                    let _ = thread.join();
                }
            }
            FarEnd::Qemu(child) => {
                // Its standard input ends, and with that QEMU.
                drop(child.stdin.take());
                let _ = child.wait();
            }
        }
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn tap(name: &str, bridge: Option<&str>, socket: &Path) -> Result<FarEnd> {
    let device = open_tap(name)?;
    let mut lines = vec![format!("link set {name} addrgenmode none")];
    lines.extend(bridge.map(|bridge| format!("link set {name} master {bridge}")));
    lines.push(format!("link set {name} up"));
    for line in lines {
        let output = Command::new("ip").args(line.split(' ')).stdin(Stdio::null()).output();
        let output = output.map_err(|_| "`ip` is missing (Debian: apt-get install iproute2)".to_string())?;
        if !output.status.success() {
            return Err(format!("`ip {line}`: {}", String::from_utf8_lossy(&output.stderr).trim()));
        }
    }
    let listener = UnixListener::bind(socket).map_err(|error| format!("{}: {error}", socket.display()))?;
    Ok(FarEnd::Tap(Some(std::thread::spawn(move || {
        if let Ok((stream, _)) = listener.accept() {
            // Its end is the emulator's, and that is no error here.
            let _ = carry(device, stream);
        }
    }))))
}

/// Makes a TAP device. It is gone when the file is closed.
fn open_tap(name: &str) -> Result<File> {
    const TUNSETIFF: ioctl::Opcode = 0x400454ca;
    const TAP_WITHOUT_HEADER: u16 = 0x0002 | 0x1000;
    /// The kernel's `struct ifreq`, of which this request reads two fields.
    #[repr(C)]
    struct Request {
        name: [u8; 16],
        flags: u16,
        rest: [u8; 22],
    }
    if name.len() > 15 {
        return Err(format!("`{name}` is too long for a network device's name"));
    }
    let mut request = Request { name: [0; 16], flags: TAP_WITHOUT_HEADER, rest: [0; 22] };
    request.name[..name.len()].copy_from_slice(name.as_bytes());
    let device = File::options().read(true).write(true).open("/dev/net/tun");
    let device = device.map_err(|error| format!("/dev/net/tun: {error}"))?;
    // SAFETY: TUNSETIFF reads a `struct ifreq` of 40 bytes, which `Request` is, and keeps no pointer to it.
    #[allow(unsafe_code)]
    let made = unsafe { ioctl::ioctl(&device, ioctl::Setter::<TUNSETIFF, Request>::new(request)) };
    made.map_err(|error| format!("the TAP device {name}: {error}"))?;
    Ok(device)
}

/// Carries frames both ways until the stream ends.
fn carry(mut device: File, mut stream: UnixStream) -> std::io::Result<()> {
    let mut frame = [0; 4 + FRAME_MAX];
    let mut pending: Vec<u8> = Vec::new();
    loop {
        let mut ready = [PollFd::new(&device, PollFlags::IN), PollFd::new(&stream, PollFlags::IN)];
        poll(&mut ready, None)?;
        let [from_device, from_stream] = ready.map(|end| !end.revents().is_empty());
        if from_stream {
            let read = stream.read(&mut frame)?;
            if read == 0 {
                return Ok(());
            }
            pending.extend_from_slice(&frame[..read]);
            while let Some((length, rest)) = pending.split_first_chunk::<4>() {
                let length = u32::from_be_bytes(*length) as usize;
                let Some(whole) = rest.get(..length) else { break };
                // A device that is down takes nothing: the frame is lost, as on a wire.
                let _ = device.write(whole);
                pending.drain(..4 + length);
            }
        }
        if from_device {
            let read = match device.read(&mut frame[4..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                result => result?,
            };
            frame[..4].copy_from_slice(&(read as u32).to_be_bytes());
            stream.write_all(&frame[..4 + read])?;
        }
    }
}

fn qemu(ports: &[(u16, u16)], socket: &Path) -> Result<FarEnd> {
    const NEEDS_QEMU: &str = "the emulator's network needs QEMU 7.2 or newer (Debian: apt-get install qemu-system-arm)";
    if Command::new("qemu-system-arm").arg("--version").stdout(Stdio::null()).status().is_err() {
        return Err(NEEDS_QEMU.into());
    }
    for (port, _) in ports {
        TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).map_err(|error| format!("port {port}: {error}"))?;
    }
    let forwarded: String = ports
        .iter()
        .map(|(here, there)| format!(",hostfwd=tcp:127.0.0.1:{here}-{BOX_IN_USER_NETWORK}:{there}"))
        .collect();
    let network = format!(
        "user,id=n0,net=10.77.0.0/24,host={HOST_IN_USER_NETWORK},dhcpstart={BOX_IN_USER_NETWORK},ipv6=off{forwarded}"
    );
    // The shell stays, and ends QEMU when its standard input ends: when we end, however that is. In a group of its own it does not
    // hear the terminal's Ctrl-C, which would end it before it has cleaned up.
    let line = r#"qemu-system-arm -M none -nodefaults -nographic -monitor none -serial none \
        -netdev "$1" -netdev hubport,id=h0,hubid=0,netdev=n0 \
        -netdev stream,id=n1,server=on,addr.type=unix,addr.path="$2" -netdev hubport,id=h1,hubid=0,netdev=n1 \
        </dev/null 2>"$2.log" &
        cat; kill $!; rm -rf "$(dirname "$2")""#;
    let mut child = Command::new("sh")
        .args(["-c", line, "sh", &network])
        .arg(socket)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| format!("sh: {error}"))?;
    let begun = Instant::now();
    while !socket.exists() {
        if begun.elapsed() > START_WITHIN {
            let said = std::fs::read_to_string(socket.with_extension("log")).unwrap_or_default();
            drop(child.stdin.take());
            let _ = child.wait();
            return Err(format!("{NEEDS_QEMU}; it says: {}", said.trim()));
        }
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(FarEnd::Qemu(child))
}
