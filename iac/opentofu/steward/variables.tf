variable "charts" {
  description = "Where the charts steward-crds and steward are: a folder, or an OCI registry such as oci://registry.example.com/team/charts."
  type        = string
}

variable "chart_version" {
  description = "Version of the charts in the registry. Leave it out for a folder."
  type        = string
  default     = null
}

variable "namespace" {
  description = "Namespace of the manager. It is created."
  type        = string
  default     = "steward-system"
}

variable "values" {
  description = "Values of the chart steward; charts/steward/README.md lists them."
  type        = any
  default     = {}
}

variable "crd_values" {
  description = "Values of the chart steward-crds."
  type        = any
  default     = {}
}

variable "wait" {
  description = "Whether to wait until the manager runs."
  type        = bool
  default     = true
}

variable "timeout_seconds" {
  description = "How long to wait for it."
  type        = number
  default     = 600
}
