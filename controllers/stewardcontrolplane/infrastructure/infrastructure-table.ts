/** What is known of one kind of infrastructure cluster besides the contract. */
export interface InfrastructureRow {
  /**
   * `fixedAddress`: the endpoint goes into the provider's own fields for an address. `preset`: its webhook refuses an object
   * without an endpoint, so one that is empty is never filled in. Otherwise `spec.controlPlaneEndpoint`, as the contract says.
   */
  readonly endpoint?: 'fixedAddress' | 'preset';
  /** API versions to which `endpoint` applies; all of them when absent. */
  readonly versions?: readonly string[];
  /** A field of the spec with which the provider serves at the endpoint itself: then nothing is written. */
  readonly servesItself?: readonly string[];
  /** What keeps the provider from making an endpoint of its own. */
  readonly setting?: string;
}

const managedBy = 'the annotation cluster.x-k8s.io/managed-by: steward';

/**
 * All that is not the same for every provider, by kind. A kind that is missing here has nothing special: its
 * `spec.controlPlaneEndpoint` is filled in while it is empty, and its provisioned flag set when it is annotated as managed
 * by others. The settings are those of the providers' documentation, linked in docs/how-to/infrastructure-providers.md.
 */
export const infrastructureTable: Readonly<Record<string, InfrastructureRow>> = {
  AWSCluster: { setting: 'spec.controlPlaneLoadBalancer.loadBalancerType: disabled' },
  AzureCluster: { setting: 'spec.controlPlaneEnabled: false' },
  // The in-memory backend plays an API server, and rewrites the Cluster's kubeconfig when it finds another endpoint.
  DevCluster: { setting: managedBy, servesItself: ['backend', 'inMemory'] },
  DockerCluster: { setting: managedBy },
  HetznerCluster: { setting: 'spec.controlPlaneLoadBalancer.enabled: false' },
  KubevirtCluster: { setting: managedBy },
  Metal3Cluster: { endpoint: 'preset', setting: 'spec.controlPlaneEndpoint, before it is created' },
  MetalStackCluster: { endpoint: 'preset', setting: 'spec.controlPlaneEndpoint, before it is created' },
  // From v1beta2 on the provider keeps an endpoint that it finds, and has no field of this name.
  OpenStackCluster: {
    endpoint: 'fixedAddress',
    versions: ['v1alpha6', 'v1alpha7', 'v1beta1'],
    setting: 'spec.apiServerLoadBalancer.enabled: false with spec.disableAPIServerFloatingIP: true',
  },
  PacketCluster: { setting: managedBy },
  ProxmoxCluster: { setting: 'spec.externalManagedControlPlane: true' },
};
