tool=$(absolute "${TOOL:?set it to the tool of NVBit, such as instr_count.so}")
results=$(absolute "${RESULTS:-$here/results}")
mkdir -p -- "$results"
while read -r first end <&3; do
  export START_GRID_NUM="$first" END_GRID_NUM="$end"
  CUDA_INJECTION64_PATH=$tool "$@" > "$results/launches-$first-$end.txt"
done 3< "$here/@ranges@"
printf '%s\n' "$results"
