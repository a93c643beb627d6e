# syntax=docker/dockerfile:1
FROM --platform=$BUILDPLATFORM node:24-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
# `/manager` is the path that manifests of the field call; the file's first line names the interpreter.
RUN npm run build \
 && mkdir -p /rootfs/app \
 && cp -r dist/. LICENSE /rootfs/app/ \
 && chmod 0755 /rootfs/app/steward.mjs \
 && ln -s /app/steward.mjs /rootfs/manager

FROM gcr.io/distroless/nodejs24-debian12:nonroot
COPY --from=build /rootfs/ /
USER 65532:65532
ENV NODE_ENV=production
ENTRYPOINT ["/manager"]
CMD ["manager"]
