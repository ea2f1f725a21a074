# syntax=docker/dockerfile:1
FROM node:24-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24-slim
# git is for the agents' own commands; bash is in the base image, ripgrep comes with the packages.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates git \
  && rm -rf /var/lib/apt/lists/* \
  && mkdir /state /workspace \
  && chown node:node /state /workspace
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json ./
COPY core ./core
COPY workflows ./workflows
COPY activities ./activities
COPY worker ./worker
COPY client ./client
COPY agents ./agents
COPY examples ./examples
RUN printf '#!/bin/sh\nexec node /app/client/cli/main.ts "$@"\n' > /usr/local/bin/subagents \
  && chmod 0755 /usr/local/bin/subagents
ENV NODE_ENV=production XDG_STATE_HOME=/state
USER node
WORKDIR /workspace
VOLUME /state
CMD ["subagents", "worker"]
