# Runs a program on a read-only root, as its user, without a capability and without a way to get one: what the task
# definition asks of Fargate. Within a mount namespace of its own (`unshare --mount`).
# usage: read-only.sh ROOT WORKING-DIRECTORY USER GROUP PROGRAM [WORD ...]
set -eu
root=$1 directory=$2 user=$3 group=$4
shift 4
/bin/mount --bind "$root" "$root"
/bin/mount -o remount,bind,ro "$root"
exec /usr/bin/setpriv --no-new-privs /usr/bin/unshare --root="$root" --wd="$directory" --setgid "$group" --setuid "$user" -- "$@"
