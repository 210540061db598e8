#include "converter/cache/column_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>

#include "converter/cancellation/beside.h"

namespace oom_forensics {
namespace {

constexpr uint64_t kAlignment = 64;
// Checked, and written, at a time.
constexpr uint64_t kSliceBytes = uint64_t{1} << 20;

struct Header {
  char magic[8] = {'O', 'O', 'M', 'F', 'C', 'O', 'L', '1'};
  uint64_t file_bytes = 0;
  uint64_t places_offset = 0;
  uint64_t place_count = 0;
  uint64_t archive_bytes = 0;
  // Covers the places and the archive, which follows them.
  uint64_t rest_checksum = 0;
  // Covers all fields before it.
  uint64_t checksum = 0;
};

// Where a column is.
struct Place {
  uint64_t offset = 0;
  uint64_t size_bytes = 0;
  uint64_t checksum = 0;
};

uint64_t Aligned(uint64_t offset) {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

// Finds accidents, not forgers: those could write what they like only as the
// user.
uint64_t SliceChecksum(const char* data, uint64_t size_bytes, uint64_t number) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;
  // Four at a time, so that none waits for the one before.
  uint64_t lanes[4] = {number, kOdd, ~number, size_bytes};
  const auto mix = [](uint64_t lane, uint64_t word) {
    lane = (lane ^ word) * kOdd;
    return lane ^ lane >> 29;
  };
  uint64_t at = 0;
  for (; at + sizeof(lanes) <= size_bytes; at += sizeof(lanes)) {
    uint64_t words[4];
    std::memcpy(words, data + at, sizeof(words));
    for (int i = 0; i < 4; ++i) lanes[i] = mix(lanes[i], words[i]);
  }
  for (; at < size_bytes; ++at) {
    lanes[0] = mix(lanes[0], static_cast<uint8_t>(data[at]));
  }
  uint64_t sum = 0;
  for (const uint64_t lane : lanes) sum = mix(sum, lane);
  return sum;
}

// A sum over slices, which any thread may add to.
uint64_t Checksum(const char* data, uint64_t size_bytes) {
  uint64_t sum = 0;
  for (uint64_t at = 0; at < size_bytes; at += kSliceBytes) {
    sum += SliceChecksum(data + at, std::min(kSliceBytes, size_bytes - at), at);
  }
  return sum;
}

uint64_t HeaderChecksum(const Header& header) {
  return Checksum(reinterpret_cast<const char*>(&header),
                  offsetof(Header, checksum));
}

class Mapping {
 public:
  Mapping(const char* data, uint64_t size_bytes)
      : data_(data), size_bytes_(size_bytes) {}
  ~Mapping() { munmap(const_cast<char*>(data_), size_bytes_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  const char* data() const { return data_; }
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  const char* data_;
  uint64_t size_bytes_;
};

// Null where there is none, or others may have written it.
std::shared_ptr<const Mapping> MapOwnFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return nullptr;
  struct stat status = {};
  void* data = MAP_FAILED;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
      status.st_uid == geteuid() &&
      (status.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
      status.st_size >= static_cast<off_t>(sizeof(Header))) {
    data = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ,
                MAP_PRIVATE, file, 0);
    // Used last now: others are removed sooner.
    if (data != MAP_FAILED) futimens(file, nullptr);
  }
  close(file);
  if (data == MAP_FAILED) return nullptr;
  return std::make_shared<const Mapping>(static_cast<const char*>(data),
                                         static_cast<uint64_t>(status.st_size));
}

bool AreWhole(const char* data, const std::vector<Place>& places) {
  std::vector<std::pair<size_t, uint64_t>> slices;  // Place, offset in it.
  for (size_t i = 0; i < places.size(); ++i) {
    for (uint64_t at = 0; at < places[i].size_bytes; at += kSliceBytes) {
      slices.emplace_back(i, at);
    }
  }
  std::vector<std::atomic<uint64_t>> sums(places.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < slices.size(); i = next++) {
      const auto& [place, at] = slices[i];
      sums[place] += SliceChecksum(
          data + places[place].offset + at,
          std::min(kSliceBytes, places[place].size_bytes - at), at);
    }
  };
  std::future<void> other = StartBeside(
      work, slices.size() < 16 ? WorthAThread::kNo : WorthAThread::kYes);
  work();
  other.get();
  bool whole = true;
  for (size_t i = 0; i < places.size(); ++i) {
    whole &= sums[i] == places[i].checksum;
  }
  return whole;
}

class FileWriter {
 public:
  FileWriter(int file, const std::atomic<bool>& stop)
      : file_(file), stop_(stop) {}

