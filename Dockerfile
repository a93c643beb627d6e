# syntax=docker/dockerfile:1
# The bundle is the same on every architecture and is built once:
#   docker buildx build --platform linux/amd64,linux/arm64 --build-arg VERSION=0.17.0 -t <registry>/steward:v0.17.0 --push .
# With helm, which cluster stacks need (a layer of 64 MiB more, 20 MiB compressed):
#   docker buildx build --target with-helm … -t <registry>/steward:v0.17.0-helm --push .
FROM --platform=$BUILDPLATFORM node:24-bookworm-slim AS build
ARG VERSION=""
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
# `/manager` is the path that manifests of the field call; the file's first line names the interpreter.
RUN node cmd/build.ts dist ${VERSION} \
 && mkdir -p /rootfs/app \
 && cp -r dist/. LICENSE /rootfs/app/ \
 && chmod 0755 /rootfs/app/steward.mjs \
 && ln -s /app/steward.mjs /rootfs/manager

# The helm that the tests run, from its pinned module: go.sum holds the checksum of every file, on every architecture.
FROM --platform=$BUILDPLATFORM golang:1.26-bookworm AS helm
ARG TARGETARCH
WORKDIR /src
COPY e2e/tools/modules/helm ./
RUN CGO_ENABLED=0 GOARCH=${TARGETARCH} go build -mod=readonly -trimpath -buildvcs=false \
    -gcflags=all=-dwarf=false -ldflags "-s -w -buildid= -X helm.sh/helm/v4/internal/version.version=v4.3.1" \
    -o /rootfs/usr/local/bin/ helm.sh/helm/v4/cmd/helm

# Node, the libraries it is linked to, authorities and the user nonroot; no shell, nothing to write to.
FROM gcr.io/distroless/nodejs24-debian12:nonroot AS steward
LABEL org.opencontainers.image.title="steward" \
      org.opencontainers.image.source="https://github.com/butlerdotdev/steward" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /rootfs/ /
USER 65532:65532
ENV NODE_ENV=production
# The allocator gives free memory back to the system (release/manager-image.ts).
ENV MALLOC_MMAP_THRESHOLD_=131072
ENV MALLOC_TRIM_THRESHOLD_=131072
ENV MALLOC_ARENA_MAX=2
ENTRYPOINT ["/manager"]
CMD ["manager"]

FROM steward AS with-helm
COPY --from=helm /rootfs/ /

# What is built unless a target is named.
FROM steward
