//! Clients get the same answers about a device as from the device itself.

use crate::served::*;
use serde_json::json;
use sledsim_base::units::Nanos;
use sledsim_rpc::client::{Code, Error};

#[test]
fn the_device_of_a_client_is_that_of_the_server() {
    let exports =
        sledsim_core::catalog::PRESETS.iter().map(|(name, _)| export(name, device(name, &[])));
    let served = Served::new(exports.collect());
    let client = served.client();
    assert_eq!(client.exports().len(), sledsim_core::catalog::PRESETS.len());
    for (name, _) in sledsim_core::catalog::PRESETS {
        let here = device(name, &[]);
        let there = client.open(name).unwrap();
        let copy = there.device().unwrap();
        assert_eq!(there.blocks(), here.blocks());
        let mut shown = [json!(here.show()), json!(copy.show())];
        for shown in &mut shown {
            for (_, entry) in shown["parameters"].as_object_mut().unwrap() {
                entry["origin"].take();
                entry["source"].take();
            }
            shown["parameters"].as_object_mut().unwrap().remove("base");
            shown["about"].take();
            let parameters = shown["parameters"].as_object_mut().unwrap();
            parameters.sort_keys();
        }
        assert_eq!(shown[0], shown[1], "{name}");
    }
}

#[test]
fn parallelism_classes_conflicts_and_boundaries() {
    let keys = [
        ("micropositioning_cylinders", "3"),
        ("conflicts", "{ kind = \"channel\", channels = 10 }"),
    ];
    let here = device("cmu2003", &keys);
    let served = Served::new(vec![export("m", here.clone())]);
    let there = served.open("m");
    let parallel = &here.mems().unwrap().parallel;
    let said = there.parallelism().unwrap();
    let values =
        [said.p, said.squares, said.s_x, said.s_y, said.m, said.n_x, said.n_y, said.s_t, said.s_c];
    assert_eq!(values, [10, 100, 2500, 27, 3, 10, 10, 270, 2700]);
    let now = Nanos::ZERO;
    for lbn in [0, 33, 123_456, here.blocks() - 1] {
        let class = parallel.equivalent(lbn, now).unwrap();
        assert_eq!(there.equivalent(lbn, None).unwrap(), class);
        assert_eq!(there.boundaries(lbn).unwrap(), parallel.boundaries(lbn).unwrap());
        for other in class.into_iter().chain(0..40) {
            let conflict = parallel.conflicting(lbn, other, now).unwrap();
            assert_eq!(there.conflicting(lbn, other, None).unwrap(), conflict);
        }
    }
    let blocks = here.blocks();
    let errors = [
        there.equivalent(blocks, None).unwrap_err(),
        there.conflicting(0, blocks, None).unwrap_err(),
        there.conflicting(blocks, 0, None).unwrap_err(),
        there.boundaries(u64::MAX).unwrap_err(),
    ];
    for error in errors {
        let Error::Refused { code, message } = error else {
            panic!("{error:?}");
        };
        assert_eq!(code, Code::InvalidArgument);
        assert!(message.contains(&format!("must be from 0 to {}", blocks - 1)), "{message}");
    }
}
