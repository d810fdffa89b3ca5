gem5=${GEM5:-gem5.opt}
case $gem5 in */*) gem5=$(absolute "$gem5") ;; esac
results=$(absolute "${RESULTS:-$here/results}")
simulate() {
  first=$1
  last=$2
  shift 2
  "$gem5" -d "$results/kernels-$first-$last" "$here/dump-kernels.py" "$@" \
    --skip-until-gpu-kernel="$first" --exit-after-gpu-kernel="$last"
}
@runs@
printf '%s\n' "$results"
