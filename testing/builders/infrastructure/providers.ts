import type { Shape } from './shape.ts';

/** An infrastructure provider of Cluster API, as far as its documentation describes the kinds that a control plane meets. */
export interface InfrastructureProvider {
  /** As clusterctl calls it, and as `templates/` do. */
  readonly name: string;
  /** Where its fields are documented. */
  readonly docs: string;
  /** The API version, and the contract whose label names it. */
  readonly version: string;
  readonly contract: 'v1beta1' | 'v1beta2';
  /** Kind of its clusters; `Template` is appended for a ClusterClass. */
  readonly cluster: string;
  readonly clusterSpec: Shape;
  /** Fields that the template of a cluster lacks. */
  readonly notInTemplate?: readonly string[];
  /** Kind of its machines. */
  readonly machine: string;
  readonly machineSpec: Shape;
  /** A cluster as its users write it for a control plane that is hosted elsewhere: the rest of its object. */
  readonly example: { readonly annotations?: Readonly<Record<string, string>>; readonly spec: object };
}

/** As Cluster API's own type for v1beta1: both fields, empty while they are not known. */
const v1beta1Endpoint: Shape = { 'host!': 'text', 'port!': 'number' };
/** As its type for v1beta2: absent while it is not known. */
const v1beta2Endpoint: Shape = { host: 'word', port: 'port' };
const looseEndpoint: Shape = { host: 'text', port: 'number' };
const reference: Shape = { apiVersion: 'text', kind: 'text', name: 'text', namespace: 'text' };
const filtered: Shape = { id: 'text', filter: { name: 'text', tags: ['text'] } };
const named: Shape = { 'type!': 'text', name: 'text', uuid: 'text' };
const managed = { 'cluster.x-k8s.io/managed-by': 'steward' };

const openStackMachine: Shape = {
  flavor: 'word',
  'image!': filtered,
  sshKeyName: 'text',
  providerID: 'text',
  rootVolume: { 'sizeGiB!': 'number', type: 'text' },
};
const openStackIdentity: Shape = { 'name!': 'word', 'cloudName!': 'word', region: 'text' };
const openStackSubnets: Shape = [{ 'cidr!': 'text', dnsNameservers: ['text'] }];
const openStackGroups: Shape = { allowAllInClusterTraffic: 'flag' };

