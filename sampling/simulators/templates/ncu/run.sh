ncu=${NCU:-ncu}
results=$(absolute "${RESULTS:-$here/results}")
mkdir -p -- "$results"
# NCU_OPTIONS holds several words.
# shellcheck disable=SC2086
profile() {
  report=$1
  shift
  "$ncu" ${NCU_OPTIONS:-} --target-processes all --force-overwrite --export "$results/$report" "$@"
}
@runs@
printf '%s\n' "$results"
