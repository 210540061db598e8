#!/bin/sh
# Writes index.js and index.css, all that the tab needs, worker.js that runs a converter in the page, and fleet.js, which makes a page of its own
# with index.css, into OUTPUT_DIR.
#   bundle.sh REPOSITORY FRONTEND_DIR NODE_MODULES OUTPUT_DIR
# Works on a copy, so that a read-only source tree (Bazel's sandbox) will do.
set -eu
node_modules=$(realpath "$3")
output=$(mkdir -p "$4" && realpath "$4")
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -rL "$2/src" "$2/tsconfig.json" "$copy/"
chmod -R u+w "$copy"
sh "$2/scripts/generate.sh" "$1" "$node_modules" "$copy/src/generated"
ln -s "$node_modules" "$copy/node_modules"
cd "$copy"
node "$node_modules/esbuild/bin/esbuild" \
  index=src/index.ts worker=src/converter/worker.ts fleet=src/fleet.ts index=src/styles/index.css \
  --bundle --format=esm --target=es2022 --minify --charset=utf8 --legal-comments=inline \
  --outdir="$output" --log-level=warning
