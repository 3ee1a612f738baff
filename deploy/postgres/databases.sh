#!/bin/bash
# Runs once, when the volume is empty: each program has a role and databases of its own and cannot read the other's.
set -euo pipefail
psql -v ON_ERROR_STOP=1 -U postgres -d postgres \
  -v gateway_password="$GATEWAY_DB_PASSWORD" -v temporal_password="$TEMPORAL_DB_PASSWORD" <<'SQL'
create role gateway login password :'gateway_password';
create role temporal login password :'temporal_password';
-- Values stand in statements, and the details of an error repeat rows: the server's log shows neither.
alter role gateway set log_min_error_statement = 'panic';
alter role gateway set log_error_verbosity = 'terse';
create database gateway owner gateway;
create database temporal owner temporal;
create database temporal_visibility owner temporal;
revoke connect on database gateway, temporal, temporal_visibility from public;
SQL
