// OtherCopy: the collector of another installation in this process. TensorFlow
// loads one for each folder of Python's path that has one; only the first may
// stand in TensorFlow's tables.
#ifndef OOM_FORENSICS_COLLECTOR_OTHER_COPY_H_
#define OOM_FORENSICS_COLLECTOR_OTHER_COPY_H_

namespace oom_forensics::collector {

// Whether TensorFlow has loaded another copy of this library before. May throw
// bad_alloc.
bool OtherCopyIsAtWork();

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_OTHER_COPY_H_
