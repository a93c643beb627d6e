import { stewardGroup } from '../../names.ts';
import { conditionList } from '../../embedded/condition-list.ts';
import { dataStoreEtcd, dataStoreEtcdRules, dataStoreEtcdStatus } from './data-store-etcd.ts';
import type { CelRule, Infer, Input, Kind, ObjectOf } from '../../schema.ts';
import { bool, bytes, described, int32, int64, list, obj, oneOf, opt, quantity, ruled, str } from '../../schema.ts';
import { allowedNamespaces } from './allowed-namespaces.ts';
import { dataStoreDrain, dataStoreDrainStatus } from './data-store-drain.ts';
import { dataStoreIsolationStatus } from './data-store-isolation.ts';
import { dataStorePlacement } from './data-store-placement.ts';

const contentRef = obj({
  content: opt(described(bytes(), 'Inline content, base64-encoded. Takes precedence over `secretReference`.')),
  secretReference: opt(
    described(
      obj({
        name: opt(described(str(), 'Name of the Secret.')),
        namespace: opt(described(str(), 'Namespace of the Secret.')),
        keyPath: described(str({ minLength: 1 }), 'Key in the data of the Secret.'),
      }),
      'Secret that contains the content.',
    ),
  ),
});
/** Bytes, inline or from a Secret. */
export type ContentRef = Infer<typeof contentRef>;

const tlsConfig = obj({
  certificateAuthority: described(
    obj({
      certificate: described(contentRef, 'Certificate of the CA, in PEM form.'),
      privateKey: opt(
        described(contentRef, 'Key that signs the client certificates of tenants. Required for driver etcd.'),
      ),
    }),
    'CA that verifies the certificates of the servers.',
  ),
  clientCertificate: opt(
    described(
      obj({
        certificate: described(contentRef, 'Client certificate, in PEM form.'),
        privateKey: described(contentRef, 'Key of the client certificate, in PEM form.'),
      }),
      'Client certificate of the manager. Required for driver etcd.',
    ),
  ),
});

const natsAccounts = obj({
  operatorKey: described(
    contentRef,
    'Seed (`SO…`) of the NATS operator that the servers trust, or of one of its signing keys. Signs the accounts of tenants.',
  ),
  systemCredentials: described(
    contentRef,
    'Credentials file of a user of the system account. Used to push the accounts to the servers.',
  ),
  replicas: opt(
    described(int32({ minimum: 1, maximum: 5 }), 'Number of servers that store a copy of the data of each tenant.'),
    1,
  ),
  storagePerTenant: opt(
    described(
      quantity(),
      'Storage limit of each tenant on each of these servers. A standalone server reserves this much for every tenant.',
    ),
    '1Gi',
  ),
});

const given = (path: string): string => `(has(${path}.secretReference) || has(${path}.content))`;
const authority = 'self.tlsConfig.certificateAuthority';
const client = 'self.tlsConfig.clientCertificate';

/** Checks every parent before its fields, so that an absent parent yields the message and not an evaluation error. */
const etcdNeeds = (parent: string, field: string, message: string): CelRule => ({
  rule: `(self.driver == "etcd") ? (has(self.tlsConfig) && has(${parent}) && has(${parent}.${field}) && ${given(`${parent}.${field}`)}) : true`,
  message,
});

// The messages of rules that the Go Steward has, too, are its own: its users' tools may match them.
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
  {
    rule: 'has(self.nats) ? self.driver == "NATS" : true',
    message: 'nats is supported only with driver NATS: remove nats',
  },
  {
    rule: '!(has(self.nats) && has(self.basicAuth))',
    message:
      'nats and basicAuth are mutually exclusive: servers with an operator accept no passwords; remove basicAuth',
  },
  {
    rule: `has(self.nats) ? (${given('self.nats.operatorKey')}) : true`,
    message: 'nats.operatorKey is empty: set its secretReference or content',
  },
  {
    rule: `has(self.nats) ? (${given('self.nats.systemCredentials')}) : true`,
    message: 'nats.systemCredentials is empty: set its secretReference or content',
  },
  {
    rule: 'has(self.nats) == has(oldSelf.nats)',
    message: 'nats cannot be added or removed: the data of tenants would be left behind; create another DataStore',
  },
  ...dataStoreEtcdRules,
];

