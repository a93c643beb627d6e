{{- /* Made by `npm run gen`; do not edit. */}}

{{- define "steward.webhooks.mutating.tenantControlPlanes" }}
- name: mtenantcontrolplane.kb.io
  admissionReviewVersions:
  - v1
  sideEffects: None
  failurePolicy: Fail
  timeoutSeconds: 10
  matchConditions:
  - name: spec-changes
    expression: request.operation != 'UPDATE' || object.spec != oldObject.spec
  rules:
  - apiGroups:
    - steward.butlerlabs.dev
    apiVersions:
    - v1alpha1
    operations:
    - CREATE
    - UPDATE
    resources:
    - tenantcontrolplanes
  clientConfig:
    service:
      name: '{{ include "steward.webhookServiceName" . }}'
      namespace: "{{ .Release.Namespace }}"
      path: /mutate-steward-butlerlabs-dev-v1alpha1-tenantcontrolplane
{{- end }}

{{- define "steward.webhooks.validating.tenantControlPlanes" }}
- name: vtenantcontrolplane.kb.io
  admissionReviewVersions:
  - v1
  sideEffects: None
  failurePolicy: Fail
  timeoutSeconds: 10
  matchConditions:
  - name: spec-changes
    expression: request.operation != 'UPDATE' || object.spec != oldObject.spec
  rules:
  - apiGroups:
    - steward.butlerlabs.dev
    apiVersions:
    - v1alpha1
    operations:
    - CREATE
    - UPDATE
    - DELETE
    resources:
    - tenantcontrolplanes
  clientConfig:
    service:
      name: '{{ include "steward.webhookServiceName" . }}'
      namespace: "{{ .Release.Namespace }}"
      path: /validate-steward-butlerlabs-dev-v1alpha1-tenantcontrolplane
- name: vcontrolplanepool.kb.io
  admissionReviewVersions:
  - v1
  sideEffects: None
  failurePolicy: Fail
  timeoutSeconds: 10
  matchConditions:
  - name: spec-changes
    expression: request.operation != 'UPDATE' || object.spec != oldObject.spec
  rules:
  - apiGroups:
    - steward.butlerlabs.dev
    apiVersions:
    - v1alpha1
    operations:
    - CREATE
    - UPDATE
    resources:
    - controlplanepools
  clientConfig:
    service:
      name: '{{ include "steward.webhookServiceName" . }}'
      namespace: "{{ .Release.Namespace }}"
      path: /validate-steward-butlerlabs-dev-v1alpha1-controlplanepool
- name: vcontrolplaneclaim.kb.io
  admissionReviewVersions:
  - v1
  sideEffects: None
  failurePolicy: Fail
  timeoutSeconds: 10
  rules:
  - apiGroups:
    - steward.butlerlabs.dev
    apiVersions:
    - v1alpha1
    operations:
    - CREATE
    resources:
    - controlplaneclaims
  clientConfig:
    service:
      name: '{{ include "steward.webhookServiceName" . }}'
      namespace: "{{ .Release.Namespace }}"
      path: /validate-steward-butlerlabs-dev-v1alpha1-controlplaneclaim
- name: vdatastore.kb.io
  admissionReviewVersions:
  - v1
  sideEffects: None
  failurePolicy: Fail
  timeoutSeconds: 10
  rules:
  - apiGroups:
    - steward.butlerlabs.dev
    apiVersions:
    - v1alpha1
    operations:
    - CREATE
    - UPDATE
    - DELETE
    resources:
    - datastores
  clientConfig:
    service:
      name: '{{ include "steward.webhookServiceName" . }}'
      namespace: "{{ .Release.Namespace }}"
      path: /validate-steward-butlerlabs-dev-v1alpha1-datastore
- name: vdatastoresecrets.kb.io
  admissionReviewVersions:
  - v1
  sideEffects: None
  failurePolicy: Ignore
  timeoutSeconds: 5
  objectSelector:
    matchExpressions:
    - key: steward.butlerlabs.dev/datastore-credentials
      operator: Exists
  rules:
  - apiGroups:
    - ""
    apiVersions:
    - v1
    operations:
    - DELETE
    resources:
    - secrets
  clientConfig:
    service:
      name: '{{ include "steward.webhookServiceName" . }}'
      namespace: "{{ .Release.Namespace }}"
      path: /validate--v1-secret
- name: vdatastoreservers.kb.io
  admissionReviewVersions:
  - v1
  sideEffects: None
  failurePolicy: Fail
  timeoutSeconds: 10
  objectSelector:
    matchExpressions:
    - key: steward.butlerlabs.dev/datastore
      operator: Exists
  matchConditions:
  - name: images-change
    expression: object.spec.template.spec.containers.map(c, c.image) != oldObject.spec.template.spec.containers.map(c, c.image)
  rules:
  - apiGroups:
    - apps
    apiVersions:
    - v1
    operations:
    - UPDATE
    resources:
    - statefulsets
  clientConfig:
    service:
      name: '{{ include "steward.webhookServiceName" . }}'
      namespace: "{{ .Release.Namespace }}"
      path: /validate-apps-v1-statefulset
{{- end }}

