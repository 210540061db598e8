"""Programs that write source files from the contracts in proto/."""
