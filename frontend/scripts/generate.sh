#!/bin/sh
# Writes the TypeScript types of the datasets from their schema, and datasets_pb.ts,
# which exports all of them.
#   generate.sh REPOSITORY NODE_MODULES OUTPUT_DIR
set -eu
mkdir -p "$3"
datasets=$(cd "$1" && echo proto/datasets/*.proto)
# shellcheck disable=SC2086  # names without spaces
protoc \
  --plugin=protoc-gen-es="$2/@bufbuild/protoc-gen-es/bin/protoc-gen-es" \
  --proto_path="$1" --es_out="$3" --es_opt=target=ts \
  $datasets
for dataset in $datasets; do
  echo "export * from './${dataset%.proto}_pb';"
done >"$3/datasets_pb.ts"
