variable "name" {
  description = "Name of the DataStore."
  type        = string
}

variable "spec" {
  description = "The spec of the DataStore: docs/reference/generated/data-store.md. Refer to Secrets for credentials: what is written inline is in the state."
  type        = any
}

variable "timeout" {
  description = "How long to wait until the DataStore is Ready, or gone."
  type        = string
  default     = "5m"
}
