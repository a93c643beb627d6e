output "name" {
  description = "Name of the DataStore, once it is Ready."
  value       = kubernetes_manifest.datastore.manifest.metadata.name
}
