tracer=$(absolute "${TRACER:?set it to the tracer_tool.so of Accel-Sim}")
traces=$(absolute "${TRACES:-$here/kernels}")
mkdir -p -- "$traces"
export DYNAMIC_KERNEL_RANGE=@beyond@
export DYNAMIC_KERNEL_LIMIT_START=@beyond@ DYNAMIC_KERNEL_LIMIT_END=@beyond@
export ACTIVE_FROM_START=1 TERMINATE_UPON_LIMIT="${TERMINATE_UPON_LIMIT:-0}"
export USER_DEFINED_FOLDERS=1 TRACES_FOLDER="$traces"
CUDA_INJECTION64_PATH=$tracer "$@"
printf '%s\n' "$traces"