const dataStoreSpec = obj(
  {
    driver: described(
      ruled(oneOf('etcd', 'MySQL', 'PostgreSQL', 'NATS'), {
        rule: 'self == oldSelf',
        message: 'Datastore driver is immutable',
      }),
      'Kind of the datastore. etcd needs `tlsConfig`; MySQL and PostgreSQL need `basicAuth`, `tlsConfig` or both; NATS needs `nats`, `basicAuth` or `tlsConfig`.',
    ),
    endpoints: described(list(str(), { minItems: 1 }), 'Servers as `host:port`, without a scheme.'),
    basicAuth: opt(
      described(
        obj({
          username: described(contentRef, 'Name of the user.'),
          password: described(contentRef, 'Password of the user.'),
        }),
        'Administrative user of the datastore. For drivers MySQL, PostgreSQL and NATS.',
      ),
    ),
    tlsConfig: opt(described(tlsConfig, 'TLS settings for connections to the datastore. Required for driver etcd.')),
    nats: opt(
      described(
        natsAccounts,
        'Gives each tenant its own account on NATS servers with a JWT resolver. Without it, a NATS DataStore serves a single tenant.',
      ),
    ),
    etcd: opt(described(dataStoreEtcd, 'Maintenance of the members of an etcd cluster.')),
    allowedNamespaces: opt(
      described(
        allowedNamespaces,
        'Namespaces whose tenants may use the DataStore. If unset, the tenants of all namespaces may. Tenants whose data is already here stay.',
      ),
    ),
    isolationPolicy: opt(
      described(
        oneOf('Enforce', 'Report'),
        'What the condition IsolationVerified means for new tenants. With Enforce, the default, new tenants wait while the DataStore has not been verified, or while a breach is known. With Report, the condition is only reported.',
      ),
    ),
    placement: opt(
      described(dataStorePlacement, 'Which tenants that name no DataStore are placed here, and how many.'),
    ),
    drain: opt(
      described(
        dataStoreDrain,
        'Migrates the tenants to other DataStores, one after the other, while they are in use. No tenant is placed here meanwhile.',
      ),
    ),
  },
  ...rules,
);
export type DataStoreSpec = Infer<typeof dataStoreSpec>;
export type DataStoreSpecInput = Input<typeof dataStoreSpec>;

const dataStoreStatus = obj({
  observedGeneration: opt(described(int64(), 'Generation of the spec that this status describes.')),
  conditions: opt(conditionList()),
  ready: opt(described(bool(), 'Whether the datastore can be used.')),
  serverVersion: opt(described(str(), 'Version that the datastore reports.')),
  isolation: opt(
    described(
      dataStoreIsolationStatus,
      'Last verification that the datastore isolates tenants. Unset before the first one.',
    ),
  ),
  etcd: opt(described(dataStoreEtcdStatus, 'What only an etcd cluster reports.')),
  usedBy: opt(
    described(
      list(str()),
      'TenantControlPlanes whose data is here or is about to be, as `namespace/name`, sorted alphabetically.',
    ),
  ),
  tenants: opt(described(int32(), 'Number of TenantControlPlanes in `usedBy`.')),
  availableTenants: opt(
    described(
      int32(),
      'Number of tenants that can still be placed here. Unset if `spec.placement.capacity.tenants` is unset.',
    ),
  ),
  drain: opt(described(dataStoreDrainStatus, 'Progress of a drain. Unset if `spec.drain` is unset.')),
  sizeBytes: opt(
    described(int64(), 'Number of bytes stored, if the datastore reports it. Not updated for small changes.'),
  ),
});
export type DataStoreStatus = Infer<typeof dataStoreStatus>;

/** A datastore: where the data of tenants is stored. */
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
  description: 'A datastore for the data of tenants: etcd, or a database behind kine.',
  spec: dataStoreSpec,
  status: dataStoreStatus,
  columns: [
    { name: 'Driver', type: 'string', jsonPath: '.spec.driver' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Version', type: 'string', jsonPath: '.status.serverVersion' },
    { name: 'Used', type: 'integer', jsonPath: '.status.tenants' },
    {
      name: 'Isolated',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="IsolationVerified")].status',
      priority: 1,
    },
    { name: 'Available', type: 'integer', jsonPath: '.status.availableTenants', priority: 1 },
    { name: 'Size', type: 'integer', jsonPath: '.status.sizeBytes', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};

export type DataStore = ObjectOf<typeof dataStore>;
