// The reader of Python's heap alone, as OomForensics_NextObjects() and the
// like, for any Python to call by ctypes.PyDLL.
#include <cstdint>

#include "collector/python/heap.h"

namespace python = oom_forensics::collector::python;
using python::Object;

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT Object* Probe_NextObjects(Object* get_objects, Object* kinds,
                                 uint64_t after, uint64_t most) {
  return python::NextObjects(get_objects, kinds, after, most);
}

EXPORT Object* Probe_ObjectsWithIds(Object* get_objects, const uint64_t* ids,
                                    uint64_t ids_count,
                                    const uint64_t* finished,
                                    uint64_t finished_count) {
  return python::ObjectsWithIds(get_objects, ids, ids_count, finished,
                                finished_count);
}

EXPORT Object* Probe_ReadReferences(Object* get_objects, Object* kinds,
                                    Object* passed_over, uint64_t after,
                                    uint64_t most, uint64_t most_references) {
  return python::ReadReferences(get_objects, kinds, passed_over, after, most,
                                most_references);
}
