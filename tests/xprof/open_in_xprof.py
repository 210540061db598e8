"""Converts a trace with xprof's tools and prints what each made of it.

Usage: open_in_xprof.py FILE. Prints a JSON object: the tool, the bytes of its answer.
"""

import json
import sys

from xprof.convert import raw_to_tool_data

TOOLS = ["trace_viewer", "memory_profile", "overview_page", "framework_op_stats"]

answers = {}
for tool in TOOLS:
    data, _ = raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], tool, {})
    answers[tool] = len(data)
names = raw_to_tool_data.xspace_to_tool_names([sys.argv[1]])
print(json.dumps({"answers": answers, "tools": names}))
