tracer=$(absolute "${TRACER:?set it to the main.so of Macsim_tracer}")
traces=$(absolute "${TRACES:-$here/traces}")
case $here$traces in *[[:space:]]*) fail "the tracer takes no path with a blank" ;; esac
mkdir -p -- "$traces"
export SAMPLED_KERNEL_INFO="$here/sampled_kernels_info.txt" TRACE_PATH="$traces"
CUDA_INJECTION64_PATH=$tracer "$@"
printf '%s\n' "$traces"
