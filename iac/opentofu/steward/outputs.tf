output "namespace" {
  description = "Namespace of the manager."
  value       = helm_release.steward.namespace
}
