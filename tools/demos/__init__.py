"""Small real jobs that run out of memory, each with its remedy as an option.

    python -m demos.fragmentation --logdir /tmp/run                  ends in an OOM
    python -m demos.fragmentation --logdir /tmp/run --keep-on-host   runs through

Every job trains under `tf.profiler.experimental.Profile`, on stock TensorFlow, on
the CPU, in a pool that TensorFlow limits as it limits a GPU's. Exit code 0: trained;
3: out of memory.
"""
