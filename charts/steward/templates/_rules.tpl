{{- /* Made by `npm run gen`; do not edit. */}}

{{- define "steward.rules.manager.tenantControlPlanes" }}
- apiGroups:
  - ""
  resources:
  - configmaps
  - secrets
  verbs:
  - create
  - delete
  - get
  - list
  - patch
  - watch
- apiGroups:
  - ""
  resources:
  - namespaces
  verbs:
  - get
  - list
  - watch
- apiGroups:
  - ""
  resources:
  - nodes
  verbs:
  - list
- apiGroups:
  - ""
  resources:
  - pods
  verbs:
  - delete
  - list
- apiGroups:
  - ""
  resources:
  - services
  verbs:
  - create
  - get
  - list
  - patch
  - watch
- apiGroups:
  - apps
  resources:
  - deployments
  verbs:
  - create
  - delete
  - get
  - list
  - patch
  - watch
- apiGroups:
  - apps
  resources:
  - replicasets
  verbs:
  - list
- apiGroups:
  - autoscaling
  resources:
  - horizontalpodautoscalers
  verbs:
  - create
  - delete
  - get
  - list
  - patch
  - watch
- apiGroups:
  - discovery.k8s.io
  resources:
  - endpointslices
  verbs:
  - create
  - delete
  - get
  - list
  - patch
- apiGroups:
  - gateway.networking.k8s.io
  resources:
  - gateways
  verbs:
  - get
  - list
  - watch
- apiGroups:
  - gateway.networking.k8s.io
  resources:
  - tlsroutes
  verbs:
  - create
  - delete
  - get
  - list
  - patch
  - watch
- apiGroups:
  - monitoring.coreos.com
  resources:
  - podmonitors
  verbs:
  - create
  - delete
  - get
  - list
  - patch
  - watch
- apiGroups:
  - networking.k8s.io
  resources:
  - ingresses
  - networkpolicies
  verbs:
  - create
  - delete
  - get
  - list
  - patch
  - watch
- apiGroups:
  - policy
  resources:
  - poddisruptionbudgets
  verbs:
  - create
  - delete
  - get
  - list
  - patch
  - watch
- apiGroups:
  - steward.butlerlabs.dev
  resources:
  - backuppolicies
  - controlplaneclaims
  - controlplanepools
  - datastores
  - kubeconfiggenerators
  verbs:
  - get
  - list
  - patch
  - watch
- apiGroups:
  - steward.butlerlabs.dev
  resources:
  - backuppolicies/status
  - controlplaneclaims/status
  - controlplanepools/status
  - datastores/status
  - kubeconfiggenerators/status
  - retainedcontrolplanes/status
  - tenantbackups/status
  - tenantrestores/status
  verbs:
  - get
  - patch
- apiGroups:
  - steward.butlerlabs.dev
  resources:
  - controlplaneclaims/finalizers
  - controlplanepools/finalizers
  - tenantcontrolplanes/finalizers
  verbs:
  - update
- apiGroups:
  - steward.butlerlabs.dev
  resources:
  - retainedcontrolplanes
  - tenantbackups
  - tenantcontrolplanes
  - tenantrestores
  verbs:
  - create
  - delete
  - get
  - list
  - patch
  - watch
- apiGroups:
  - steward.butlerlabs.dev
  resources:
  - tenantcontrolplanes/status
  verbs:
  - patch
- apiGroups:
  - traefik.io
  resources:
  - ingressroutetcps
  verbs:
  - create
  - delete
  - get
  - list
  - patch
  - watch
{{- end }}

{{- define "steward.rules.manager.clusterApi" }}
- apiGroups:
  - ""
  resources:
  - namespaces
  verbs:
  - get
- apiGroups:
  - ""
  resources:
  - secrets
  verbs:
  - create
  - get
  - list
  - patch
  - watch
- apiGroups:
  - apiextensions.k8s.io
  resources:
  - customresourcedefinitions
  verbs:
  - get
  - list
  - watch
- apiGroups:
  - cluster.x-k8s.io
  resources:
  - clusters
  - machinepools
  - machines
  verbs:
  - get
  - list
  - watch
- apiGroups:
  - controlplane.cluster.x-k8s.io
  resources:
  - stewardcontrolplanes
  verbs:
  - get
  - list
  - patch
  - watch
- apiGroups:
  - controlplane.cluster.x-k8s.io
  resources:
  - stewardcontrolplanes/finalizers
  verbs:
  - update
- apiGroups:
  - controlplane.cluster.x-k8s.io
  resources:
  - stewardcontrolplanes/status
  verbs:
  - get
  - patch
- apiGroups:
  - steward.butlerlabs.dev
  resources:
  - retainedcontrolplanes
  verbs:
  - delete
  - get
  - list
  - patch
  - watch
- apiGroups:
  - steward.butlerlabs.dev
  resources:
  - tenantcontrolplanes
  - tenantrestores
  verbs:
  - create
  - delete
  - get
  - list
  - patch
  - watch
{{- end }}

{{- define "steward.rules.manager" }}
- apiGroups:
  - admissionregistration.k8s.io
  resources:
  - mutatingwebhookconfigurations
  - validatingwebhookconfigurations
  resourceNames:
  - steward-mutating-webhook-configuration
  - steward-validating-webhook-configuration
  verbs:
  - get
  - list
  - patch
  - watch
