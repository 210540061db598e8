// What Python calls, by ctypes. Strings that are returned belong to the caller,
// who gives them back with OomForensics_Free(). All functions can be called
// from any thread; those that need TensorFlow say so where it is not there.
// None throws: where memory is short they return null, or say so.
#ifndef OOM_FORENSICS_COLLECTOR_C_API_H_
#define OOM_FORENSICS_COLLECTOR_C_API_H_

#include <cstdint>

extern "C" {

// What is hooked in this process and what not, and why: a JSON object. Never
// null.
char* OomForensics_Status();

// Null if `value` is a possible value of the setting `name`, else a sentence.
// Works without TensorFlow.
char* OomForensics_CheckSetting(const char* name, const char* value);

// Changes a setting. Null if that went well, else a sentence.
char* OomForensics_Configure(const char* name, const char* value);

// Tells where a profiler session or a callback of this process writes to;
// reports go there unless the setting `logdir` says otherwise.
void OomForensics_LearnLogdir(const char* logdir);

// The training step with this number begins now; a negative number: the last
// one is over. Returns 1 if a snapshot was written (setting `snapshot_at`).
int OomForensics_BeginStep(int64_t step);

// The program begins what takes memory beside its blocks; kind, name and where
// as the fields of black_box::Activity. Returns what to end it with; a negative
// number: it is not kept.
int OomForensics_BeginActivity(int kind, const char* name, const char* where);
// It has ended; `live`, `element_bytes` and `what` as there.
void OomForensics_EndActivity(int activity, uint64_t live,
                              uint64_t element_bytes, const char* what);

// Has `look` called when the memory of the host gets short, with how much of it
// is in use, in percent, and how much is left; null ends that. It takes
// Python's lock itself.
void OomForensics_OnShortage(void (*look)(int percent, uint64_t left_bytes));

// Says that the process ends by a MemoryError that nothing caught.
void OomForensics_EndByMemoryError();

// Writes a snapshot into `logdir`, or, if that is empty, where reports go.
// Returns its folder; null on failure, *error is then a sentence.
char* OomForensics_Snapshot(const char* logdir, char** error);

// Keeps all events from now on, as a profiler session does, but without
// TensorFlow's profiler, and whether or not one runs. Null if that went well,
// else a sentence: it was begun already.
char* OomForensics_StartRecording();

// Ends that and writes the trace into a run folder of `logdir`. Returns the
// folder; null on failure, *error is then a sentence.
char* OomForensics_StopRecording(const char* logdir, char** error);

// The state of every allocator: a JSON array. Never null.
char* OomForensics_MemoryStats();

// How this process is doing, in little time: a JSON object. Never null.
char* OomForensics_LiveState();

// The folder of the run that the last out-of-memory or snapshot left; null if
// there is none.
char* OomForensics_LastRun();

// The summary of the out-of-memory that an error of TensorFlow with this
// message tells of (the last one of the shape that it names), its lines
// separated by newlines; null if there was none.
char* OomForensics_SummaryFor(const char* message);

// What an error of TensorFlow with this message hides, where a library had no
// memory of its own: a few lines, separated by newlines, and a run is written.
// Null where the message tells of something else, or there is no device.
char* OomForensics_LibraryFailure(const char* message);

// The runs that were written since the last call, by the flight recorder, by
// OomForensics_Snapshot() or by OomForensics_StopRecording(): a JSON array of
// {"trace", "origin", "address_shift", "remote_logdir", "incident"}. Never
// null.
char* OomForensics_TakeWrittenRuns();

// How many out-of-memories there were so far.
uint64_t OomForensics_OutOfMemoryCount();

// Has `look` called at an out-of-memory, in a thread of the collector's own,
// before the refused request returns (flight_recorder/python_evidence.h has
// the question). It takes Python's lock itself.
void OomForensics_StartEvidence(void (*look)(const char* question));

// Hands over planes (a serialized XSpace) of an incident. 0: nobody wants to
// know any more.
int32_t OomForensics_AddEvidence(uint64_t incident, const char* planes,
                                 uint64_t size);

// Ends that; to be called, without Python's lock, before Python ends.
void OomForensics_StopEvidence();

// A Python frame of the calling thread, as Python itself describes it.
typedef struct {
  uint64_t code;        // id(frame.f_code)
  int32_t instruction;  // f_lasti; -1: this frame goes on meanwhile
  int32_t line;         // f_lineno; 0: none
  const char* file;
  const char* function;
} OomForensics_Frame;

// Begins to take the Python stacks of allocations, without Python's lock, if
// `frames` (all of the calling thread's, innermost first) are what is read out
// of memory. `hexversion` is sys.hexversion. Null if that went well, else why
// stacks are not taken.
char* OomForensics_StartStacks(uint32_t hexversion,
                               const OomForensics_Frame* frames,
                               uint64_t count);

// Ends that; to be called before Python takes its threads apart.
void OomForensics_StopStacks();

// Path prefixes, a line each: code below them is a library's, not the user's;
// and the folder of the user's project, empty: not known. The settings
// user_paths, library_paths and source_paths build on them.
void OomForensics_SetSourceRoots(const char* library_prefixes,
                                 const char* project_root);

// Where the buffer of the EagerTensor with this id() lies, of a variable's
// handle that of the variable's value; 0: that is not known. Runs no op of
// TensorFlow's, takes no lock and holds nothing.
uint64_t OomForensics_TensorAddress(uint64_t tensor);

// Python's objects (collector/python/heap.h): with Python's lock, by
// ctypes.PyDLL; what is given and returned are PyObjects.
void* OomForensics_NextObjects(void* get_objects, void* kinds, uint64_t after,
                               uint64_t most);
void* OomForensics_ObjectsWithIds(void* get_objects, const uint64_t* ids,
                                  uint64_t ids_count, const uint64_t* finished,
                                  uint64_t finished_count);
void* OomForensics_ReadReferences(void* get_objects, void* kinds,
                                  void* passed_over, uint64_t after,
                                  uint64_t most, uint64_t most_references);

// Whether the calling thread looks for evidence from now on: what an allocator
// refuses it meanwhile is recorded, but not reported as the job's
// out-of-memory.
void OomForensics_SetLooking(int looking);

void OomForensics_Free(char* text);

}  // extern "C"

#endif  // OOM_FORENSICS_COLLECTOR_C_API_H_
