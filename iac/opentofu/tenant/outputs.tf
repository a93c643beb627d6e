output "endpoint" {
  description = "Endpoint of the API server, as host:port."
  value       = try(data.kubernetes_resource.tenant.object.status.controlPlaneEndpoint, null)
}

output "kubernetes_version" {
  description = "Installed Kubernetes version."
  value       = try(data.kubernetes_resource.tenant.object.status.kubernetesResources.version.version, null)
}

output "kubeconfig_secret" {
  description = "The Secret with the kubeconfig of the tenant's administrator, under the key admin.conf. Read it where it is needed, so that the credential does not get into the state."
  value = {
    namespace = var.namespace
    name      = try(data.kubernetes_resource.tenant.object.status.kubeconfig.admin.secretName, null)
  }
}
