// BoxFile: the file of the black box (core/black_box.h), mapped into this
// process. It lies on a local disk, whose pages the kernel can write back when
// memory is short; those of /dev/shm would count against the job. All of it is
// reserved at once, as a page that finds no room on a full disk is SIGBUS.
#ifndef OOM_FORENSICS_COLLECTOR_BLACK_BOX_BOX_FILE_H_
#define OOM_FORENSICS_COLLECTOR_BLACK_BOX_BOX_FILE_H_

#include <memory>
#include <string>
#include <vector>

#include "core/black_box.h"

namespace oom_forensics::collector {

// Where a box may lie.
struct BoxFolder {
  // Empty: there is none.
  std::string path;
  // Made for such files, for this user only: it goes with the last of them.
  bool is_ours = false;
};

class BoxFile {
 public:
  // Makes it in the first of `folders` that can have one. Null where none can;
  // `why_not` is then a sentence without a period.
  static std::unique_ptr<BoxFile> Make(const std::vector<BoxFolder>& folders,
                                       std::string* why_not);

  // Lives as long as the process, removed or not.
  black_box::Box* box() const { return box_; }
  const std::string& path() const { return path_; }

  // The process ends well: nothing is left. Not in a forked child.
  void Remove() noexcept;

  // What is written from now on does not enter the file.
  void Freeze() noexcept;

  // Puts memory of its own where the parent's file is mapped.
  void AfterForkInChild() noexcept;

 private:
  BoxFile(std::string path, std::string own_folder, int file,
          black_box::Box* box);

  const std::string path_;
  // The folder that goes with it; empty: it stays.
  const std::string own_folder_;
  // Open for as long as the process lives: it has the lock.
  const int file_;
  black_box::Box* const box_;
  const int process_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_BLACK_BOX_BOX_FILE_H_