  uint64_t offset() const { return offset_; }

  bool Write(const char* data, uint64_t size_bytes) {
    for (uint64_t left = size_bytes; left > 0;) {
      if (stop_) return false;
      const ssize_t written = write(file_, data, std::min(left, kSliceBytes));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      data += written;
      left -= static_cast<uint64_t>(written);
    }
    offset_ += size_bytes;
    return true;
  }
  bool Align() {
    static constexpr char kZeros[kAlignment] = {};
    return Write(kZeros, Aligned(offset_) - offset_);
  }

 private:
  const int file_;
  const std::atomic<bool>& stop_;
  uint64_t offset_ = 0;
};

bool WriteAll(int file, const ArchiveWriter& archive,
              const std::atomic<bool>& stop) {
  FileWriter writer(file, stop);
  Header header;
  // Said at the end: until then it is no such file.
  const Header none = {};
  if (!writer.Write(reinterpret_cast<const char*>(&none), sizeof(none))) {
    return false;
  }
  std::vector<Place> places;
  for (const ColumnBytes& column : archive.columns()) {
    if (!writer.Align()) return false;
    places.push_back({writer.offset(), column.size_bytes,
                      Checksum(column.data, column.size_bytes)});
    if (!writer.Write(column.data, column.size_bytes)) return false;
  }
  if (!writer.Align()) return false;
  std::string rest(reinterpret_cast<const char*>(places.data()),
                   places.size() * sizeof(Place));
  rest += archive.bytes();
  header.places_offset = writer.offset();
  header.place_count = places.size();
  header.archive_bytes = archive.bytes().size();
  header.rest_checksum = Checksum(rest.data(), rest.size());
  if (!writer.Write(rest.data(), rest.size())) return false;
  header.file_bytes = writer.offset();
  header.checksum = HeaderChecksum(header);
  return pwrite(file, &header, sizeof(header), 0) == sizeof(header);
}

}  // namespace

bool MapColumnFile(const std::string& path, MappedColumns* mapped) {
  const std::shared_ptr<const Mapping> mapping = MapOwnFile(path);
  if (mapping == nullptr) return false;
  const char* const data = mapping->data();
  Header header;
  std::memcpy(&header, data, sizeof(header));
  if (std::memcmp(header.magic, Header().magic, sizeof(header.magic)) != 0 ||
      header.checksum != HeaderChecksum(header) ||
      header.file_bytes != mapping->size_bytes() ||
      header.places_offset > header.file_bytes) {
    return false;
  }
  const uint64_t rest_bytes = header.file_bytes - header.places_offset;
  if (header.place_count > rest_bytes / sizeof(Place) ||
      header.archive_bytes != rest_bytes - header.place_count * sizeof(Place) ||
      header.rest_checksum !=
          Checksum(data + header.places_offset, rest_bytes)) {
    return false;
  }
  std::vector<Place> places(header.place_count);
  std::memcpy(places.data(), data + header.places_offset,
              places.size() * sizeof(Place));
  for (const Place& place : places) {
    if (place.offset % kAlignment != 0 || place.offset > header.places_offset ||
        place.size_bytes > header.places_offset - place.offset) {
      return false;
    }
    mapped->columns.push_back({data + place.offset, place.size_bytes});
  }
  if (!AreWhole(data, places)) return false;
  mapped->archive = {data + header.file_bytes - header.archive_bytes,
                     header.archive_bytes};
  mapped->owner = mapping;
  return true;
}

uint64_t ColumnFileBytes(const ArchiveWriter& archive) {
  uint64_t bytes = sizeof(Header) + archive.bytes().size();
  for (const ColumnBytes& column : archive.columns()) {
    bytes += Aligned(column.size_bytes) + kAlignment + sizeof(Place);
  }
  return bytes;
}

bool WriteColumnFile(const std::string& path, const ArchiveWriter& archive,
                     const std::atomic<bool>& stop) {
  std::string part = path + kPartInfix + "XXXXXX";
  const int file = mkostemp(part.data(), O_CLOEXEC);
  if (file < 0) return false;
  bool written = WriteAll(file, archive, stop);
  written = close(file) == 0 && written;
  written = written && rename(part.c_str(), path.c_str()) == 0;
  if (!written) unlink(part.c_str());
  return written;
}

}  // namespace oom_forensics
