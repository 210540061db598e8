// Compression as gzip does it (RFC 1952), by zlib.
#ifndef OOM_FORENSICS_CONVERTER_EXPORTS_GZIP_GZIP_H_
#define OOM_FORENSICS_CONVERTER_EXPORTS_GZIP_GZIP_H_

#include <string>
#include <string_view>

namespace oom_forensics {

// `data` as one gzip member. Equal data give equal bytes: no time is stored.
std::string Gzip(std::string_view data);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_EXPORTS_GZIP_GZIP_H_
