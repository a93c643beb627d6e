# Tenants of one management cluster, in which ../install has been applied.
variable "kubeconfig" {
  description = "Kubeconfig of the management cluster."
  type        = string
}

variable "tenants" {
  description = "Tenants by name."
  type = map(object({
    kubernetes_version = optional(string, "v1.36.3")
    replicas           = optional(number, 2)
    service_type       = optional(string, "LoadBalancer")
  }))
  default = { shop = {} }
}

provider "kubernetes" {
  config_path = var.kubeconfig
}

module "tenant" {
  source   = "../../tenant"
  for_each = var.tenants

  name               = each.key
  data_store         = "default"
  kubernetes_version = each.value.kubernetes_version
  replicas           = each.value.replicas
  service_type       = each.value.service_type
}

output "endpoints" {
  description = "Endpoints of the tenants."
  value       = { for name, tenant in module.tenant : name => tenant.endpoint }
}

output "kubeconfig_secrets" {
  description = "Secrets with the kubeconfigs of their administrators."
  value       = { for name, tenant in module.tenant : name => tenant.kubeconfig_secret }
}
