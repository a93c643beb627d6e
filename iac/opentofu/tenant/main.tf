locals {
  status = "status.kubernetesResources.version"
  # The installed version becomes the wanted one when everything is in place, so an upgrade is waited for as well.
  done = var.replicas == 0 ? { "${local.status}.status" = "^Sleeping$" } : {
    "${local.status}.version" = "^${replace(var.kubernetes_version, ".", "\\.")}$"
    "${local.status}.status"  = "^Ready$"
  }
}

resource "kubernetes_manifest" "tenant" {
  manifest = {
    apiVersion = "steward.butlerlabs.dev/v1alpha1"
    kind       = "TenantControlPlane"
    metadata = merge(
      { name = var.name, namespace = var.namespace },
      length(var.labels) == 0 ? {} : { labels = var.labels },
    )
    spec = merge(
      var.data_store == null ? {} : { dataStore = var.data_store },
      {
        kubernetes = { version = var.kubernetes_version }
        controlPlane = {
          deployment = merge({ replicas = var.replicas }, var.deployment)
          service    = merge({ serviceType = var.service_type }, var.service)
        }
        networkProfile = var.network_profile
        addons         = var.addons
      },
    )
  }

  field_manager {
    name = "opentofu"
  }

  wait {
    fields = local.done
  }

  timeouts {
    create = var.timeout
    update = var.timeout
    delete = var.timeout
  }
}

# kubernetes_manifest does not keep the status.
data "kubernetes_resource" "tenant" {
  api_version = "steward.butlerlabs.dev/v1alpha1"
  kind        = "TenantControlPlane"

  metadata {
    name      = var.name
    namespace = var.namespace
  }

  depends_on = [kubernetes_manifest.tenant]
}
