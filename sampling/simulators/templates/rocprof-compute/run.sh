rocprof_compute=${ROCPROF_COMPUTE:-rocprof-compute}
results=$(absolute "${RESULTS:-$here/results}")
# ROCPROF_COMPUTE_OPTIONS holds several words.
# shellcheck disable=SC2086
profile() {
  name=$1
  shift
  "$rocprof_compute" profile ${ROCPROF_COMPUTE_OPTIONS:---no-roof} -n "$name" -p "$results/$name" "$@"
}
@runs@
printf '%s\n' "$results"
