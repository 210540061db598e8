"""Real servers on the loopback: a Spark cluster of one master and two workers, and S3.

Both come from PyPI: the cluster from pyspark itself, the object store is SeaweedFS.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from waiting import free_port, wait_until

_PATIENCE_S = 120.0


@dataclass
class Server:
    """A process with a group of its own, so that what it starts ends with it."""

    process: subprocess.Popen[bytes]
    log: Path

    def kill(self) -> None:
        """Ends it and all that it started, without a warning."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@dataclass
class Cluster:
    """A standalone Spark cluster."""

    url: str
    workers: list[Server]


@contextmanager
def spark_cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """Starts a master and workers of one core each; their logs and files are in `folder`."""
    port = free_port()
    loopback = ("--host", "127.0.0.1", "--webui-port")
    worker = ("--cores", "1", "--memory", "1g", "--work-dir")
    url = f"spark://127.0.0.1:{port}"
    with contextlib.ExitStack() as running:
        command = _spark("master.Master", "--port", str(port), *loopback, str(free_port()))
        master = running.enter_context(_server(folder / "master.log", *command))
        started = []
        for name in (f"worker{number}" for number in range(workers)):
            command = _spark("worker.Worker", *loopback, str(free_port()), *worker)
            started.append(
                running.enter_context(
                    _server(folder / f"{name}.log", *command, str(folder / name), url)
                )
            )
        _wait(lambda: master.log.read_text().count("Registering worker") >= workers, master)
        yield Cluster(url, started)


@contextmanager
def s3_server(folder: Path) -> Iterator[Mapping[str, str]]:
    """Starts an object store; yields the environment by which every S3 client finds it."""
    port = free_port()
    keys = {"AWS_ACCESS_KEY_ID": "fleet", "AWS_SECRET_ACCESS_KEY": "fleet-secret"}
    (folder / "objects").mkdir(parents=True, exist_ok=True)
    ports = [f"-{part}.port={free_port()}" for part in ("master", "volume", "filer")] + [
        f"-{part}.port.grpc={free_port()}" for part in ("master", "volume", "filer", "s3")
    ]
    weed = Path(sys.executable).with_name("weed")
    with _server(
        folder / "s3.log",
        *(str(weed), "server", "-s3", f"-s3.port={port}", "-ip=127.0.0.1", *ports),
        *(f"-dir={folder / 'objects'}", "-volume.max=20", "-master.volumeSizeLimitMB=64"),
        **keys,
    ) as server:
        environment = {
            **keys,
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        _wait(lambda: _can_write(environment), server)
        yield environment


def _can_write(environment: Mapping[str, str]) -> bool:
    import botocore.session

    os.environ.update(environment)
    client = botocore.session.get_session().create_client("s3")
    try:
        if not any(each["Name"] == "fleet" for each in client.list_buckets()["Buckets"]):
            client.create_bucket(Bucket="fleet")
        client.put_object(Bucket="fleet", Key="hello", Body=b"hello")
    except Exception:  # not up yet, in one of many ways
        return False
    return True


def _spark(name: str, *arguments: str) -> list[str]:
    import pyspark

    program = Path(pyspark.__file__).parent / "bin/spark-class"
    return [str(program), f"org.apache.spark.deploy.{name}", *arguments]


@contextmanager
def _server(log: Path, *command: str, **environment: str) -> Iterator[Server]:
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", **environment},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    server = Server(process, log)
    try:
        yield server
    finally:
        server.kill()


def _wait(ready: Callable[[], bool], server: Server) -> None:
    wait_until(lambda: ready() or server.process.poll() is not None, _PATIENCE_S)
    if server.process.poll() is not None:
        raise RuntimeError(f"A server did not come up; see {server.log}.")
