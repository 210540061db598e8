// What Python calls, by ctypes. Strings that are returned belong to the caller,
// who gives them back with OomForensics_Free(). All functions can be called
// from any thread; those that need TensorFlow say so where it is not there.
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
// one is over.
void OomForensics_BeginStep(int64_t step);

// Writes a snapshot into `logdir`, or, if that is empty, where reports go.
// Returns its folder; null on failure, *error is then a sentence.
char* OomForensics_Snapshot(const char* logdir, char** error);

// Keeps all events from now on, as a profiler session does, but without
// TensorFlow's profiler.
void OomForensics_StartRecording();

// Ends that and writes the trace into a run folder of `logdir`. Returns the
// folder; null on failure, *error is then a sentence.
char* OomForensics_StopRecording(const char* logdir, char** error);

// The state of every allocator: a JSON array. Never null.
char* OomForensics_MemoryStats();

// The JSON report (proto/oom_report.schema.json) of the last out-of-memory or
// snapshot; null if there was none.
char* OomForensics_LastReport();

// The summary of the last out-of-memory, its lines separated by newlines; null
// if there was none.
char* OomForensics_LastSummary();

// The runs that were written since the last call, by the flight recorder, by
// OomForensics_Snapshot() or by OomForensics_StopRecording(): a JSON array of
// {"trace", "origin", "address_shift"}. Never null.
char* OomForensics_TakeWrittenRuns();

// How many out-of-memories there were so far.
uint64_t OomForensics_OutOfMemoryCount();

void OomForensics_Free(char* text);

}  // extern "C"

#endif  // OOM_FORENSICS_COLLECTOR_C_API_H_
