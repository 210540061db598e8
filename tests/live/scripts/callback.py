"""Trains with a MemoryCallback: callback.py LOGDIR. Prints what the callback itself allocates."""

import sys

import keras
import numpy as np
import oom_forensics
from oom_forensics.keras import MemoryCallback

model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(64)])
model.compile("sgd", "mse")
data = np.zeros((256, 64), np.float32)
callback = MemoryCallback(sys.argv[1])
model.fit(data, data, batch_size=32, epochs=1, verbose=0, callbacks=[callback])


def allocations() -> int:
    return sum(each.get("allocations", 0) for each in oom_forensics.memory_stats())


before = allocations()
for batch in range(10):
    callback.on_train_batch_end(batch)
print("allocations of ten batches:", allocations() - before)
