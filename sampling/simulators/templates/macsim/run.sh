traces=${TRACES:-@traces@}
traces=$(absolute "$traces")
config=$here/@config@
simulator=${MACSIM:?set it to the simulator}
case $simulator in */*) simulator=$(absolute "$simulator") ;; esac
params=$(absolute "${PARAMS:?set it to the params.in to simulate}")
mkdir -p -- "$here/run@suffix@"
cd -- "$here/run@suffix@"
while IFS= read -r line; do
  case $line in ./*/trace.txt) ;; *) continue ;; esac
  name=${line#./}
  name=${name%/trace.txt}
  if [ -e "$name/trace.txt" ]; then continue; fi
  if [ ! -e "$traces/$name/trace.txt" ]; then
    fail "$name is not in $traces; set TRACES to the folder of the traces"
  fi
  ln -s -- "$traces/$name" "$name"
done < "$config"
cp -- "$config" kernel_config.txt
cp -- "$params" params.in
printf '1\n%s\n' ./kernel_config.txt > trace_file_list
"$simulator" > run.log 2>&1 || fail "the simulator failed; see $PWD/run.log"
printf '%s\n' "$PWD/run.log"
printf '%s\n' "then: kernelpoint estimate '$here@top@' '$here@top@'/@logs@" >&2
