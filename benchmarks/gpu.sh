#!/bin/sh
# Measures scoring on one NVIDIA GPU, beside plain transformers: models of OPUS-MT's and of
# NLLB-600M's size with random weights, in exact, bf16 and auto, with pairs per second and memory.
# It takes at most 8 minutes and needs no network; torch with CUDA and the packages of the extras
# must be installed already.
#
#   sh benchmarks/gpu.sh         on a GPU
#   sh benchmarks/gpu.sh --tiny  the same road on a CPU, by the embedded evaluator, in two minutes
#
# PYTHON: the interpreter. DATA_DIR: upstream repositories. OUT: a folder for tables and JSON.
set -eu
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-python3}
OUT=${OUT:-out/gpu}
if [ -z "${DATA_DIR:-}" ]; then
    DATA_DIR=shared/upstream
    [ -d "$DATA_DIR" ] || DATA_DIR=../shared/upstream
fi
export HF_HUB_OFFLINE=1
mkdir -p "$OUT"

# measured NAME SECONDS DEVICE PAIRS: one model, whose tables are kept when the next one fails
measured() {
    timeout "$2" "$PYTHON" -m benchmarks.scoring --data-dir "$DATA_DIR" --data winomt \
        --sizes "$1" --device "$3" --pairs "$4" --rounds 1 \
        --alternatives plain,plain-bf16,exact,bf16,auto \
        --json "$OUT/$1.json" > "$OUT/$1.md" || {
        echo "$1: failed, or took more than $2 s" >&2
        status=1
    }
    cat "$OUT/$1.md"
}
status=0

if [ "${1:-}" = --tiny ]; then
    measured cc-tiny-en-de 480 cpu 64
    exit $status
fi
"$PYTHON" -c 'import torch; assert torch.cuda.is_available(), "torch sees no GPU"'
measured opus-mt 180 cuda 2048
measured nllb 280 cuda 1024
exit $status
