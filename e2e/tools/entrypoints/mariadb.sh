#!/bin/sh
# The part of the public MariaDB image's contract that config/datastores/mysql uses: on an empty /var/lib/mysql, the system tables
# and the user root, here and at every host, with the password of MARIADB_ROOT_PASSWORD or MARIADB_ROOT_PASSWORD_FILE; then
# the server with the given flags. It runs as the user that the pod names.
set -eu

# $1: the variable; its value, or the first line of the file that $1_FILE names.
value() {
  eval "text=\${$1:-}; file=\${$1_FILE:-}"
  if [ -z "$text" ] && [ -n "$file" ]; then IFS= read -r text <"$file" || [ -n "$text" ]; fi
  printf '%s' "$text"
}

if [ "${1:-}" = mariadbd ]; then shift; fi
case "${1:--}" in
  -*) ;;
  *) exec "$@" ;;
esac

tables=/usr/share/mysql
if [ ! -d /var/lib/mysql/mysql ]; then
  password=$(value MARIADB_ROOT_PASSWORD)
  if [ -z "$password" ]; then
    echo 'set MARIADB_ROOT_PASSWORD or MARIADB_ROOT_PASSWORD_FILE: the password of the user root' >&2
    exit 1
  fi
  case "$password" in
    *[!A-Za-z0-9_-]*)
      echo 'the password of root may hold letters, digits, "_" and "-" only' >&2
      exit 1
      ;;
  esac
  {
    # The server takes one statement a line here.
    printf '%s\n' 'CREATE DATABASE mysql;' 'USE mysql;' 'SET @auth_root_socket=NULL;'
    cat $tables/mysql_system_tables.sql $tables/mysql_performance_tables.sql $tables/mysql_system_tables_data.sql
    cat $tables/maria_add_gis_sp_bootstrap.sql $tables/mysql_sys_schema.sql
    # Only root of this pod stays, not one of the host that the pod was named after when it was made.
    echo "DELETE FROM mysql.global_priv WHERE Host <> 'localhost';"
    echo "DELETE FROM mysql.proxies_priv WHERE Host <> 'localhost';"
    echo 'FLUSH PRIVILEGES;'
    echo "ALTER USER root@localhost IDENTIFIED BY '$password';"
    echo "CREATE USER root@'%' IDENTIFIED BY '$password';"
    echo "GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION;"
  } | mariadbd "$@" --bootstrap --skip-networking --log-warnings=0
fi
exec mariadbd "$@"
