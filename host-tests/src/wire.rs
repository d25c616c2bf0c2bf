//! Other machines and other networks beside an emulated box, in the namespace that the tests run in. All of it is gone with
//! what made it, or with the namespace.

use crate::wait_for;
use std::net::{IpAddr, Ipv4Addr};
use std::process::{Child, Command, Stdio};

/// Runs a line of the shell, which must succeed.
fn shell(line: &str) {
    let output = Command::new("sh").args(["-c", line]).stdin(Stdio::null()).output().expect("a shell");
    assert!(output.status.success(), "`{line}`: {}", String::from_utf8_lossy(&output.stderr));
}

/// A program that runs until this is dropped.
struct Running(Child);

impl Running {
    fn start(line: &str) -> Running {
        let mut shell = Command::new("sh");
        Running(shell.args(["-c", &format!("exec {line}")]).stdin(Stdio::null()).spawn().expect("a shell"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The Ethernet address by which we know a neighbour.
pub fn mac_of(neighbour: Ipv4Addr) -> [u8; 6] {
    let table = std::fs::read_to_string("/proc/net/arp").expect("the kernel's neighbours");
    let line = table.lines().find(|line| line.split_whitespace().next() == Some(&neighbour.to_string()));
    let text =
        line.and_then(|line| line.split_whitespace().nth(3)).unwrap_or_else(|| panic!("no {neighbour}: {table}"));
    let bytes: Vec<u8> = text.split(':').filter_map(|byte| u8::from_str_radix(byte, 16).ok()).collect();
    bytes.try_into().unwrap_or_else(|_| panic!("{text} is no Ethernet address"))
}

/// Forgets where a neighbour is.
pub fn forget(neighbour: Ipv4Addr) {
    shell(&format!("ip neighbour flush to {neighbour}"));
}

/// One more address of this computer on a bridge. It stays.
pub fn another_address(bridge: &str, address: Ipv4Addr) -> IpAddr {
    shell(&format!("ip address replace {address}/24 dev {bridge}"));
    address.into()
}

/// A bridge of its own.
pub struct Network {
    bridge: &'static str,
    address: Ipv4Addr,
}

impl Network {
    /// Makes one, in which this computer has `address`, and the network 24 bits.
    pub fn new(bridge: &'static str, address: Ipv4Addr) -> Network {
        shell(&format!("ip link add {bridge} type bridge"));
        shell(&format!("ip address add {address}/24 dev {bridge} && ip link set {bridge} up"));
        Network { bridge, address }
    }

    /// Its name.
    pub fn bridge(&self) -> &str {
        self.bridge
    }

    /// A DHCP server in it, for as long as the result lives. It forgets what it gave out.
    pub fn dhcp(&self) -> impl Drop + use<> {
        let [a, b, c, _] = self.address.octets();
        Running::start(&format!(
            "dnsmasq --no-daemon --quiet-dhcp --conf-file=/dev/null --no-resolv --no-hosts --port=0 --no-ping \
             --dhcp-authoritative --bind-interfaces --interface={} --dhcp-range={a}.{b}.{c}.10,{a}.{b}.{c}.99,2m \
             --leasefile-ro --dhcp-option=option:router --dhcp-option=option:dns-server",
            self.bridge
        ))
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["link", "delete", self.bridge]).status();
    }
}

/// Another computer on a bridge.
pub struct Machine {
    /// Its Ethernet address.
    pub mac: [u8; 6],
    process: Running,
}

impl Machine {
    /// A computer with this address, which it takes without asking anybody.
    pub fn start(bridge: &str, address: Ipv4Addr) -> Machine {
        let mac = [0x02, 0x77, 0x77, 0x77, 0x77, 0x77];
        let process = Running::start("unshare --net sleep 600");
        let id = process.0.id();
        shell(&format!("ip link add lbdouble type veth peer name lbdoubl1 && ip link set lbdouble master {bridge} up"));
        // It has its namespace a moment after it was started.
        wait_for("another network namespace", || {
            let namespace = |id: &str| std::fs::read_link(format!("/proc/{id}/ns/net")).ok();
            (namespace(&id.to_string()).is_some_and(|theirs| Some(theirs) != namespace("self"))).then_some(())
        });
        shell(&format!("ip link set lbdoubl1 address 02:77:77:77:77:77 netns {id}"));
        let machine = Machine { mac, process };
        machine.run(&format!("ip address add {address}/24 dev lbdoubl1 && ip link set lbdoubl1 up"));
        machine
    }

    /// Talks to the network, so that everybody learns where it is.
    pub fn speak(&self) {
        self.run("ip -4 address show && for to in 1 2 3; do python3 -c \"import socket; socket.socket(2, 2).sendto(b'x', ('10.77.0.1', 9))\"; sleep 0.2; done");
    }

    fn run(&self, line: &str) {
        shell(&format!("nsenter --net --target {} sh -c '{}'", self.process.0.id(), line.replace('\'', "'\\''")));
    }
}
