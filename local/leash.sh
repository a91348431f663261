# Stands between a process and its child: `sh leash.sh TENTHS COMMAND …`. Why: leash.ts.
#
# Standard input is a pipe that only the parent holds; the kernel closes it when the parent ends, `kill -9` included.
# Then the child gets SIGTERM, and SIGKILL after TENTHS tenths of a second. Exits as the child does.

grace=$1; shift

# A signal to the whole process group reaches us too. We go on waiting, so that the parent learns when the child ends;
# a handler, not "ignore": the child would inherit that.
trap : TERM HUP INT

exec 3<&0
"$@" 3<&- </dev/null &
child=$!

# A process of its own: it does its work even when the shell that waits below is killed.
(
  trap : TERM HUP
  read -r _ <&3
  kill -TERM "$child" 2>/dev/null
  while [ "$grace" -gt 0 ] && kill -0 "$child" 2>/dev/null; do
    sleep 0.1
    grace=$((grace - 1))
  done
  kill -KILL "$child" 2>/dev/null
) >/dev/null 2>&1 &
watcher=$!
exec 3<&-

# A signal that we caught ends a wait, though the child lives.
while :; do
  wait "$child" 2>/dev/null
  status=$?
  kill -0 "$child" 2>/dev/null || break
done
kill -KILL "$watcher" 2>/dev/null
exit "$status"
