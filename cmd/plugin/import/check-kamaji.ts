import { kamajiNames } from './kamaji-names.ts';
import { isHeld } from './held.ts';
import { isBegun, isReleased } from './kamaji-facts.ts';
import type { KamajiFacts } from './kamaji-facts.ts';
import type { KamajiControlPlane } from './kamaji-kinds.ts';
import { recordOf } from './identity.ts';

/** States of a control plane that does nothing else at the moment. */
const restful: ReadonlySet<string> = new Set(['Ready', 'Sleeping']);

/** Why nothing can be taken over. Each sentence says what to do. */
export function problemsOfKamaji(facts: KamajiFacts): readonly string[] {
  const { old, namespace, name } = facts;
  if (old === undefined) return [];
  const its = `TenantControlPlane ${namespace}/${name} of Kamaji`;
  return [
    ...(isBegun(facts) ? [] : stateProblems(facts, old, its)),
    ...dataProblems(facts, old, its),
    ...nameProblems(facts, old),
  ];
}

function stateProblems(
  { identity, service, now }: KamajiFacts,
  old: KamajiControlPlane,
  its: string,
): readonly string[] {
  const { metadata, spec, status } = old;
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  const state = status?.kubernetesResources?.version?.status ?? 'Unknown';
  const limited = Object.entries(spec.writePermissions ?? {}).filter(([, isDenied]) => isDenied);
  return [
    ...(metadata.deletionTimestamp === undefined ? [] : [`${its} is being deleted`]),
    ...(owner === undefined
      ? []
      : [
          `${its} belongs to ${owner.kind} ${owner.name}, which would create it again: only control planes without Cluster API can be imported`,
        ]),
    ...(limited.length === 0
      ? []
      : [
          `${its} denies writes by a webhook that Kamaji serves: remove spec.writePermissions, wait until it is Ready, and set it again after the import`,
        ]),
    ...(restful.has(state) || limited.length > 0
      ? []
      : [`${its} has the status ${state}: wait until it is Ready, or repair it first`]),
    ...(service?.spec?.selector?.[kamajiNames.name] === old.metadata.name
      ? []
      : [`the Service ${old.metadata.name} does not lead to pods with the label ${kamajiNames.name}: repair it first`]),
    ...(recordOf(identity, now) === undefined
      ? [
          `endpoint, CA, service-account key or the names of the data of ${its} are not known: wait until its status has them`,
        ]
      : []),
  ];
}

function dataProblems({ oldStore, others }: KamajiFacts, old: KamajiControlPlane, its: string): readonly string[] {
  const { dataStoreName, setup } = old.status?.storage ?? {};
  const { dataStore: wanted, dataStoreOverrides = [] } = old.spec;
  const sharing = others.filter(({ status }) => {
    const storage = status?.storage;
    return storage?.dataStoreName === dataStoreName && storage?.setup?.schema === setup?.schema;
  });
  return [
    ...(oldStore === undefined ? [`there is no DataStore ${dataStoreName ?? ''} of Kamaji, which ${its} uses`] : []),
    ...(wanted === undefined || wanted === dataStoreName
      ? []
      : [`${its} is to be migrated to DataStore ${wanted}: let Kamaji finish that, or set spec.dataStore back`]),
    ...(dataStoreOverrides.length === 0
      ? []
      : [`${its} has spec.dataStoreOverrides, which cannot be imported: remove them first, if their data may be lost`]),
    ...sharing.map(
      ({ metadata }) =>
        `${its} shares its data (schema ${setup?.schema ?? ''}) with ${metadata.namespace}/${metadata.name}: both would write to it; separate them first`,
    ),
  ];
}

/** Something that stands where the import would put its objects. */
function nameProblems(facts: KamajiFacts, old: KamajiControlPlane): readonly string[] {
  const { ours, namespace, name } = facts;
  if (ours === undefined || isHeld(ours) || ours.status?.storage?.owner === old.metadata.uid) return [];
  const what = isReleased(facts) ? 'has data of its own' : 'was not made by an import';
  return [
    `TenantControlPlane ${namespace}/${name} of Steward exists already and ${what}: a control plane is imported under its name, so delete or rename that one`,
  ];
}

/** What a person should know before. */
export function warningsOfKamaji({ old, dependents }: KamajiFacts): readonly string[] {
  if (old === undefined) return [];
  const generated = dependents.filter(
    ({ object }) => object.metadata.labels?.['kamaji.clastix.io/managed-by'] !== undefined,
  );
  return generated.map(
    ({ object }) =>
      `Secret ${object.metadata.name} was made by a KubeconfigGenerator of Kamaji: it is kept, but nothing renews it; create a KubeconfigGenerator of Steward`,
  );
}
