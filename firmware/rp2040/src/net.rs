//! Where the box is on the network.

use defmt::info;
use embassy_net::{DhcpConfig, Stack};

/// Asks for an address, with a name by which routers list the box.
pub fn dhcp() -> DhcpConfig {
    let mut config = DhcpConfig::default();
    config.hostname = "leaguebox".try_into().ok();
    config
}

/// Says what happens to the link and the address.
pub async fn watch(stack: Stack<'static>) -> ! {
    loop {
        stack.wait_link_up().await;
        info!("link up");
        stack.wait_config_up().await;
        if let Some(config) = stack.config_v4() {
            let [a, b, c, d] = config.address.address().octets();
            info!("address {}.{}.{}.{}", a, b, c, d);
        }
        stack.wait_link_down().await;
        info!("link down");
    }
}
