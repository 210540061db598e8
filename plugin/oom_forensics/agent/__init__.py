"""OOM Forensics for programs that reason: a server of the Model Context Protocol, and a skill.

`answers` is what the tools say, bounded in size; `server` offers it as tools over stdio
(`oom-forensics mcp`); `SKILL.md` tells an agent when and how to use them.
"""
