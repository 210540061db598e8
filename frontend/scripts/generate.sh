#!/bin/sh
# Writes the TypeScript types of the datasets from their schema.
#   generate.sh PROTO_DIR NODE_MODULES OUTPUT_DIR
set -eu
mkdir -p "$3"
protoc \
  --plugin=protoc-gen-es="$2/@bufbuild/protoc-gen-es/bin/protoc-gen-es" \
  --proto_path="$1" --es_out="$3" --es_opt=target=ts \
  datasets.proto