- apiGroups:
  - authentication.k8s.io
  resources:
  - tokenreviews
  verbs:
  - create
- apiGroups:
  - authorization.k8s.io
  resources:
  - subjectaccessreviews
  verbs:
  - create
- apiGroups:
  - controlplane.cluster.x-k8s.io
  resources:
  - stewardcontrolplanes
  verbs:
  - get
- apiGroups:
  - events.k8s.io
  resources:
  - events
  verbs:
  - create
  - patch
{{- end }}

{{- define "steward.rules.manager.namespace" }}
- apiGroups:
  - ""
  resources:
  - pods
  verbs:
  - get
  - list
- apiGroups:
  - apps
  resources:
  - deployments
  verbs:
  - create
  - delete
  - get
  - list
  - patch
  - watch
- apiGroups:
  - batch
  resources:
  - jobs
  verbs:
  - create
  - delete
  - get
  - list
  - patch
  - watch
- apiGroups:
  - discovery.k8s.io
  resources:
  - endpointslices
  verbs:
  - list
  - watch
{{- end }}

{{- define "steward.rules.migrate" }}
- apiGroups:
  - ""
  resources:
  - secrets
  verbs:
  - get
- apiGroups:
  - steward.butlerlabs.dev
  resources:
  - datastores
  - tenantcontrolplanes
  verbs:
  - get
{{- end }}

{{- define "steward.rules.migrate.namespace" }}
- apiGroups:
  - batch
  resources:
  - jobs
  verbs:
  - get
  - patch
{{- end }}

{{- define "steward.rules.activator" }}
- apiGroups:
  - discovery.k8s.io
  resources:
  - endpointslices
  verbs:
  - list
  - watch
{{- end }}

{{- define "steward.rules.activator.namespace" }}
- apiGroups:
  - ""
  resources:
  - configmaps
  resourceNames:
  - steward-activator-ports
  verbs:
  - get
  - list
  - watch
- apiGroups:
  - ""
  resources:
  - configmaps
  resourceNames:
  - steward-wake-requests
  verbs:
  - patch
{{- end }}

{{- define "steward.rules.clusterStacks" }}
- apiGroups:
  - ""
  resources:
  - secrets
  verbs:
  - get
- apiGroups:
  - addons.cluster.x-k8s.io
  resources:
  - clusterresourcesets
  verbs:
  - create
  - delete
  - get
  - list
  - patch
  - watch
- apiGroups:
  - admissionregistration.k8s.io
  resources:
  - mutatingwebhookconfigurations
  - validatingwebhookconfigurations
  resourceNames:
  - steward-clusterstacks-mutating-webhook-configuration
  - steward-clusterstacks-validating-webhook-configuration
  verbs:
  - get
  - list
  - patch
  - watch
- apiGroups:
  - apiextensions.k8s.io
  resources:
  - customresourcedefinitions
  verbs:
  - get
  - list
  - watch
- apiGroups:
  - bootstrap.cluster.x-k8s.io
  resources:
  - "*"
  verbs:
  - create
  - delete
  - get
  - list
  - patch
  - watch
- apiGroups:
  - cluster.x-k8s.io
  resources:
  - clusterclasses
  verbs:
  - create
  - delete
  - get
  - list
  - patch
  - watch
- apiGroups:
  - cluster.x-k8s.io
  resources:
  - clusters
  - machinedeployments
  verbs:
  - get
  - list
  - watch
- apiGroups:
  - cluster.x-k8s.io
  resources:
  - clusters/finalizers
  verbs:
  - update
- apiGroups:
  - clusterstack.x-k8s.io
  resources:
  - clusteraddons
  verbs:
  - create
  - get
  - list
  - patch
  - watch
- apiGroups:
  - clusterstack.x-k8s.io
  resources:
  - clusteraddons/finalizers
  - clusterstackreleases/finalizers
  verbs:
  - update
- apiGroups:
  - clusterstack.x-k8s.io
  resources:
  - clusteraddons/status
  verbs:
  - get
  - patch
- apiGroups:
  - clusterstack.x-k8s.io
  resources:
  - clusterstackreleases
  verbs:
  - create
  - delete
  - get
  - list
  - patch
  - watch
- apiGroups:
  - clusterstack.x-k8s.io
  resources:
  - clusterstackreleases/status
  - clusterstacks/status
  verbs:
  - patch
- apiGroups:
  - clusterstack.x-k8s.io
  resources:
  - clusterstacks
  verbs:
  - get
  - list
  - watch
- apiGroups:
  - controlplane.cluster.x-k8s.io
  resources:
  - "*"
  verbs:
  - create
  - delete
  - get
  - list
  - patch
  - watch
- apiGroups:
  - coordination.k8s.io
  resources:
  - leases
  resourceNames:
  - clusterstack.x-k8s.io
  verbs:
  - get
  - list
  - watch
- apiGroups:
  - infrastructure.cluster.x-k8s.io
  resources:
  - "*"
  verbs:
  - create
  - delete
  - get
  - list
  - patch
  - watch
- apiGroups:
  - infrastructure.clusterstack.x-k8s.io
  resources:
  - "*"
  verbs:
  - create
  - get
  - list
  - patch
  - watch
- nonResourceURLs:
  - /api/*
  - /apis/*
  verbs:
  - get
{{- end }}
