import { stewardGroup } from '../../names.ts';
import { conditionList } from '../../embedded/condition-list.ts';
import type { CelRule, Infer, Input, Kind, ObjectOf } from '../../schema.ts';
import { bool, bytes, described, int32, int64, list, obj, oneOf, opt, quantity, ruled, str } from '../../schema.ts';
import { allowedNamespaces } from './allowed-namespaces.ts';
import { dataStorePlacement } from './data-store-placement.ts';

const contentRef = obj({
  content: opt(described(bytes(), 'The bytes themselves, base64; they win over the reference.')),
  secretReference: opt(
    obj({
      name: opt(str()),
      namespace: opt(str()),
      keyPath: described(str({ minLength: 1 }), 'Key in the data of the Secret.'),
    }),
  ),
});
/** Bytes, inline or from a Secret. */
export type ContentRef = Infer<typeof contentRef>;

const tlsConfig = obj({
  certificateAuthority: obj({
    certificate: contentRef,
    privateKey: opt(described(contentRef, "Signs the tenants' client certificates; required by etcd.")),
  }),
  clientCertificate: opt(
    described(
      obj({ certificate: contentRef, privateKey: contentRef }),
      'Credentials of the operator; required by etcd.',
    ),
  ),
});

const natsAccounts = obj({
  operatorKey: described(
    contentRef,
    "Seed (`SO…`) of the operator that the servers trust, or of one of its signing keys: signs the tenants' accounts.",
  ),
  systemCredentials: described(
    contentRef,
    'Credentials file of a user of the system account: hands the accounts to the servers.',
  ),
  replicas: opt(described(int32({ minimum: 1, maximum: 5 }), "Servers that keep a copy of each tenant's data."), 1),
  storagePerTenant: opt(
    described(
      quantity(),
      'What each tenant may store, on each of these servers. A server that stands alone sets it aside for every tenant.',
    ),
    '1Gi',
  ),
});

const given = (path: string): string => `(has(${path}.secretReference) || has(${path}.content))`;
const authority = 'self.tlsConfig.certificateAuthority';
const client = 'self.tlsConfig.clientCertificate';

/** Every parent is asked for before its fields are: an absent one gives the message, not an evaluation error. */
const etcdNeeds = (parent: string, field: string, message: string): CelRule => ({
  rule: `(self.driver == "etcd") ? (has(self.tlsConfig) && has(${parent}) && has(${parent}.${field}) && ${given(`${parent}.${field}`)}) : true`,
  message,
});

const rules: readonly CelRule[] = [
  etcdNeeds(
    authority,
    'privateKey',
    'certificateAuthority privateKey must have secretReference or content when driver is etcd',
  ),
  etcdNeeds(client, 'certificate', 'clientCertificate must have secretReference or content when driver is etcd'),
  etcdNeeds(
    client,
    'privateKey',
    'clientCertificate privateKey must have secretReference or content when driver is etcd',
  ),
  {
    rule: `(self.driver != "etcd" && has(self.tlsConfig) && has(${client})) ? (${given(`${client}.certificate`)}) : true`,
    message: 'When driver is not etcd and tlsConfig exists, clientCertificate must be null or contain valid content',
  },
  {
    rule: `(self.driver != "etcd" && has(self.basicAuth)) ? (${given('self.basicAuth.username')}) : true`,
    message: 'When driver is not etcd and basicAuth exists, username must have secretReference or content',
  },
  {
    rule: `(self.driver != "etcd" && has(self.basicAuth)) ? (${given('self.basicAuth.password')}) : true`,
    message: 'When driver is not etcd and basicAuth exists, password must have secretReference or content',
  },
  {
    rule: '(self.driver != "etcd") ? (has(self.tlsConfig) || has(self.basicAuth) || has(self.nats)) : true',
    message: 'When driver is not etcd, either tlsConfig or basicAuth must be provided',
  },
  { rule: 'has(self.nats) ? self.driver == "NATS" : true', message: 'nats is for driver NATS only' },
  {
    rule: '!(has(self.nats) && has(self.basicAuth))',
    message: 'nats takes the place of basicAuth: servers with an operator know no passwords',
  },
  {
    rule: `has(self.nats) ? (${given('self.nats.operatorKey')}) : true`,
    message: 'nats.operatorKey must have secretReference or content',
  },
  {
    rule: `has(self.nats) ? (${given('self.nats.systemCredentials')}) : true`,
    message: 'nats.systemCredentials must have secretReference or content',
  },
  {
    rule: 'has(self.nats) == has(oldSelf.nats)',
    message: "nats cannot be added or removed: the tenants' data would stay behind; create another DataStore",
  },
];

