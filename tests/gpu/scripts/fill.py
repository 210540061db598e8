"""Fills a GPU with tensors until it has no room for another one."""

import argparse

import tensorflow as tf

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--mib", type=int, default=256, help="size of each tensor")
parser.add_argument("--growth", action="store_true", help="grow the pool with the need")
parser.add_argument("--logical", type=int, nargs="*", help="limits of logical devices, in MiB")
parser.add_argument("--device", type=int, nargs="*", default=[0], help="logical devices to fill")
parser.add_argument("--larger", type=int, help="then give all back and ask for one of this size")
options = parser.parse_args()

gpus = tf.config.list_physical_devices("GPU")
if options.growth:
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, True)
if options.logical:
    limits = [tf.config.LogicalDeviceConfiguration(memory_limit=mib) for mib in options.logical]
    tf.config.set_logical_device_configuration(gpus[0], limits)

kept = []
for device in options.device:
    with tf.device(f"GPU:{device}"):
        try:
            for _ in range(4096):
                kept.append(tf.zeros([options.mib << 18]))
        except tf.errors.ResourceExhaustedError as error:
            print(str(error)[:200])
        if options.larger:
            kept.clear()
            kept.append(tf.zeros([options.larger << 18]))
            try:
                tf.zeros([options.larger << 18])
            except tf.errors.ResourceExhaustedError as error:
                print(str(error)[:200])
