ncu=${NCU:-ncu}
results=$(absolute "${RESULTS:-$here/results}")
mkdir -p -- "$results"
# NCU_OPTIONS holds several words.
# shellcheck disable=SC2086
profile() {
  report=$1
  shift
  "$ncu" ${NCU_OPTIONS:-@measures@} --target-processes all --force-overwrite --export "$results/$report" "$@"
  "$ncu" --import "$results/$report.ncu-rep" --csv --page raw >"$results/$report.csv"
}
@runs@
printf '%s\n' "$results"
