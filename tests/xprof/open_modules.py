"""Opens every XLA module of a trace in xprof's memory viewer; prints one line for each.

Usage: open_modules.py FILE. The line: the module's name, the bytes of the viewer's answer.
"""

import sys
from pathlib import Path

from xprof.convert import raw_to_tool_data

trace = sys.argv[1]
# Writes the modules beside the trace, by name.
names = raw_to_tool_data.xspace_to_tool_names([trace])
assert "memory_viewer" in names, names
for module in sorted(Path(trace).parent.glob("*.hlo_proto.pb")):
    name = module.name.removesuffix(".hlo_proto.pb")
    if name == "NO_MODULE":
        continue
    data, _ = raw_to_tool_data.xspace_to_tool_data(
        [trace], "memory_viewer", {"module_name": name, "host": name}
    )
    print(name, len(data))
