{{/* Not the name of the release: a cluster has only one, and pages name the same objects however Steward is installed. */}}
{{- define "steward.fullname" -}}
{{- .Values.fullnameOverride | default "steward" | trunc 44 | trimSuffix "-" }}
{{- end }}

{{- define "steward.managerName" -}}
{{- include "steward.fullname" . }}-controller-manager
{{- end }}

{{- define "steward.selectorLabels" -}}
app.kubernetes.io/name: steward
app.kubernetes.io/component: controller-manager
{{- end }}

{{- define "steward.labels" -}}
{{ include "steward.selectorLabels" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "steward.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (ternary "steward-controller-manager" "default" .Values.serviceAccount.create) }}
{{- end }}

{{- define "steward.managerSubject" }}
subjects:
  - kind: ServiceAccount
    name: {{ include "steward.serviceAccountName" . }}
    namespace: {{ .Release.Namespace }}
{{- end }}

{{- define "steward.webhookServiceName" -}}
{{- include "steward.fullname" . }}-webhook-service
{{- end }}

{{- define "steward.image" -}}
{{- .Values.image.repository }}
{{- if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default (printf "%s%s" .Chart.AppVersion (ternary "-helm" "" (default false (.Values.clusterStacks).enabled))) }}{{ end }}
{{- end }}

{{- define "steward.controllers" -}}
{{- if not (or .Values.tenantControlPlanes.enabled .Values.clusterApi.enabled) }}
{{- fail "tenantControlPlanes.enabled and clusterApi.enabled are both false: there is nothing to run" }}
{{- end }}
{{- if not .Values.clusterApi.enabled -}}
*,-stewardcontrolplane
{{- else if not .Values.tenantControlPlanes.enabled -}}
stewardcontrolplane{{ if (.Values.clusterStacks).enabled }},clusterstack,clusterstackrelease,clusteraddon,clusteraddon-cluster{{ end }}
{{- end }}
{{- end }}

{{/* The gates that are open, as the manager's flag takes them; empty when none is. */}}
{{- define "steward.featureGates" -}}
{{- $gates := list }}
{{- if .Values.featureGates.ExternalClusterReference }}
{{- $gates = append $gates "ExternalClusterReference=true" }}
{{- end }}
{{- if .Values.featureGates.ExternalClusterReferenceCrossNamespace }}
{{- $gates = append $gates "ExternalClusterReferenceCrossNamespace=true" }}
{{- end }}
{{- if (.Values.clusterStacks).enabled }}
{{- $gates = append $gates "ClusterStacks=true" }}
{{- end }}
{{- if .Values.featureGates.RuntimeSDK }}
{{- $gates = append $gates "RuntimeSDK=true" }}
{{- end }}
{{- if include "steward.backups.enabled" . }}
{{- $gates = append $gates "Backups=true" }}
{{- end }}
{{- join "," $gates }}
{{- end }}

{{/* Whether BackupPolicies, TenantBackups and TenantRestores are reconciled; empty if not. */}}
{{- define "steward.backups.enabled" -}}
{{- if and .Values.tenantControlPlanes.enabled (.Values.backups).enabled }}true{{ end }}
{{- end }}

{{/* Whether calls of control planes that sleep are held; empty if not. Releases of older charts have no such value. */}}
{{- define "steward.activator.enabled" -}}
{{- if and .Values.tenantControlPlanes.enabled (.Values.activator).enabled }}true{{ end }}
{{- end }}

{{- define "steward.activator.labels" -}}
app.kubernetes.io/name: steward
app.kubernetes.io/component: activator
{{- end }}
