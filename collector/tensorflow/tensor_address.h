// Where the buffer of an eager tensor lies, and that of a variable's value,
// read out of memory.
//
// TensorFlow's own ways to tell it run an op, and an op may wait for a lock
// that the failing thread holds, copy a variable that is in copy-on-read mode
// (any embedding), keep the buffer alive, or be seen by callbacks. Here nothing
// is called and nothing is held: pointers are followed, each of which must lead
// to an object whose type information names the class that is expected there.
// What does not is "not known".
#ifndef OOM_FORENSICS_COLLECTOR_TENSORFLOW_TENSOR_ADDRESS_H_
#define OOM_FORENSICS_COLLECTOR_TENSORFLOW_TENSOR_ADDRESS_H_

#include <cstdint>

namespace oom_forensics::collector {

// The address of the buffer of the EagerTensor at `object` (id() of it); for
// the handle of a variable that of the variable's value. 0: not known, or it
// has none now. Another thread may end the tensor meanwhile.
uint64_t TensorAddress(uint64_t object);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_TENSORFLOW_TENSOR_ADDRESS_H_
