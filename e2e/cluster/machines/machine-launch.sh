#!/bin/bash
# Starts a machine: joins its cgroups, makes its namespaces and becomes the parent of its init.
# Environment: CGROUP_ENTER, CGROUP_SETTLE (files to write a pid into), INIT_SCRIPT, and what the init script wants.
set -eu
# The cgroup namespace is rooted where its first process is; on a unified hierarchy that process moves to a leaf afterwards.
for file in $CGROUP_ENTER; do echo $$ > "$file"; done
exec unshare --cgroup bash -euc '
  for file in $CGROUP_SETTLE; do echo $$ > "$file"; done
  exec unshare --mount --net --pid --uts --ipc --fork --kill-child=SIGKILL --propagation private --mount-proc bash "$INIT_SCRIPT"
'
