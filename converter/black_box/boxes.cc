#include "converter/black_box/boxes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "converter/text/text.h"

namespace oom_forensics {
namespace {

namespace fs = std::filesystem;

// Boxes lie in logdirs, and a logdir may be one of several in a folder.
constexpr int kMaxDepth = 3;
constexpr size_t kMaxEntries = 20'000;

// An open file, locked against others that open boxes. Closing it gives the
// lock back.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : file_(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)) {}
  ~OpenFile() {
    if (file_ >= 0) close(file_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  bool is_open() const { return file_ >= 0; }
  bool Lock() const {
    struct flock whole = {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    return fcntl(file_, F_SETLK, &whole) == 0;
  }
  // It says where to write: nobody else's is believed.
  bool IsOwn() const {
    struct stat status;
    return fstat(file_, &status) == 0 && status.st_uid == geteuid();
  }
  // Nobody has made a run of it meanwhile.
  bool IsThere() const {
    struct stat status;
    return fstat(file_, &status) == 0 && status.st_nlink > 0 &&
           S_ISREG(status.st_mode);
  }
  // At most so many bytes.
  std::string Read(size_t max_bytes) const {
    std::string bytes(max_bytes, '\0');
    size_t size = 0;
    while (size < max_bytes) {
      const ssize_t got = pread(file_, bytes.data() + size, max_bytes - size,
                                static_cast<off_t>(size));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      size += static_cast<size_t>(got);
    }
    bytes.resize(size);
    return bytes;
  }

 private:
  const int file_;
};

// Whether nothing was written into it yet.
bool IsEmpty(const std::string& bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](char c) { return c == '\0'; });
}

void AddBoxesIn(const fs::path& folder, int depth, size_t* entries,
                std::vector<fs::path>* boxes) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (++*entries > kMaxEntries) return;
    std::error_code ignored;
    if (EndsWith(it->path().filename().native(), black_box::kSuffix)) {
      boxes->push_back(it->path());
    } else if (depth > 0 && it->path().filename() != "plugins" &&
               !it->is_symlink(ignored) && it->is_directory(ignored)) {
      AddBoxesIn(it->path(), depth - 1, entries, boxes);
    }
  }
}

// Where boxes lie whose process knew of no logdir, or could not use it.
std::vector<fs::path> FoldersOfUser() {
  const char* const temporary = std::getenv("TMPDIR");
  const std::string name = absl::StrCat("oom_forensics-", getuid());
  return {fs::path(temporary == nullptr || *temporary == '\0' ? "/tmp"
                                                              : temporary) /
              name,
          fs::path("/var/tmp") / name};
}

fs::path WholePath(const fs::path& path) {
  std::error_code error;
  const fs::path whole = fs::canonical(path, error);
  return error ? path : whole;
}

bool IsBelow(const std::string& path, const std::string& folder) {
  return path == folder || StartsWith(path, folder + "/");
}

// Whether the process lives and has become another program: its lock is gone,
// and nothing is known of the end of what it was.
bool BecameAnother(const black_box::Header& header) {
  struct stat own;
  if (stat("/proc/self/ns/pid", &own) != 0 ||
      own.st_ino != header.pid_namespace) {
    return false;
  }
  std::ifstream file(absl::StrCat("/proc/", header.process_id, "/stat"));
  const std::string stat_line{std::istreambuf_iterator<char>(file), {}};
  const size_t end_of_name = stat_line.rfind(')');
  if (end_of_name == std::string::npos) return false;
  const std::vector<std::string> fields =
      absl::StrSplit(stat_line.substr(end_of_name + 1), ' ', absl::SkipEmpty());
  // Field 3 is the state, field 22 when it began.
  uint64_t ticks = 0;
  return fields.size() > 19 && fields[0] != "Z" && fields[0] != "X" &&
         absl::SimpleAtoi(fields[19], &ticks) && ticks == header.start_ticks;
}

std::string TimeName(int64_t time_ns) {
  const time_t seconds = time_ns / 1'000'000'000;
  tm local;
  localtime_r(&seconds, &local);
  char text[64];
  strftime(text, sizeof(text), "%Y_%m_%d_%H_%M_%S", &local);
  return text;
}

// Makes the folder of a run; empty: it cannot be made.
fs::path MakeRunFolder(const fs::path& logdir, int64_t time_ns) {
  constexpr int kMostOfASecond = 1000;
  const fs::path profiles = logdir / "plugins" / "profile";
  std::error_code error;
  fs::create_directories(profiles, error);
  for (int i = 1; !error && i < kMostOfASecond; ++i) {
    const fs::path run =
        profiles / absl::StrCat(TimeName(time_ns), "_death",
                                i == 1 ? "" : absl::StrCat("_", i));
    if (fs::create_directory(run, error)) return run;
  }
  return {};
}

bool WriteFile(const fs::path& path, const std::string& bytes) {
  const fs::path temporary =
      path.parent_path() / absl::StrCat(".", path.filename().string(), ".tmp");
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  std::error_code error;
  if (file) fs::rename(temporary, path, error);
  if (file && !error) return true;
  fs::remove(temporary, error);
  return false;
}

// As a file can be named.
std::string NameOfHost(const ReadBox& box) {
  std::string name = box.host();
  for (char& c : name) {
    if (c == '/' || static_cast<unsigned char>(c) < 0x20) c = '_';
  }
  return name.empty() || name[0] == '.' ? absl::StrCat("host", name) : name;
}

