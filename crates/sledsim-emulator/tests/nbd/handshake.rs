//! The handshake, byte for byte.

use crate::client::*;

const MIB: u64 = 1 << 20;

fn two() -> Served {
    Served::new(&[Wanted::quick("one", MIB), {
        let mut second = Wanted::quick("two", 2 * MIB);
        second.file = None;
        second
    }])
}

#[test]
fn a_client_gets_its_export_and_its_bytes() {
    let served = two();
    let mut client = Client::simple(&served.socket, "two");
    assert_eq!(client.bytes, 2 * MIB);
    assert_eq!(client.read(0, 1024), Ok(vec![0; 1024]));
    assert_eq!(client.write(512, &[7; 512]), Ok(()));
    assert_eq!(client.read(0, 1024), Ok([[0; 512], [7; 512]].concat()));
}
