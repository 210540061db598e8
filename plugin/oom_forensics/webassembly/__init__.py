"""The converter where there is none for the machine: as WebAssembly, run by wasmtime.

    python -m oom_forensics.webassembly report logdir

is the command `oom-forensics` that the native program is, its `serve` too. The module is
`static/program.wasm` (`//converter/wasm:program`); what it needs of the machine are a few functions
(`host`).
"""
