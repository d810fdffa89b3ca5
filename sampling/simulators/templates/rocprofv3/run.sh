rocprofv3=${ROCPROFV3:-rocprofv3}
results=$(absolute "${RESULTS:-$here/results}")
# ROCPROF_OPTIONS holds several words.
# shellcheck disable=SC2086
profile() {
  name=$1
  shift
  "$rocprofv3" ${ROCPROF_OPTIONS:-@measures@--output-format csv} -d "$results" -o "$name" "$@"
}
@runs@
printf '%s\n' "$results"