{{- define "steward.webhooks.validating.clusterApi" }}
- name: vstewardcontrolplane.controlplane.cluster.x-k8s.io
  admissionReviewVersions:
  - v1
  sideEffects: None
  failurePolicy: Fail
  timeoutSeconds: 10
  matchConditions:
  - name: spec-changes
    expression: request.operation != 'UPDATE' || object.spec != oldObject.spec
  rules:
  - apiGroups:
    - controlplane.cluster.x-k8s.io
    apiVersions:
    - v1alpha1
    - v1alpha2
    operations:
    - CREATE
    - UPDATE
    resources:
    - stewardcontrolplanes
  clientConfig:
    service:
      name: '{{ include "steward.webhookServiceName" . }}'
      namespace: "{{ .Release.Namespace }}"
      path: /validate-controlplane-cluster-x-k8s-io-stewardcontrolplane
- name: vstewardcontrolplanetemplate.controlplane.cluster.x-k8s.io
  admissionReviewVersions:
  - v1
  sideEffects: None
  failurePolicy: Fail
  timeoutSeconds: 10
  rules:
  - apiGroups:
    - controlplane.cluster.x-k8s.io
    apiVersions:
    - v1alpha1
    - v1alpha2
    operations:
    - CREATE
    - UPDATE
    resources:
    - stewardcontrolplanetemplates
  clientConfig:
    service:
      name: '{{ include "steward.webhookServiceName" . }}'
      namespace: "{{ .Release.Namespace }}"
      path: /validate-controlplane-cluster-x-k8s-io-stewardcontrolplanetemplate
{{- end }}

{{- define "steward.webhooks.mutating.clusterStacks" }}
- name: mcluster.clusterstack.x-k8s.io
  admissionReviewVersions:
  - v1
  sideEffects: None
  failurePolicy: Ignore
  timeoutSeconds: 10
  matchConditions:
  - name: has-a-class
    expression: has(object.spec) && has(object.spec.topology)
  rules:
  - apiGroups:
    - cluster.x-k8s.io
    apiVersions:
    - v1beta2
    operations:
    - CREATE
    - UPDATE
    resources:
    - clusters
  clientConfig:
    service:
      name: '{{ include "steward.webhookServiceName" . }}'
      namespace: "{{ .Release.Namespace }}"
      path: /mutate-cluster-x-k8s-io-v1beta2-cluster
{{- end }}

{{- define "steward.webhooks.validating.clusterStacks" }}
- name: vcluster.clusterstack.x-k8s.io
  admissionReviewVersions:
  - v1
  sideEffects: None
  failurePolicy: Ignore
  timeoutSeconds: 10
  matchConditions:
  - name: has-a-class
    expression: has(object.spec) && has(object.spec.topology)
  rules:
  - apiGroups:
    - cluster.x-k8s.io
    apiVersions:
    - v1beta2
    operations:
    - CREATE
    - UPDATE
    resources:
    - clusters
  clientConfig:
    service:
      name: '{{ include "steward.webhookServiceName" . }}'
      namespace: "{{ .Release.Namespace }}"
      path: /validate-cluster-x-k8s-io-v1beta2-cluster
- name: vclusterstack.clusterstack.x-k8s.io
  admissionReviewVersions:
  - v1
  sideEffects: None
  failurePolicy: Fail
  timeoutSeconds: 10
  rules:
  - apiGroups:
    - clusterstack.x-k8s.io
    apiVersions:
    - v1alpha1
    operations:
    - DELETE
    resources:
    - clusterstacks
  clientConfig:
    service:
      name: '{{ include "steward.webhookServiceName" . }}'
      namespace: "{{ .Release.Namespace }}"
      path: /validate-clusterstack-x-k8s-io-v1alpha1-clusterstack
- name: vclusterstackrelease.clusterstack.x-k8s.io
  admissionReviewVersions:
  - v1
  sideEffects: None
  failurePolicy: Fail
  timeoutSeconds: 10
  rules:
  - apiGroups:
    - clusterstack.x-k8s.io
    apiVersions:
    - v1alpha1
    operations:
    - DELETE
    resources:
    - clusterstackreleases
  clientConfig:
    service:
      name: '{{ include "steward.webhookServiceName" . }}'
      namespace: "{{ .Release.Namespace }}"
      path: /validate-clusterstack-x-k8s-io-v1alpha1-clusterstackrelease
- name: vclusteraddon.clusterstack.x-k8s.io
  admissionReviewVersions:
  - v1
  sideEffects: None
  failurePolicy: Fail
  timeoutSeconds: 10
  rules:
  - apiGroups:
    - clusterstack.x-k8s.io
    apiVersions:
    - v1alpha1
    operations:
    - CREATE
    - UPDATE
    resources:
    - clusteraddons
  clientConfig:
    service:
      name: '{{ include "steward.webhookServiceName" . }}'
      namespace: "{{ .Release.Namespace }}"
      path: /validate-clusterstack-x-k8s-io-v1alpha1-clusteraddon
{{- end }}
