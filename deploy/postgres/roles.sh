#!/bin/bash
# Brings the roles of a server that exists in line with deploy/postgres.env: makes those that are missing, and sets every password. May be run
# again and again; "Keys" in docs/operations.md has the steps around it.
set -euo pipefail
psql -v ON_ERROR_STOP=1 -q -U postgres -d postgres <<'SQL'
-- From the environment: arguments can be read by everybody on the host.
\getenv owner_password GATEWAY_OWNER_DB_PASSWORD
\getenv reader_password GATEWAY_READER_DB_PASSWORD
\getenv signer_password GATEWAY_SIGNER_DB_PASSWORD
\getenv gateway_password GATEWAY_DB_PASSWORD
\getenv temporal_password TEMPORAL_DB_PASSWORD
-- A password in a statement that fails is not for the server's log.
set log_min_error_statement = 'panic';
begin;
select format('create role %I login', name)
  from unnest('{gateway_owner,gateway,gateway_reader,gateway_signer,temporal}'::text[]) name
  where not exists (select from pg_roles where rolname = name) \gexec
-- A drill of a restore makes a database of its own.
alter role gateway_owner createdb password :'owner_password';
alter role gateway password :'gateway_password';
alter role gateway_reader password :'reader_password';
alter role gateway_signer password :'signer_password';
alter role temporal password :'temporal_password';
select format('alter role %I set %s', name, setting)
  from unnest('{gateway_owner,gateway,gateway_reader,gateway_signer}'::text[]) name,
    unnest(array['log_min_error_statement = panic', 'log_error_verbosity = terse']) setting \gexec
grant connect on database gateway to gateway, gateway_reader, gateway_signer;
commit;
-- What the signer may, as the owner of the tables grants it. Without tables yet, "gateway migrate" does.
\connect gateway
set role gateway_owner;
select 'select grant_signer(''gateway_signer'')' where to_regprocedure('public.grant_signer(name)') is not null \gexec
SQL
