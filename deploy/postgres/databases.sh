#!/bin/bash
# Runs once, when the volume is empty: each program has a role and databases of its own and cannot read the other's. Of the gateway's, the
# owner makes and changes tables ("gateway migrate"), the service reads and writes rows, the reader looks, the signer writes what it signed.
set -euo pipefail
psql -v ON_ERROR_STOP=1 -U postgres -d postgres <<'SQL'
-- From the environment: arguments can be read by everybody on the host.
\getenv owner_password GATEWAY_OWNER_DB_PASSWORD
\getenv reader_password GATEWAY_READER_DB_PASSWORD
\getenv signer_password GATEWAY_SIGNER_DB_PASSWORD
\getenv gateway_password GATEWAY_DB_PASSWORD
\getenv temporal_password TEMPORAL_DB_PASSWORD
create role gateway_owner login password :'owner_password';
create role gateway login password :'gateway_password';
create role gateway_reader login password :'reader_password';
create role gateway_signer login password :'signer_password';
create role temporal login password :'temporal_password';
-- Values stand in statements, and the details of an error repeat rows: the server's log shows neither.
-- A drill of a restore makes a database of its own.
alter role gateway_owner createdb;
alter role gateway_owner set log_min_error_statement = 'panic';
alter role gateway_owner set log_error_verbosity = 'terse';
alter role gateway set log_min_error_statement = 'panic';
alter role gateway set log_error_verbosity = 'terse';
alter role gateway_reader set log_min_error_statement = 'panic';
alter role gateway_reader set log_error_verbosity = 'terse';
alter role gateway_signer set log_min_error_statement = 'panic';
alter role gateway_signer set log_error_verbosity = 'terse';
create database gateway owner gateway_owner;
create database temporal owner temporal;
create database temporal_visibility owner temporal;
revoke connect on database gateway, temporal, temporal_visibility from public;
revoke temporary on database gateway from public;
grant connect on database gateway to gateway, gateway_reader, gateway_signer;
\connect gateway
-- Every table that the owner will ever make, also the months that the service has made for it.
alter default privileges for role gateway_owner grant select, insert, update, delete on tables to gateway;
alter default privileges for role gateway_owner grant usage, select on sequences to gateway;
alter default privileges for role gateway_owner grant select on tables to gateway_reader;
-- What the signer may, the migration that made its tables grants: columns, not tables.
SQL
