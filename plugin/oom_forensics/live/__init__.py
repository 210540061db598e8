"""Jobs that run: what their collectors say of them when they are asked.

`jobs` finds and asks them, `watch` shows one in a terminal (`oom-forensics watch`), `metrics`
offers all of them to Prometheus (`oom-forensics metrics`), `live_runs` shows them as runs of the
tab.
"""
