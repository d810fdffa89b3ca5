while IFS= read -r name || [ -n "$name" ]; do
  case $name in kernel*) ;; *) continue ;; esac
  if [ -e "${list%/*}/$name" ]; then
    continue
  elif [ -e "$traces/$name" ]; then
    ln -s -- "$traces/$name" "${list%/*}/$name"
  elif [ -e "$traces/$name.gz" ]; then
    gzip -dc -- "$traces/$name.gz" > "${list%/*}/$name"
  else
    fail "$name is not in $traces; set TRACES to the folder of the traces"
  fi
done < "$list"
