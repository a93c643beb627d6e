module steward.butlerlabs.dev/tools/gateway-api-1.4

go 1.24.0

require sigs.k8s.io/gateway-api v1.4.1
