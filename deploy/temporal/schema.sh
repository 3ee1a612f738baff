#!/bin/sh
# Makes the tables of Temporal and brings them up to date. Both steps look at the version that is there, so a repetition changes nothing.
set -eu
tool() {
  temporal-sql-tool --plugin postgres12 --ep postgres -p 5432 -u temporal --db "$@"
}
for part in temporal:temporal temporal_visibility:visibility; do
  tool "${part%%:*}" setup-schema -v 0.0
  tool "${part%%:*}" update-schema -d "/etc/temporal/schema/postgresql/v12/${part##*:}/versioned"
done
