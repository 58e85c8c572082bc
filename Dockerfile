# syntax=docker/dockerfile:1
# The packages are fetched under npm's own Node; the program runs on the one that package.json pins.
FROM node:22-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# What the install step of uWebSockets.js reads.
COPY scripts/install-uws.ts scripts/
COPY server/uws-packages.ts server/
RUN npm ci --omit=dev && npm cache clean --force

# No npm, no package manager of Node, no build tool in what runs.
FROM debian:bookworm-slim
RUN groupadd --system --gid 10001 millrace \
  && useradd --system --uid 10001 --gid millrace --home-dir /data --no-create-home --shell /usr/sbin/nologin millrace \
  && install --directory --owner=millrace --group=millrace --mode=0700 /data /app/.cache
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY --from=packages /app/.tools ./.tools
# .dockerignore names what belongs to the program.
COPY . .
# DEMO=false: the first start prints a random password for the system administrator, once.
ENV NODE_ENV=production \
  DATA_DIR=/data \
  DEMO=false \
  HTTP_BIND_ADDRESS=0.0.0.0 \
  HTTP_BIND_PORT=8080 \
  MQTT_BIND_ADDRESS=0.0.0.0 \
  MQTT_BIND_PORT=1883 \
  COAP_BIND_ADDRESS=0.0.0.0 \
  COAP_BIND_PORT=5683 \
  LWM2M_BIND_ADDRESS=0.0.0.0 \
  LWM2M_BIND_PORT=5685 \
  LWM2M_BS_BIND_ADDRESS=0.0.0.0 \
  LWM2M_BS_BIND_PORT=5687
USER 10001:10001
VOLUME /data
EXPOSE 8080 1883 5683/udp 5685/udp 5687/udp
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node_modules/.bin/node", "deploy/health.ts"]
ENTRYPOINT ["node_modules/.bin/node", "--disable-warning=ExperimentalWarning", "--import", "./compose/stripped-types.mjs", "main.ts"]
