// The black box: what a process leaves behind that dies without a word. A file
// on a local disk, mapped by the process that it speaks of and read by whoever
// comes after it.
//
//   Header | samples, three rings | activities | sites | live blocks | texts
//
// The process writes its state where it happens, so that the file is whole at
// any moment: a record is filled first, and counted after that. Numbers are
// little-endian; a reader trusts none of them.
//
// While the process lives it holds a record lock (fcntl) on the whole file. A
// free lock and `end` of kRunning: it died.
#ifndef OOM_FORENSICS_CORE_BLACK_BOX_H_
#define OOM_FORENSICS_CORE_BLACK_BOX_H_

#include <atomic>
#include <cstdint>

namespace oom_forensics::black_box {

inline constexpr char kMagic[8] = {'O', 'O', 'M', 'F', 'B', 'O', 'X', '\n'};
inline constexpr uint32_t kVersion = 3;
// "<host>-<process>.oombox" in the logdir.
inline constexpr char kSuffix[] = ".oombox";

// From this part of the limit on memory is short.
inline constexpr double kShort = 0.9;

// How the process ended, as far as it could say so itself.
enum class End : uint32_t {
  kRunning = 0,
  // It called _exit(exit_code): no destructor, no handler ran.
  kExitCall = 1,
  // It called abort(): a failed check, as a rule.
  kAbort = 2,
  // It was asked to end, by SIGTERM or by Ctrl-C, and had no handler for it;
  // memory was short, else there is no box.
  kAsked = 3,
  // It ended by a MemoryError that nothing in it caught.
  kMemoryError = 4,
};

// A limit of the process alone, as `ulimit` sets it.
enum class OwnLimit : uint32_t {
  kNone = 0,
  // RLIMIT_AS, of all that it has mapped.
  kAddressSpace = 1,
  // RLIMIT_DATA, of what it has mapped for itself to write to.
  kData = 2,
};

// One look at the memory of the process and at its surroundings. 0: not known,
// or none.
struct Sample {
  // CLOCK_REALTIME, nanoseconds since the epoch. Written last; 0: no sample.
  std::atomic<int64_t> time_ns;
  uint64_t rss_anon_bytes;
  uint64_t rss_file_bytes;
  uint64_t rss_shmem_bytes;
  // Used in the cgroup that limits the process, or on the machine without one.
  uint64_t used_bytes;
  // How much of them are file pages that can be given back.
  uint64_t cache_bytes;
  // From here on without what nothing has touched yet. What TensorFlow's
  // default allocator on the CPU has in use.
  uint64_t tensorflow_bytes;
  // What its pools on the CPU have taken.
  uint64_t pool_bytes;
  // Blocks of NumPy and other libraries, estimated where they are small.
  uint64_t native_bytes;
  // Python's own pools of small objects.
  uint64_t python_bytes;
  // What malloc has in use, pools and tensors among it.
  uint64_t malloc_used_bytes;
  // What was freed and is still held by malloc.
  uint64_t malloc_free_bytes;
  // The training step that was under way; below 0: none.
  int64_t step;
};
static_assert(sizeof(Sample) == 104);

// The rings hold a sample each tenth of a second, two seconds, minute.
inline constexpr uint32_t kRings = 3;
inline constexpr int64_t kRingIntervalNs[kRings] = {100'000'000, 2'000'000'000,
                                                    60'000'000'000};
inline constexpr uint32_t kRingSamples = 2048;

struct Ring {
  // Samples so far; the one of number N lies at N % kRingSamples.
  std::atomic<uint64_t> count;
  Sample samples[kRingSamples];
};

// What a program does that takes memory beyond its blocks, and that Python
// sees.
enum class ActivityKind : uint32_t {
  kNone = 0,
  // A function is traced, and run for the first time after that.
  kTrace = 1,
  // A node of tf.data that keeps elements is made.
  kBuffer = 2,
  // A model or a checkpoint is saved.
  kSave = 3,
  // XLA has compiled a function.
  kCompile = 4,
  // While memory got short: what holds arrays or tensors (named in words, where
  // a local variable of the user's has it), and where a thread was.
  kHolder = 5,
  kStack = 6,
};

// An activity of one place of the program. The fields before `name` change
// while it is under way and after that.
struct Activity {
  // Written last; kNone: there is none yet.
  std::atomic<ActivityKind> kind;
  // How often it was begun and has not ended.
  std::atomic<uint32_t> under_way;
  // When it began first, and last.
  int64_t first_ns;
  std::atomic<int64_t> last_ns;
  std::atomic<uint64_t> count;
  // What the process had of its own when it began last, and by how much that
  // grew from begin to end, all times together.
  std::atomic<uint64_t> begin_anon_bytes;
  std::atomic<uint64_t> grown_bytes;
  // How many of its results are kept; of a buffer how many elements it may
  // keep, 0: not known.
  std::atomic<uint64_t> live;
  // The bytes of one element of a buffer; 0: not known.
  std::atomic<uint64_t> element_bytes;
  // "train_step", "shuffle", "Model.save". Texts end with a 0.
  char name[96];
  // Frames of Python as a site has them.
  char where[1024];
  // What changes from one time to the next.
  char what[256];
};
inline constexpr uint32_t kMaxActivities = 128;

// Who asks the host for memory: the same op, or the same lines of Python.
enum class Owner : uint32_t {
  // TensorFlow's default allocator on the CPU.
  kTensorFlow = 0,
  // NumPy or another library, by malloc.
  kNative = 1,
  // Python's pools of small objects.
  kPython = 2,
};

struct Site {
  // Place of its text in the texts, and its length. The text is lines,
  //   op '\t' shape
  //   and of each frame of Python, innermost first,
  //   'u' (the user's) or 'l' (a library's) line '\t' function '\t' file
  uint32_t text;
  uint32_t text_bytes;
  Owner owner;
  // tensorflow.DataType; 0: not known.
  int32_t dtype;
};

// A block that is live: a large one, or a small one that was drawn by chance.
struct Block {
  // 0: none.
  std::atomic<uint64_t> address;
  uint64_t bytes;
  int64_t born_ns;
  // Index of its site.
  uint32_t site;
  // So many blocks like this one it stands for, in thousandths.
  uint32_t weight_thousandths;
};
static_assert(sizeof(Block) == 32);

inline constexpr uint32_t kMaxSites = 8192;
inline constexpr uint32_t kMaxBlocks = 1 << 16;
inline constexpr uint32_t kTextBytes = 2 << 20;

struct Header {
  char magic[8];
  uint32_t version;
  // The file's size, so that a reader notices a file that was cut off.
  uint32_t file_bytes;
  std::atomic<End> end;
  std::atomic<int32_t> exit_code;
  uint64_t process_id;
  // Field 22 of /proc/<pid>/stat: tells a process from a later one of its id.
  uint64_t start_ticks;
  // Inode of /proc/self/ns/pid, in which the id counts.
  uint64_t pid_namespace;
  int64_t started_ns;
  // The memory of the machine; the limit of the cgroup, 0: none.
  uint64_t machine_bytes;
  std::atomic<uint64_t> limit_bytes;
  // The nearer one of the process's own limits, and what counts against it.
  std::atomic<OwnLimit> own_limit;
  std::atomic<uint64_t> own_limit_bytes;
  std::atomic<uint64_t> own_used_bytes;
  // How often the kernel had killed in the cgroup when the process started.
  uint64_t kills_at_start;
  // What did not fit into the tables below.
  std::atomic<uint64_t> lost_sites;
  std::atomic<uint64_t> lost_blocks;
  std::atomic<uint32_t> site_count;
  std::atomic<uint32_t> text_bytes;
  // Small blocks are drawn once in so many bytes; 0: no blocks are watched.
  std::atomic<uint64_t> sampling_bytes;
  // 1: blocks of NumPy, Python and other libraries are watched, not those of
  // TensorFlow alone.
  std::atomic<uint32_t> watches_malloc;
  // Texts end with a 0.
  char host[64];
  char tensorflow_version[32];
  char collector_version[32];
  // Folder of the cgroup's files, "/sys/fs/cgroup/memory/jobs/1".
  char cgroup[512];
  char command[512];
  // Where a run belongs.
  char logdir[1024];
  // The run of the last out-of-memory, and when it was written; 0: there was
  // none.
  char oom_run[1024];
  std::atomic<int64_t> oom_run_ns;
};

// The whole file.
struct Box {
  Header header;
  Ring rings[kRings];
  Activity activities[kMaxActivities];
  Site sites[kMaxSites];
  Block blocks[kMaxBlocks];
  char texts[kTextBytes];
};

static_assert(std::atomic<uint64_t>::is_always_lock_free);
static_assert(sizeof(Box) < 10'000'000);

}  // namespace oom_forensics::black_box

#endif  // OOM_FORENSICS_CORE_BLACK_BOX_H_
