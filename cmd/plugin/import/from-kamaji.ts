import type { Manifest } from '../../../api/meta.ts';
import { annotations } from '../../../api/names.ts';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { heldByImport } from './held.ts';
import type { KamajiControlPlane, KamajiDataStore } from './kamaji-kinds.ts';
import { asSteward, kamajiDomain, kamajiNames } from './kamaji-names.ts';
import { pinnedAddress } from './pinned-address.ts';

type Texts = Readonly<Record<string, string>>;

/** Annotations that say something about the object of Kamaji only. */
const ofThatObject: ReadonlySet<string> = new Set([
  kamajiNames.paused,
  `${kamajiDomain}/soot`,
  annotations.importRecord,
  'kubectl.kubernetes.io/last-applied-configuration',
]);

function renamed(texts: Texts = {}): Texts {
  const kept = Object.entries(texts).filter(([key]) => !ofThatObject.has(key));
  return Object.fromEntries(kept.map(([key, value]) => [asSteward(key), value]));
}

/** Fields with the names of the data. */
const namesOfData: ReadonlySet<string> = new Set(['dataStoreSchema', 'dataStoreUsername']);

const apiVersion = `${tenantControlPlane.group}/${tenantControlPlane.version}`;

/**
 * The TenantControlPlane that goes on with one of Kamaji, with its name and spec, held until it has everything. The names of its data are
 * not in the spec: the status records them, since those that Kamaji chooses may be none that an author may choose.
 */
export function controlPlaneFromKamaji(old: KamajiControlPlane, dataStoreName: string): Manifest {
  const { namespace, name, labels, annotations: noted } = old.metadata;
  const kept = Object.entries(old.spec).filter(([field]) => !namesOfData.has(field));
  const spec: KamajiControlPlane['spec'] = Object.fromEntries(kept);
  const address = pinnedAddress(spec, old.status?.controlPlaneEndpoint ?? '');
  const networkProfile = { ...spec.networkProfile, ...(address !== undefined && { address }) };
  return {
    apiVersion,
    kind: tenantControlPlane.kind,
    metadata: {
      namespace,
      name,
      labels: renamed(labels),
      annotations: { ...renamed(noted), [annotations.paused]: heldByImport },
    },
    spec: { ...spec, networkProfile, dataStore: dataStoreName },
  };
}

const ofCa = ['ca', 'frontProxyCA', 'sa'] as const;

/**
 * What the status of that TenantControlPlane has to record before it is reconciled: where the data is, that CAs and keys exist, so that
 * they are never generated again, the version, and the endpoint that workers know. The owner of the data is the object of Kamaji: a
 * second import after an undo finds the same one.
 */
export function statusFromKamaji(old: KamajiControlPlane, dataStoreName: string): Readonly<Record<string, unknown>> {
  const { storage = {}, certificates = {}, kubernetesResources, addons, controlPlaneEndpoint } = old.status ?? {};
  const { driver, config, setup, certificate } = storage;
  const { version, status } = kubernetesResources?.version ?? {};
  return {
    storage: { driver, dataStoreName, owner: old.metadata.uid, config, setup, certificate },
    certificates: Object.fromEntries(
      ofCa.flatMap((name) => (certificates[name] === undefined ? [] : [[name, certificates[name]] as const])),
    ),
    kubernetesResources: { version: { version, status } },
    ...(addons !== undefined && { addons }),
    controlPlaneEndpoint,
  };
}

/** A DataStore of Steward for the servers of one of Kamaji: name, servers, credentials. The Secrets stay where they are. */
export function dataStoreFromKamaji(old: KamajiDataStore): Manifest {
  return {
    apiVersion: `${dataStore.group}/${dataStore.version}`,
    kind: dataStore.kind,
    metadata: { name: old.metadata.name, labels: renamed(old.metadata.labels) },
    spec: old.spec,
  };
}
