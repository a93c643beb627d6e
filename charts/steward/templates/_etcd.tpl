{{- /* Not empty where the quick-start etcd is wanted; the Go Steward's value counts too. */}}
{{- define "steward.etcd.enabled" -}}
{{- $go := index .Values "steward-etcd" }}
{{- $deploy := true }}
{{- if hasKey $go "deploy" }}{{ $deploy = $go.deploy }}{{ end }}
{{- if and .Values.etcd.enabled .Values.tenantControlPlanes.enabled $deploy }}true{{ end }}
{{- end }}

{{- define "steward.etcd.initialCluster" -}}
{{- $domain := printf "etcd.%s.svc.%s" .Release.Namespace .Values.etcd.clusterDomain }}
{{- range $member := until (int .Values.etcd.members) }}
{{- if $member }},{{ end }}etcd-{{ $member }}=https://etcd-{{ $member }}.{{ $domain }}:2380
{{- end }}
{{- end }}

{{- define "steward.etcd.memberLabels" -}}
app.kubernetes.io/name: etcd
app.kubernetes.io/component: member
{{- end }}

{{- define "steward.etcd.bootstrapLabels" -}}
app.kubernetes.io/name: etcd
app.kubernetes.io/component: bootstrap
{{- end }}

{{- define "steward.etcd.placement" -}}
imagePullSecrets:
  {{- toYaml .Values.imagePullSecrets | nindent 2 }}
nodeSelector:
  {{- toYaml .Values.etcd.nodeSelector | nindent 2 }}
tolerations:
  {{- toYaml .Values.etcd.tolerations | nindent 2 }}
priorityClassName: {{ .Values.etcd.priorityClassName | quote }}
{{- end }}

{{- /* The pod of the Job and of the CronJob; `args` are added to those that both have. */}}
{{- define "steward.etcd.bootstrapPod" -}}
metadata:
  labels:
    {{- include "steward.etcd.bootstrapLabels" .root | nindent 4 }}
spec:
  serviceAccountName: etcd-bootstrap
  enableServiceLinks: false
  restartPolicy: OnFailure
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    seccompProfile:
      type: RuntimeDefault
  {{- include "steward.etcd.placement" .root | nindent 2 }}
  containers:
    - name: bootstrap
      image: {{ include "steward.image" .root }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      command:
        - /manager
      args:
        - datastore-bootstrap
        - etcd
        - --namespace=$(POD_NAMESPACE)
        - --members=$(MEMBERS)
        - --cluster-domain={{ .root.Values.etcd.clusterDomain }}
        {{- range .args }}
        - {{ . }}
        {{- end }}
      env:
        - name: POD_NAMESPACE
          valueFrom:
            fieldRef:
              fieldPath: metadata.namespace
        - name: MEMBERS
          value: {{ .root.Values.etcd.members | quote }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop:
            - ALL
{{- end }}