// The lines of source files, without the white space around them. Lines of a
// file are asked for together: it is read once.
class SourceLines {
 public:
  std::string Get(const std::string& path, uint32_t line) {
    if (path != path_) Read(path);
    return line == 0 || line > lines_.size() ? "" : lines_[line - 1];
  }

 private:
  static constexpr size_t kMostFiles = 200;
  static constexpr size_t kMostLines = 100'000;
  static constexpr size_t kMostCharacters = 200;
  static constexpr size_t kMostBytes = size_t{16} << 20;

  void Read(const std::string& path) {
    path_ = path;
    lines_.clear();
    std::error_code error;
    if (++files_ > kMostFiles || !fs::is_regular_file(path, error) ||
        fs::file_size(path, error) > kMostBytes) {
      return;
    }
    std::ifstream file(path);
    std::string text;
    while (lines_.size() < kMostLines && std::getline(file, text)) {
      lines_.emplace_back(
          absl::StripAsciiWhitespace(text.substr(0, kMostCharacters)));
    }
  }

  std::string path_;
  std::vector<std::string> lines_;
  size_t files_ = 0;
};

class BoxOpener {
 public:
  explicit BoxOpener(const std::optional<WaitStatus>& status)
      : status_(status) {}

  // `logdir`: only a box that belongs there; empty: any.
  void Open(const fs::path& path, const std::string& logdir) {
    const OpenFile file(path);
    if (!file.is_open() || !file.IsOwn()) {
      const int reason = file.is_open() ? EPERM : errno;
      if (reason == ENOENT || !logdir.empty()) return;
      opened_.problems.push_back(absl::StrCat(
          path.string(), " cannot be opened (", std::strerror(reason),
          "): it belongs to another user's process, and that user can read "
          "it."));
      return;
    }
    if (!file.Lock()) {
      if (logdir.empty()) {
        opened_.in_use.push_back(
            absl::StrCat(path.string(), " is in use: its process still runs."));
      }
      return;
    }
    if (!file.IsThere()) return;
    const std::string bytes = file.Read(sizeof(black_box::Box));
    const auto box = ReadBox::FromBytes(bytes, path.string());
    if (IsEmpty(bytes)) {
      // Its process died while it made it.
      std::error_code ignored;
      fs::remove(path, ignored);
      return;
    }
    if (!box.ok()) {
      if (logdir.empty()) {
        opened_.problems.push_back(std::string(box.status().message()));
      }
      return;
    }
    if (!logdir.empty() && !IsBelow((*box)->logdir(), logdir)) return;
    MakeRun(path, **box);
  }

  OpenedBoxes Take() { return std::move(opened_); }

 private:
  void MakeRun(const fs::path& path, const ReadBox& box) {
    std::error_code ignored;
    const bool ended_well = box.header().end == black_box::End::kExitCall &&
                            box.header().exit_code == 0;
    if (ended_well || BecameAnother(box.header())) {
      fs::remove(path, ignored);
      return;
    }
    const bool is_known =
        status_.has_value() && status_->process_id == box.header().process_id;
    const Ending ending = FindEnding(box, is_known ? status_ : std::nullopt);
    const std::string oom_run = box.oom_run();
    if (!oom_run.empty() && ending.end != "kernel" &&
        ending.end != "memory_error" && !box.IsShort() &&
        fs::is_directory(oom_run, ignored)) {
      // That run tells more of the end than the box.
      opened_.runs.push_back(oom_run);
      fs::remove(path, ignored);
      return;
    }
    SourceLines lines;
    const std::string trace =
        box.ToTrace(ending, [&](const std::string& file, uint32_t line) {
          return lines.Get(file, line);
        });
    for (const fs::path& logdir :
         {fs::path(box.logdir()), path.parent_path()}) {
      if (!fs::is_directory(logdir, ignored)) continue;
      const fs::path run = MakeRunFolder(logdir, box.last_ns());
      if (run.empty()) continue;
      if (WriteFile(run / absl::StrCat(NameOfHost(box), ".xplane.pb"), trace)) {
        opened_.runs.push_back(run.string());
        fs::remove(path, ignored);
        return;
      }
      fs::remove(run, ignored);
    }
    opened_.problems.push_back(absl::StrCat(
        path.string(),
        " belongs to a process that died, but no run can be written "
        "into its folder."));
  }

  const std::optional<WaitStatus>& status_;
  OpenedBoxes opened_;
};

}  // namespace

OpenedBoxes OpenBoxes(const std::string& path,
                      const std::optional<WaitStatus>& status) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {};
  BoxOpener opener(status);
  const fs::path logdir = WholePath(path);
  std::vector<fs::path> boxes;
  size_t entries = 0;
  AddBoxesIn(logdir, kMaxDepth, &entries, &boxes);
  std::sort(boxes.begin(), boxes.end());
  for (const fs::path& box : boxes) opener.Open(box, "");
  for (const fs::path& folder : FoldersOfUser()) {
    std::vector<fs::path> elsewhere;
    AddBoxesIn(folder, 0, &entries, &elsewhere);
    for (const fs::path& box : elsewhere) {
      if (!IsBelow(WholePath(box), logdir)) opener.Open(box, logdir.string());
    }
  }
  return opener.Take();
}

}  // namespace oom_forensics
