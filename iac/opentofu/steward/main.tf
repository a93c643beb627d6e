# Two releases, because Helm never upgrades what is in a chart's folder crds/. The charts keep the definitions, and thereby all tenants,
# when they are uninstalled.
resource "helm_release" "crds" {
  name             = "steward-crds"
  chart            = "${var.charts}/steward-crds"
  version          = var.chart_version
  namespace        = var.namespace
  create_namespace = true
  values           = [yamlencode(var.crd_values)]
}

resource "helm_release" "steward" {
  name      = "steward"
  chart     = "${var.charts}/steward"
  version   = var.chart_version
  namespace = helm_release.crds.namespace
  values    = [yamlencode(var.values)]
  wait      = var.wait
  timeout   = var.timeout_seconds
}
