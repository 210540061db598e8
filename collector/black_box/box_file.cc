#include "collector/black_box/box_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

namespace oom_forensics::collector {
namespace {

// Where a mapped file is memory, or waits for a network, or where a block that
// was reserved may have to move when it is written, which on a full disk is
// SIGBUS. From linux/magic.h and the headers of file systems outside of it.
constexpr uint32_t kNoPlaces[] = {
    0x01021994,  // tmpfs
    0x858458f6,  // ramfs
    0x958458f6,  // hugetlbfs
    0x6969,      // NFS
    0xff534d42,  // CIFS
    0xfe534d42,  // SMB2
    0x517b,      // SMB
    0x65735546,  // FUSE
    0x01021997,  // 9p
    0x00c36400,  // Ceph
    0x0bd00bd0,  // Lustre
    0x47504653,  // GPFS
    0x9123683e,  // Btrfs
    0x2fc12fc1,  // ZFS
    0xca451a4e,  // bcachefs
    0xf2f52010,  // F2FS
    0x3434,      // NILFS
};

bool IsPlace(int file) {
  struct statfs about;
  if (fstatfs(file, &about) != 0) return false;
  const auto type = static_cast<uint32_t>(about.f_type);
  return std::find(std::begin(kNoPlaces), std::end(kNoPlaces), type) ==
         std::end(kNoPlaces);
}

std::string HostName() {
  char name[64] = "";
  gethostname(name, sizeof(name) - 1);
  return name;
}

// A folder for temporary files is everybody's: a link or a folder of someone
// else is a trap.
bool IsOwn(const std::string& folder) {
  struct stat status;
  return lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == getuid();
}

// The whole file is this process's, until it is gone. The lock is the open
// file's: a program that reads the folder and closes what it read keeps it.
bool Lock(int file) {
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return fcntl(file, F_OFD_SETLK, &whole) == 0;
}

}  // namespace

BoxFile::BoxFile(std::string path, std::string own_folder, int file,
                 black_box::Box* box)
    : path_(std::move(path)),
      own_folder_(std::move(own_folder)),
      file_(file),
      box_(box),
      process_(getpid()) {}

std::unique_ptr<BoxFile> BoxFile::Make(const std::vector<BoxFolder>& folders,
                                       std::string* why_not) {
  constexpr size_t kBytes = sizeof(black_box::Box);
  const auto fail = [&](const std::string& what, const std::string& path,
                        int error) {
    if (!why_not->empty()) *why_not += "; ";
    *why_not += path + ": " + what;
    if (error != 0) *why_not += std::string(" (") + std::strerror(error) + ")";
  };
  for (const auto& [folder, is_ours] : folders) {
    if (folder.empty()) continue;
    const bool made = mkdir(folder.c_str(), is_ours ? 0700 : 0777) == 0;
    if (!made && errno != EEXIST) {
      fail("the folder cannot be made", folder, errno);
      continue;
    }
    const bool goes = made || is_ours;
    if (is_ours && !IsOwn(folder)) {
      fail("it is another user's", folder, 0);
      continue;
    }
    const std::string path = folder + "/" + HostName() + "-" +
                             std::to_string(getpid()) + black_box::kSuffix;
    // A box of an earlier process of this number is evidence, not ours.
    const int file =
        open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) {
      fail("no file can be made there", folder, errno);
      if (goes) rmdir(folder.c_str());
      continue;
    }
    const int reserved = IsPlace(file) ? posix_fallocate(file, 0, kBytes) : -1;
    void* mapped = MAP_FAILED;
    if (reserved == 0 && Lock(file)) {
      mapped =
          mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    if (mapped != MAP_FAILED) {
      return std::unique_ptr<BoxFile>(
          new BoxFile(path, goes ? folder : "", file,
                      static_cast<black_box::Box*>(mapped)));
    }
    fail(reserved < 0 ? "it is on no local disk that reserves room"
                      : "the file cannot be reserved, locked and mapped",
         folder, reserved > 0 ? reserved : 0);
    unlink(path.c_str());
    close(file);
    if (goes) rmdir(folder.c_str());
  }
  return nullptr;
}

void BoxFile::Remove() noexcept {
  if (getpid() != process_) return;
  unlink(path_.c_str());
  // Only where nothing else came to lie in it.
  if (!own_folder_.empty()) rmdir(own_folder_.c_str());
}

void BoxFile::Freeze() noexcept {
  if (getpid() != process_) return;
  mmap(box_, sizeof(black_box::Box), PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_FIXED, file_, 0);
}

void BoxFile::AfterForkInChild() noexcept {
  // MADV_DONTFORK would crash whoever writes to it next.
  mmap(box_, sizeof(black_box::Box), PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  // Else the file would be locked for as long as the child lives.
  struct stat mapped;
  struct stat opened;
  if (stat(path_.c_str(), &mapped) == 0 && fstat(file_, &opened) == 0 &&
      mapped.st_ino == opened.st_ino && mapped.st_dev == opened.st_dev) {
    close(file_);
  }
}

}  // namespace oom_forensics::collector
