"""Table 1: the MEMS device."""

from sledsim import hardware
from sledsim.hardware import Sled
from sledsim.loads import workload
from sledsim.papers import Found, Setup, summary_of


def seeks_ms(device: Sled, requests: int) -> dict[str, float]:
    """Return the mean X seek between random blocks, and that from edge to edge."""
    load = workload("random", requests=requests, size="fixed", mean_size_kib=0.5)
    summary = summary_of(load, device)
    half_m = device.spec["parameters"]["travel_x_um"]["value"] * 1e-6 / 2
    edge = device.seek(start=(-half_m, 0.0, "up"), end=(half_m, 0.0, "up"))
    return {"mean_ms": summary["x_seek_ms"]["mean"], "max_ms": 1e3 * edge.x_seek_s}


def simulate(*, quick: bool, setup: Setup) -> Found:
    """Take the parameters of the preset, and read random blocks."""
    device = hardware.device("msst2005", **setup["mems"])
    derived = device.spec["derived"]
    parameters = {key: entry["value"] for key, entry in device.spec["parameters"].items()}
    media_bits_s = parameters["active_tips"] * parameters["tip_rate_kbit_s"] * 1e3
    data_of_coded = 64 / 80
    return Found(
        {
            "capacity_gb": derived["capacity_bytes"] / 2**30,
            **seeks_ms(device, 20_000 if quick else 1_000_000),
            "active_tips": parameters["active_tips"],
            "mb_s": media_bits_s * data_of_coded / 8 / 1e6,
            "after_servo_mb_s": derived["streaming_mb_s"],
        }
    )
