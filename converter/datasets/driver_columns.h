// The columns and rows of a device's DriverSeries.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_DRIVER_COLUMNS_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_DRIVER_COLUMNS_H_

#include "converter/datasets/selection.h"
#include "converter/replay/device_replay.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// A device of a host, replayed.
struct SelectedDevice {
  SharedHost host;
  const DeviceTrace* trace = nullptr;
  DeviceReplay replay;
};

// Adds rows, samples and pools of the range, and columns (unless 0 are asked).
void FillDriverSeries(const SelectedDevice& device, const NsRange& range,
                      uint32_t column_count, DriverSeries* series);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_DRIVER_COLUMNS_H_
