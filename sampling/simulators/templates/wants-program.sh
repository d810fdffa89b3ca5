if [ $# -eq 0 ]; then
  printf '%s\n' "usage: sh $0 PROGRAM [ARGUMENT...]" >&2
  exit 2
fi
