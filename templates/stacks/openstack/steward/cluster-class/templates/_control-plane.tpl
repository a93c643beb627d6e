{{/* What every Cluster of this stack can choose of its control plane and add-ons. */}}
{{- define "steward.variables" -}}
- name: dataStoreName
  required: false
  schema:
    openAPIV3Schema:
      description: DataStore of the control plane.
      type: string
      minLength: 1
      default: default
- name: serviceType
  required: false
  schema:
    openAPIV3Schema:
      description: Type of the Service of the API server.
      type: string
      enum: [LoadBalancer, NodePort, ClusterIP]
      default: LoadBalancer
- name: serviceAddress
  required: false
  schema:
    openAPIV3Schema:
      description: Address of that Service; the load balancer chooses one when it is not set.
      type: string
      minLength: 1
- name: certSANs
  required: false
  schema:
    openAPIV3Schema:
      description: Further names and addresses of the API server's certificate.
      type: array
      default: []
      items:
        type: string
- name: dnsServiceIPs
  required: false
  schema:
    openAPIV3Schema:
      description: Addresses of the cluster's DNS; the tenth of the Service network when none is given.
      type: array
      default: []
      items:
        type: string
- name: imageRepository
  required: false
  schema:
    openAPIV3Schema:
      description: Registry of the control plane's images; registry.k8s.io when it is not set.
      type: string
      minLength: 1
- name: oidcConfig
  required: false
  schema:
    openAPIV3Schema:
      description: Users that an OpenID Connect provider knows.
      type: object
      required: [issuerURL, clientID]
      properties:
        issuerURL:
          description: Where its keys are, an https address.
          type: string
        clientID:
          description: The audience that its tokens have to name.
          type: string
        usernameClaim:
          type: string
          default: sub
        groupsClaim:
          type: string
          default: groups
- name: addons
  required: false
  schema:
    openAPIV3Schema:
      description: What is installed in the Cluster beside CoreDNS, kube-proxy and konnectivity.
      type: object
      default: {}
      properties:
        cni:
          description: The pod network; with none you install one yourself.
          type: string
          enum: [cilium, none]
          default: cilium
        metricsServer:
          description: Whether the metrics API is served.
          type: boolean
          default: true
- name: ciliumValues
  required: false
  schema:
    openAPIV3Schema:
      description: Values of Cilium's chart, over those of the stack.
      type: object
      default: {}
      x-kubernetes-preserve-unknown-fields: true
- name: metricsServerValues
  required: false
  schema:
    openAPIV3Schema:
      description: Values of metrics-server's chart, over those of the stack.
      type: object
      default: {}
      x-kubernetes-preserve-unknown-fields: true
{{- end }}

{{- define "steward.selector" -}}
selector:
  apiVersion: controlplane.cluster.x-k8s.io/v1alpha2
  kind: StewardControlPlaneTemplate
  matchResources:
    controlPlane: true
{{- end }}

{{/* Cluster API expands what stands in double quotes, not Helm. */}}
{{- define "steward.patches" -}}
- name: controlPlane
  definitions:
    - {{ include "steward.selector" . | nindent 6 | trim }}
      jsonPatches:
        - { op: add, path: /spec/template/spec/dataStoreName, valueFrom: { variable: dataStoreName } }
        - { op: replace, path: /spec/template/spec/network/serviceType, valueFrom: { variable: serviceType } }
        - { op: replace, path: /spec/template/spec/network/certSANs, valueFrom: { variable: certSANs } }
- name: serviceAddress
  enabledIf: {{ "{{ if .serviceAddress }}true{{ end }}" | quote }}
  definitions:
    - {{ include "steward.selector" . | nindent 6 | trim }}
      jsonPatches:
        - { op: add, path: /spec/template/spec/network/serviceAddress, valueFrom: { variable: serviceAddress } }
- name: dnsServiceIPs
  enabledIf: {{ "{{ if .dnsServiceIPs }}true{{ end }}" | quote }}
  definitions:
    - {{ include "steward.selector" . | nindent 6 | trim }}
      jsonPatches:
        - { op: add, path: /spec/template/spec/network/dnsServiceIPs, valueFrom: { variable: dnsServiceIPs } }
- name: imageRepository
  enabledIf: {{ "{{ if .imageRepository }}true{{ end }}" | quote }}
  definitions:
    - {{ include "steward.selector" . | nindent 6 | trim }}
      jsonPatches:
        - { op: add, path: /spec/template/spec/registry, valueFrom: { variable: imageRepository } }
- name: oidcConfig
  enabledIf: {{ "{{ if .oidcConfig }}true{{ end }}" | quote }}
  definitions:
    - {{ include "steward.selector" . | nindent 6 | trim }}
      jsonPatches:
        {{- range $flag, $field := dict "issuer-url" "issuerURL" "client-id" "clientID" "username-claim" "usernameClaim" "groups-claim" "groupsClaim" }}
        - op: add
          path: /spec/template/spec/apiServer/extraArgs/-
          valueFrom:
            template: {{ printf "--oidc-%s={{ .oidcConfig.%s }}" $flag $field | quote }}
        {{- end }}
{{- end }}
