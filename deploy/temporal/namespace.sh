#!/bin/sh
# Makes the namespace and the search attributes that operators filter by. A repetition changes nothing.
set -eu
tries=0
until temporal operator cluster health --address "$TEMPORAL_ADDRESS"; do
  tries=$((tries + 1))
  [ "$tries" -lt 30 ] || { echo "Temporal did not become healthy: see the log of the service temporal." >&2; exit 1; }
  sleep 2
done
temporal operator namespace describe --address "$TEMPORAL_ADDRESS" -n "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
  temporal operator namespace create --address "$TEMPORAL_ADDRESS" -n "$TEMPORAL_NAMESPACE" --retention 30d
# A new namespace is known to every part of the server only some seconds later.
tries=0
until known=$(temporal operator search-attribute list --address "$TEMPORAL_ADDRESS" -n "$TEMPORAL_NAMESPACE"); do
  tries=$((tries + 1))
  [ "$tries" -lt 30 ] || exit 1
  sleep 2
done
for attribute in MerchantId:Keyword Network:Keyword DepositStage:Keyword StageSince:Datetime NeedsOperator:Bool; do
  name=${attribute%%:*}
  echo "$known" | grep -qw "$name" ||
    temporal operator search-attribute create --address "$TEMPORAL_ADDRESS" -n "$TEMPORAL_NAMESPACE" --name "$name" --type "${attribute##*:}"
done