const dataStoreSpec = obj(
  {
    driver: described(
      ruled(oneOf('etcd', 'MySQL', 'PostgreSQL', 'NATS'), {
        rule: 'self == oldSelf',
        message: 'Datastore driver is immutable',
      }),
      'Protocol of the store.',
    ),
    endpoints: described(list(str(), { minItems: 1 }), 'Servers as `host:port`, without a scheme.'),
    basicAuth: opt(described(obj({ username: contentRef, password: contentRef }), 'Administrative user of the store.')),
    tlsConfig: opt(described(tlsConfig, 'TLS to the store; required by etcd.')),
    nats: opt(
      described(
        natsAccounts,
        'Gives each tenant an account of its own in NATS servers with a JWT resolver; without it a NATS DataStore serves one tenant.',
      ),
    ),
    allowedNamespaces: opt(
      described(
        allowedNamespaces,
        'Namespaces whose tenants the store takes, all when it is left out. Tenants whose data is here stay.',
      ),
    ),
    placement: opt(
      described(dataStorePlacement, 'Which tenants that name no DataStore are placed here, and how many.'),
    ),
  },
  ...rules,
);
export type DataStoreSpec = Infer<typeof dataStoreSpec>;
export type DataStoreSpecInput = Input<typeof dataStoreSpec>;

const dataStoreStatus = obj({
  observedGeneration: opt(described(int64(), 'Generation of the spec that this status describes.')),
  conditions: opt(conditionList()),
  ready: opt(described(bool(), 'True while the store can be used.')),
  serverVersion: opt(described(str(), 'Version that the store reports.')),
  usedBy: opt(
    described(
      list(str()),
      'TenantControlPlanes whose data is here or about to be, as `namespace/name`, in alphabetical order.',
    ),
  ),
  tenants: opt(described(int32(), 'How many TenantControlPlanes `usedBy` names.')),
  availableTenants: opt(
    described(int32(), 'How many more tenants are placed here; absent when `spec.placement.capacity.tenants` is.'),
  ),
  sizeBytes: opt(described(int64(), 'Bytes that the store holds, where it can tell; small changes are not followed.')),
});
export type DataStoreStatus = Infer<typeof dataStoreStatus>;

/** A place where the data of tenants is kept. */
export const dataStore: Kind<DataStoreSpec, DataStoreStatus, DataStoreSpecInput> = {
  group: stewardGroup,
  version: 'v1alpha1',
  kind: 'DataStore',
  plural: 'datastores',
  namespaced: false,
  singular: 'datastore',
  listKind: 'DataStoreList',
  shortNames: [],
  categories: [],
  versions: [{ name: 'v1alpha1', served: true, storage: true }],
  description: 'A place where the data of tenants is kept: etcd, or a database behind kine.',
  spec: dataStoreSpec,
  status: dataStoreStatus,
  columns: [
    { name: 'Driver', type: 'string', jsonPath: '.spec.driver' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Version', type: 'string', jsonPath: '.status.serverVersion' },
    { name: 'Used', type: 'integer', jsonPath: '.status.tenants' },
    { name: 'Available', type: 'integer', jsonPath: '.status.availableTenants', priority: 1 },
    { name: 'Size', type: 'integer', jsonPath: '.status.sizeBytes', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};

export type DataStore = ObjectOf<typeof dataStore>;
