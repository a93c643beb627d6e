# Steward in a management cluster. Apply it before ../tenants: a plan of tenants needs the definitions.
variable "kubeconfig" {
  description = "Kubeconfig of the management cluster."
  type        = string
}

variable "values" {
  description = "Values of the chart steward."
  type        = any
  default     = {}
}

variable "wait" {
  description = "Whether to wait until the manager runs."
  type        = bool
  default     = true
}

provider "helm" {
  kubernetes = {
    config_path = var.kubeconfig
  }
}

module "steward" {
  source = "../../steward"
  charts = "${path.module}/../../../../charts"
  values = var.values
  wait   = var.wait
}
