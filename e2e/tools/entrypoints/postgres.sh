#!/bin/sh
# The part of the public PostgreSQL image's contract that config/datastores/postgres uses: on an empty PGDATA, a database with
# the superuser POSTGRES_USER (postgres unless said) and the password of POSTGRES_PASSWORD or POSTGRES_PASSWORD_FILE; then the
# server with the given flags. POSTGRES_INITDB_ARGS are flags of initdb. It runs as the user that the pod names.
set -eu

# $1: the variable; its value, or the first line of the file that $1_FILE names.
value() {
  eval "text=\${$1:-}; file=\${$1_FILE:-}"
  if [ -z "$text" ] && [ -n "$file" ]; then IFS= read -r text <"$file" || [ -n "$text" ]; fi
  printf '%s' "$text"
}

if [ "${1:-}" = postgres ]; then shift; fi
case "${1:--}" in
  -*) ;;
  *) exec "$@" ;;
esac

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  user=$(value POSTGRES_USER)
  password=$(value POSTGRES_PASSWORD)
  if [ -z "$password" ]; then
    echo 'set POSTGRES_PASSWORD or POSTGRES_PASSWORD_FILE: the password of the superuser' >&2
    exit 1
  fi
  # A file that only this user reads, on the pod's own /tmp: initdb takes the password in no other way without a terminal.
  umask 077
  printf '%s\n' "$password" >/tmp/initdb-password
  # shellcheck disable=SC2086
  initdb --username="${user:-postgres}" --pwfile=/tmp/initdb-password ${POSTGRES_INITDB_ARGS:-}
  : >/tmp/initdb-password
fi
exec postgres "$@"
