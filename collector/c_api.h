// What Python calls, by ctypes. Strings that are returned belong to the caller,
// who gives them back with OomForensics_Free().
#ifndef OOM_FORENSICS_COLLECTOR_C_API_H_
#define OOM_FORENSICS_COLLECTOR_C_API_H_

extern "C" {

// What is hooked in this process and what not, and why: a JSON object. Never
// null.
char* OomForensics_Status();

void OomForensics_Free(char* text);

}  // extern "C"

#endif  // OOM_FORENSICS_COLLECTOR_C_API_H_
