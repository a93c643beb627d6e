variable "name" {
  description = "Name of the TenantControlPlane."
  type        = string
}

variable "namespace" {
  description = "Its namespace in the management cluster, which must exist."
  type        = string
  default     = "default"
}

variable "kubernetes_version" {
  description = "Kubernetes version of the control plane."
  type        = string
  default     = "v1.36.3"

  validation {
    condition     = can(regex("^v[0-9]+\\.[0-9]+\\.[0-9]+$", var.kubernetes_version))
    error_message = "A version has the form v1.36.3."
  }
}

variable "replicas" {
  description = "Number of control plane pods. 0 puts the tenant to sleep."
  type        = number
  default     = 2
}

variable "data_store" {
  description = "Name of the DataStore. Without one, the manager has a default or chooses one."
  type        = string
  default     = null
}

variable "service_type" {
  description = "How the API server is exposed: LoadBalancer, NodePort or ClusterIP."
  type        = string
  default     = "LoadBalancer"
}

variable "addons" {
  description = "Add-ons of the tenant. Each one is enabled by the presence of its object."
  type        = any
  default     = { coreDNS = {}, kubeProxy = {} }
}

variable "deployment" {
  description = "Further fields of spec.controlPlane.deployment."
  type        = any
  default     = {}
}

variable "service" {
  description = "Further fields of spec.controlPlane.service."
  type        = any
  default     = {}
}

variable "network_profile" {
  description = "Fields of spec.networkProfile, such as podCidr or certSANs."
  type        = any
  default     = {}
}

variable "labels" {
  description = "Labels of the TenantControlPlane."
  type        = map(string)
  default     = {}
}

variable "timeout" {
  description = "How long to wait until the control plane is as the spec says, or gone."
  type        = string
  default     = "15m"
}
