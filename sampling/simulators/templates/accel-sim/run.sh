traces=${TRACES:-@traces@}
traces=$(absolute "$traces")
list=$here/@list@
simulator=${ACCELSIM:-accel-sim.out}
config=$(absolute "${GPGPUSIM_CONFIG:?set it to the gpgpusim.config to simulate}")
trace_config=$(absolute "${TRACE_CONFIG:?set it to the trace.config that belongs to it}")
case $simulator in */*) simulator=$(absolute "$simulator") ;; esac
@link_traces@
mkdir -p -- "$here/run@suffix@"
cd -- "$here/run@suffix@"
for file in "${config%/*}"/*.icnt; do
  if [ -e "$file" ] && [ ! -e "${file##*/}" ]; then ln -s -- "$file" .; fi
done
"$simulator" -trace "$list" -config "$config" -config "$trace_config" > run.log 2>&1 ||
  fail "the simulator failed; see $PWD/run.log"
printf '%s\n' "$PWD/run.log"
printf '%s\n' "then: kernelpoint estimate '$here@top@' '$here@top@'/@logs@" >&2
