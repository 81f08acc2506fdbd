"""Runs a study on a Dask cluster: two worker processes on this machine.

On many machines only the first lines differ: see the page on sweeps.
"""

import sledsim as ss
from dask.distributed import Client, LocalCluster


def main() -> None:
    """Run the study and print the means."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,  # type: ignore[no-untyped-call]
        Client(cluster) as client,  # type: ignore[no-untyped-call]
    ):
        study = ss.sweep(
            {"device": "g2", "workload": "random", "requests": 2000},
            grid={"scheduler": ["fcfs", "sptf"], "rate": [300, 900, 1200]},
            replications=3,
            workers=client.get_executor(pure=False),
        )
    means = study.means_table()
    for name in ("scheduler", "rate", "response_time_ms.mean"):
        print(name, means.column(name))


if __name__ == "__main__":  # worker processes import this file
    main()