/** Written from the providers' documentation, field by field; what they do not need for these tests is left out. */
export const infrastructureProviders: readonly InfrastructureProvider[] = [
  {
    name: 'docker',
    docs: 'https://pkg.go.dev/sigs.k8s.io/cluster-api/test/infrastructure/docker/api/v1beta2#DevClusterSpec',
    version: 'v1beta2',
    contract: 'v1beta2',
    cluster: 'DevCluster',
    clusterSpec: {
      controlPlaneEndpoint: v1beta2Endpoint,
      'backend!': { docker: { loadBalancer: { imageRepository: 'text', imageTag: 'text' } }, inMemory: {} },
    },
    machine: 'DevMachine',
    machineSpec: {
      providerID: 'text',
      'backend!': { docker: { customImage: 'text', preLoadImages: ['text'] }, inMemory: 'anything' },
    },
    example: { annotations: managed, spec: { backend: { docker: {} } } },
  },
  {
    name: 'docker-kinds',
    docs: 'https://pkg.go.dev/sigs.k8s.io/cluster-api/test/infrastructure/docker/api/v1beta2#DockerClusterSpec',
    version: 'v1beta2',
    contract: 'v1beta2',
    cluster: 'DockerCluster',
    clusterSpec: {
      controlPlaneEndpoint: v1beta2Endpoint,
      loadBalancer: { imageRepository: 'text', imageTag: 'text' },
    },
    machine: 'DockerMachine',
    machineSpec: { providerID: 'text', customImage: 'text' },
    example: { annotations: managed, spec: {} },
  },
  {
    name: 'openstack',
    docs: 'https://cluster-api-openstack.sigs.k8s.io/api/v1beta1/api',
    version: 'v1beta1',
    contract: 'v1beta1',
    cluster: 'OpenStackCluster',
    clusterSpec: {
      controlPlaneEndpoint: looseEndpoint,
      'identityRef!': openStackIdentity,
      managedSubnets: openStackSubnets,
      managedSecurityGroups: openStackGroups,
      externalNetwork: filtered,
      apiServerLoadBalancer: { 'enabled!': 'flag' },
      apiServerFixedIP: 'text',
      apiServerFloatingIP: 'text',
      apiServerPort: 'number',
      disableAPIServerFloatingIP: 'flag',
      disableExternalNetwork: 'flag',
    },
    machine: 'OpenStackMachine',
    machineSpec: openStackMachine,
    example: {
      spec: {
        identityRef: { name: 'cloud-config', cloudName: 'openstack' },
        apiServerLoadBalancer: { enabled: false },
        disableAPIServerFloatingIP: true,
      },
    },
  },
  {
    name: 'kubevirt',
    docs: 'https://pkg.go.dev/sigs.k8s.io/cluster-api-provider-kubevirt/api/v1alpha1#KubevirtClusterSpec',
    version: 'v1alpha1',
    contract: 'v1beta1',
    cluster: 'KubevirtCluster',
    clusterSpec: {
      controlPlaneEndpoint: v1beta1Endpoint,
      controlPlaneServiceTemplate: { metadata: 'anything', spec: 'anything' },
      infraClusterSecretRef: reference,
    },
    machine: 'KubevirtMachine',
    machineSpec: {
      providerID: 'text',
      infraClusterSecretRef: reference,
      virtualMachineBootstrapCheck: { checkStrategy: 'text' },
      virtualMachineTemplate: { metadata: 'anything', spec: 'anything' },
    },
    example: { annotations: managed, spec: {} },
  },
  {
    name: 'vsphere',
    docs: 'https://pkg.go.dev/sigs.k8s.io/cluster-api-provider-vsphere/api/govmomi/v1beta2#VSphereClusterSpec',
    version: 'v1beta2',
    contract: 'v1beta2',
    cluster: 'VSphereCluster',
    clusterSpec: {
      controlPlaneEndpoint: v1beta2Endpoint,
      identityRef: { 'kind!': 'word', 'name!': 'word' },
      'server!': 'word',
      thumbprint: 'word',
      disableClusterModule: 'flag',
    },
    machine: 'VSphereMachine',
    machineSpec: {
      providerID: 'text',
      cloneMode: 'text',
      datacenter: 'word',
      datastore: 'word',
      diskGiB: 'number',
      folder: 'word',
      memoryMiB: 'number',
      numCPUs: 'number',
      'network!': { 'devices!': [{ dhcp4: 'flag', 'networkName!': 'word' }] },
      os: 'word',
      powerOffMode: 'text',
      resourcePool: 'word',
      server: 'word',
      'template!': 'word',
      thumbprint: 'word',
    },
    example: { spec: { server: 'vcenter.example.com' } },
  },
  {
    name: 'aws',
    docs: 'https://cluster-api-aws.sigs.k8s.io/crd/',
    version: 'v1beta2',
    contract: 'v1beta1',
    cluster: 'AWSCluster',
    clusterSpec: {
      controlPlaneEndpoint: v1beta1Endpoint,
      controlPlaneLoadBalancer: { loadBalancerType: 'text', scheme: 'text' },
      network: 'anything',
      region: 'text',
      sshKeyName: 'text',
    },
    machine: 'AWSMachine',
    machineSpec: {
      providerID: 'text',
      ami: { id: 'text' },
      'instanceType!': 'word',
      iamInstanceProfile: 'text',
      sshKeyName: 'text',
    },
    example: { spec: { region: 'eu-central-1', controlPlaneLoadBalancer: { loadBalancerType: 'disabled' } } },
  },
  {
    name: 'azure',
    docs: 'https://pkg.go.dev/sigs.k8s.io/cluster-api-provider-azure/api/v1beta1#AzureClusterSpec',
    version: 'v1beta1',
    contract: 'v1beta1',
    cluster: 'AzureCluster',
    clusterSpec: {
      controlPlaneEndpoint: v1beta1Endpoint,
      controlPlaneEnabled: 'flag',
      identityRef: reference,
      'location!': 'text',
      networkSpec: {
        apiServerLB: { type: 'text' },
        nodeOutboundLB: { frontendIPsCount: 'number' },
        subnets: [{ 'name!': 'text', 'role!': 'text' }],
        vnet: 'anything',
      },
      resourceGroup: 'text',
      subscriptionID: 'text',
    },
    notInTemplate: ['controlPlaneEndpoint', 'controlPlaneEnabled', 'resourceGroup'],
    machine: 'AzureMachine',
    machineSpec: {
      providerID: 'text',
      'osDisk!': { 'osType!': 'text', diskSizeGB: 'number' },
      sshPublicKey: 'text',
      'vmSize!': 'text',
    },
    example: { spec: { location: 'westeurope', controlPlaneEnabled: false } },
  },
  {
    name: 'proxmox',
    docs: 'https://pkg.go.dev/github.com/ionos-cloud/cluster-api-provider-proxmox/api/v1alpha2#ProxmoxClusterSpec',
    version: 'v1alpha2',
    contract: 'v1beta2',
    cluster: 'ProxmoxCluster',
    clusterSpec: {
      controlPlaneEndpoint: v1beta2Endpoint,
      credentialsRef: { name: 'text', namespace: 'text' },
      'dnsServers!': ['text'],
      externalManagedControlPlane: 'flag',
      ipv4Config: { 'addresses!': ['text'], 'gateway!': 'word', 'prefix!': 'number' },
    },
    machine: 'ProxmoxMachine',
    machineSpec: {
      providerID: 'text',
      disks: { bootVolume: { 'disk!': 'text', 'sizeGb!': 'number' } },
      format: 'text',
      full: 'flag',
      memoryMiB: 'number',
      'network!': { 'networkDevices!': [{ name: 'text', bridge: 'word', model: 'text' }] },
      numCores: 'number',
      numSockets: 'number',
      sourceNode: 'word',
      templateID: 'number',
    },
    example: { spec: { dnsServers: ['9.9.9.9'], externalManagedControlPlane: true } },
  },
  {
    name: 'hetzner',
    docs: 'https://syself.com/docs/caph/reference/v1beta1/hetznercluster',
    version: 'v1beta1',
    contract: 'v1beta1',
    cluster: 'HetznerCluster',
    clusterSpec: {
      controlPlaneEndpoint: looseEndpoint,
      controlPlaneLoadBalancer: { enabled: 'flag', region: 'text', type: 'text' },
      'controlPlaneRegions!': ['text'],
      hcloudNetwork: { 'enabled!': 'flag' },
      'hetznerSecretRef!': { 'name!': 'text', 'key!': { hcloudToken: 'text' } },
      'sshKeys!': { hcloud: [{ 'name!': 'word' }] },
    },
    machine: 'HCloudMachine',
    machineSpec: { providerID: 'text', imageName: 'word', placementGroupName: 'text', 'type!': 'text' },
    example: {
      spec: {
        controlPlaneLoadBalancer: { enabled: false },
        controlPlaneRegions: ['fsn1'],
        hetznerSecretRef: { name: 'hetzner', key: { hcloudToken: 'hcloud' } },
        sshKeys: { hcloud: [] },
      },
    },
  },
  {
    name: 'metal3',
    docs: 'https://book.metal3.io/capm3/introduction',
    version: 'v1beta2',
    contract: 'v1beta2',
    cluster: 'Metal3Cluster',
    clusterSpec: { controlPlaneEndpoint: v1beta2Endpoint, cloudProviderEnabled: 'flag' },
    machine: 'Metal3Machine',
    machineSpec: {
      providerID: 'text',
      dataTemplate: { name: 'word', namespace: 'word' },
      hostSelector: 'anything',
      image: { 'url!': 'word', checksum: 'text', checksumType: 'text', diskFormat: 'text' },
    },
    example: { spec: { controlPlaneEndpoint: { host: '203.0.113.9', port: 6443 } } },
  },
  {
    name: 'nutanix',
    docs: 'https://opendocs.nutanix.com/capx/latest/types/nutanix_cluster/',
    version: 'v1beta1',
    contract: 'v1beta1',
    cluster: 'NutanixCluster',
    clusterSpec: {
      controlPlaneEndpoint: v1beta1Endpoint,
      prismCentral: { 'address!': 'text', 'port!': 'number', credentialRef: 'anything' },
    },
    machine: 'NutanixMachine',
    machineSpec: {
      providerID: 'text',
      cluster: named,
      image: named,
      subnet: [named],
      'memorySize!': 'quantity',
      'systemDiskSize!': 'quantity',
      'vcpuSockets!': 'number',
      'vcpusPerSocket!': 'number',
    },
    example: { spec: { controlPlaneEndpoint: { host: '0.0.0.0', port: 0 } } },
  },
  {
    name: 'packet',
    docs: 'https://pkg.go.dev/sigs.k8s.io/cluster-api-provider-packet/api/v1beta1#PacketClusterSpec',
    version: 'v1beta1',
    contract: 'v1beta1',
    cluster: 'PacketCluster',
    clusterSpec: {
      controlPlaneEndpoint: v1beta1Endpoint,
      'projectID!': 'text',
      metro: 'text',
      vipManager: 'text',
    },
    machine: 'PacketMachine',
    machineSpec: { providerID: 'text', 'os!': 'text', billingCycle: 'text', 'machineType!': 'text' },
    example: { annotations: managed, spec: { projectID: 'p', metro: 'da' } },
  },
  {
    name: 'ionoscloud',
    docs: 'https://pkg.go.dev/github.com/ionos-cloud/cluster-api-provider-ionoscloud/api/v1alpha1#IonosCloudClusterSpec',
    version: 'v1alpha1',
    contract: 'v1beta1',
    cluster: 'IonosCloudCluster',
    clusterSpec: {
      controlPlaneEndpoint: v1beta1Endpoint,
      'location!': 'text',
      'credentialsRef!': { 'name!': 'text' },
    },
    machine: 'IonosCloudMachine',
    machineSpec: { providerID: 'text', 'datacenterID!': 'text', numCores: 'number', memoryMB: 'number' },
    example: { spec: { location: 'de/txl', credentialsRef: { name: 'ionos' } } },
  },
  {
    name: 'tinkerbell',
    docs: 'https://pkg.go.dev/github.com/tinkerbell/cluster-api-provider-tinkerbell/api/v1beta1#TinkerbellClusterSpec',
    version: 'v1beta1',
    contract: 'v1beta1',
    cluster: 'TinkerbellCluster',
    clusterSpec: { controlPlaneEndpoint: v1beta1Endpoint, imageLookupFormat: 'text' },
    machine: 'TinkerbellMachine',
    machineSpec: { providerID: 'text', hardwareName: 'text', hardwareAffinity: 'anything' },
    example: { spec: {} },
  },
];

/** OpenStack's next API version: other fields, and an endpoint as the contract says. Not beside the one above in one cluster. */
export const nextOpenStack: InfrastructureProvider = {
  name: 'openstack-next',
  docs: 'https://github.com/kubernetes-sigs/cluster-api-provider-openstack/blob/main/api/v1beta2/openstackcluster_types.go',
  version: 'v1beta2',
  contract: 'v1beta2',
  cluster: 'OpenStackCluster',
  clusterSpec: {
    controlPlaneEndpoint: v1beta2Endpoint,
    'identityRef!': openStackIdentity,
    managedSubnets: openStackSubnets,
    managedSecurityGroups: openStackGroups,
    apiServer: { enableFloatingIP: 'flag', fixedIP: 'text', managedLoadBalancer: { enabled: 'flag' }, port: 'number' },
  },
  machine: 'OpenStackMachine',
  machineSpec: openStackMachine,
  example: {
    spec: { identityRef: { name: 'cloud-config', cloudName: 'openstack' }, apiServer: { enableFloatingIP: false } },
  },
};
