# The worker. Nothing but COPY, so that an image for ARM is built on any machine, without emulation.
# Its context is made by `npm run image:context` (and by `cdk deploy`): bundles, and the native packages of the platform.
ARG BASE=public.ecr.aws/docker/library/node:24-bookworm-slim
FROM ${BASE}
WORKDIR /graticule
COPY package.json main.js object-store.js health.js ./
COPY node_modules ./node_modules
USER 1000:1000
ENV NODE_ENV=production GRATICULE_HEALTH_SOCKET=graticule-health
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["node", "health.js"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node"]
CMD ["main.js"]
