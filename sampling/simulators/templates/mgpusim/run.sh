traces=${TRACES:-@traces@}
traces=$(absolute "$traces")
list=$here/@folder@/kernelslist.g
simulator=${MGPUSIM:?set it to the program built in the nvidia folder of MGPUSim}
case $simulator in */*) simulator=$(absolute "$simulator") ;; esac
@link_traces@
cd -- "$here/@folder@"
"$simulator" -trace-dir "$here/@folder@" > run.log 2>&1 || fail "the simulator failed; see $PWD/run.log"
printf '%s\n' "$PWD/run.log"
