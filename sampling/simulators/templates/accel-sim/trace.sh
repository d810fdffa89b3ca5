printf '%s\n' "$0: @size@" >&2
tracer=$(absolute "${TRACER:?set it to the tracer_tool.so of Accel-Sim}")
traces=$(absolute "${TRACES:-$here/traces}")
mkdir -p -- "$traces"
if grep -q DYNAMIC_KERNEL_RANGE "$tracer"; then
  export DYNAMIC_KERNEL_RANGE=@ranges@
else
  printf '%s\n' "$0: this tracer knows one range alone: it records @first@ to @last@" >&2
  export DYNAMIC_KERNEL_LIMIT_START=@first@ DYNAMIC_KERNEL_LIMIT_END=@last@
fi
export ACTIVE_FROM_START=1 TERMINATE_UPON_LIMIT="${TERMINATE_UPON_LIMIT:-0}"
export USER_DEFINED_FOLDERS=1 TRACES_FOLDER="$traces"
CUDA_INJECTION64_PATH=$tracer "$@"
if [ -z "${POST_PROCESSING:-}" ]; then
  printf '%s\n' "$0: traced; now run post-traces-processing on $traces" >&2
elif [ -e "$traces/kernelslist" ]; then
  "$POST_PROCESSING" "$traces/kernelslist"
else
  "$POST_PROCESSING" "$traces/traces"
fi
printf '%s\n' "then: kernelpoint export '$here@top@' --to accel-sim --traces '@traces@' --config gpgpusim.config -o SIMULATE" >&2
