// Python's heap: the objects that its garbage collector knows, and which of
// them lead to which.
//
// Each function is called with Python's lock and keeps it: no other thread of
// Python's runs, and no code of Python's but the audit hooks of
// gc.get_objects(). Code of Python's own must not hold that list. A tuple that
// C is filling (`tuple(generator)`) may have no other reference: it could not
// be given its size any more, and the program would end by a SystemError.
#ifndef OOM_FORENSICS_COLLECTOR_PYTHON_HEAP_H_
#define OOM_FORENSICS_COLLECTOR_PYTHON_HEAP_H_

#include <cstdint>

namespace oom_forensics::collector::python {

// A PyObject.
struct Object;

// The next `most` objects whose ids are above `after`, by rising ids, as far as
// their class is one of `kinds` (a tuple of classes) or derived from one. A new
// list; tuples that may be unfinished are not in it. Null: an error is set.
Object* NextObjects(Object* get_objects, Object* kinds, uint64_t after,
                    uint64_t most) noexcept;

// The objects with these ids, as far as they live. A new list. A tuple that may
// be unfinished is in it only if its id is one of `finished`. Both are sorted.
// Null: an error is set.
Object* ObjectsWithIds(Object* get_objects, const uint64_t* ids,
                       uint64_t ids_count, const uint64_t* finished,
                       uint64_t finished_count) noexcept;

// What the next `most` objects above `after` lead to, by ids. A new list of the
// highest id that was looked at (0: there was none) and four bytes objects: the
// ids of the objects; of each, in one byte, which of `kinds` it is, counted
// from 1 (0: none); how many references there are up to its last; and, at most
// `most_references` in all, the ids of those that the objects lead to and that
// the garbage collector keeps track of. Objects of the classes `passed_over`,
// not of derived ones, and functions that hold nothing are left out. Null: an
// error is set.
Object* ReadReferences(Object* get_objects, Object* kinds, Object* passed_over,
                       uint64_t after, uint64_t most,
                       uint64_t most_references) noexcept;

}  // namespace oom_forensics::collector::python

#endif  // OOM_FORENSICS_COLLECTOR_PYTHON_HEAP_H_
