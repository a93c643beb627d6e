resource "kubernetes_manifest" "datastore" {
  manifest = {
    apiVersion = "steward.butlerlabs.dev/v1alpha1"
    kind       = "DataStore"
    metadata   = { name = var.name }
    spec       = var.spec
  }

  field_manager {
    name = "opentofu"
  }

  wait {
    condition {
      type   = "Ready"
      status = "True"
    }
  }

  timeouts {
    create = var.timeout
    update = var.timeout
    delete = var.timeout
  }
}
