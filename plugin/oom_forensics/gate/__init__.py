"""The gate of continuous integration: a run is measured against a budget and a baseline run.

`budget` reads the budget's file, `checks` asks the converter and compares, `outputs` writes
what was found as text, JSON, JUnit XML and Markdown, `command` is `oom-forensics gate`, and
`pytest_plugin` is the marker `oom_budget` for tests.
"""
