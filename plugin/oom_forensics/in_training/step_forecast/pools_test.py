"""Which of a process's pools a step's ops ask for memory."""

from __future__ import annotations

from oom_forensics.in_training.step_forecast.pools import serves_steps

CPU = {"name": "bfc_cpu_allocator_for_gpu#0", "device": "/device:CPU:0"}
PINNED = {"name": "gpu_host_bfc#0", "device": "/device:CPU:0"}
GPU = {"name": "GPU_0_bfc#0", "device": "/device:GPU:0"}
# A pool of a plugin's device; its name does not tell the type of the device.
PLUGGABLE = {"name": "PluggableDevice_0_bfc#0"}


def test_without_a_device_the_pool_of_the_host_serves_steps() -> None:
    assert serves_steps(CPU["name"], [CPU])


def test_with_a_device_its_pool_serves_steps_and_those_of_the_host_do_not() -> None:
    pools = [CPU, PINNED, GPU]
    assert [serves_steps(each["name"], pools) for each in pools] == [False, False, True]
    assert serves_steps(PLUGGABLE["name"], [CPU, PLUGGABLE])
    assert not serves_steps(CPU["name"], [CPU, PLUGGABLE])
