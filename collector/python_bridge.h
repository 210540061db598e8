// PythonBridge: lets the Python package of this project do its part in the
// process, if there is a Python in it and the package is installed. The user
// has nothing to import, and no file that Python runs at every start is
// installed.
#ifndef OOM_FORENSICS_COLLECTOR_PYTHON_BRIDGE_H_
#define OOM_FORENSICS_COLLECTOR_PYTHON_BRIDGE_H_

namespace oom_forensics::collector {

// Has Python's main thread import `oom_forensics.in_training.activation` soon,
// between two of its instructions: `import tensorflow`, which is running now,
// is not disturbed. Where another thread runs that, it is imported at once.
// Python's functions are found in the process by name; without them nothing
// happens. Right before it `first` is called, unless it is null, with Python's
// lock held.
void ActivatePythonPart(void (*first)());

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_PYTHON_BRIDGE_H_
