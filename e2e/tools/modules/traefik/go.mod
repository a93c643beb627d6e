module steward.butlerlabs.dev/tools/traefik

go 1.24.0

require github.com/traefik/traefik/v3 v3.7.13
