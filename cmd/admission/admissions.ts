import { kinds } from '../../api/core/kinds.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { validate } from '../../api/structural/validate.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { stewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { stewardControlPlaneTemplate } from '../../api/controlplane/steward-control-plane-template.ts';
import * as stores from '../../controllers/datastore/admission.ts';
import { secretsOf } from '../../controllers/datastore/secret-references.ts';
import { holdersOf } from '../../controllers/datastore/status.ts';
import * as controlPlanes from '../../controllers/stewardcontrolplane/admission.ts';
import { isForceDeleted } from '../../controllers/stewardcontrolplane/tenant/is-force-deleted.ts';
import * as tenants from '../../controllers/tenantcontrolplane/admission.ts';
import { defaultBoundaries } from '../../controllers/tenantcontrolplane/workload/boundaries.ts';
import type { BoundarySettings } from '../../controllers/tenantcontrolplane/workload/boundaries.ts';
import { validateDeletion } from '../../controllers/tenantcontrolplane/datastore/migration/validate-migration.ts';
import { ownNamespaceOnly } from '../../controllers/tenantcontrolplane/endpoint/reach/reach.ts';
import type { Reach } from '../../controllers/tenantcontrolplane/endpoint/reach/reach.ts';
import { tenantsWithData } from '../tenants-with-data.ts';
import { validateControlPlane } from './control-plane-admission.ts';
import { boundariesIn, judgeTenant } from './judge-tenant.ts';
import type { Judging } from './judge-tenant.ts';
import { poolAdmissions } from './pool-admissions.ts';
import { draftOf, objectOf, oldOf } from './reviewed-object.ts';
import { validateServersImage } from './servers-image.ts';
import { verdict, withWarnings } from './verdict.ts';
import type { AdmissionAnswer, AdmissionHandler, AdmissionRequest } from '../../runtime/admission/admission.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';

/** What the rules may read. */
export interface AdmissionContext {
  readonly cluster: Cluster;
  readonly defaultDataStore: string;
  /** The last minor of Kubernetes 1 that is hosted. */
  readonly newestMinor: number;
  /** The boundaries for authors; the strictest usual ones by default. */
  readonly boundaries?: BoundarySettings;
  /** Whether backups can be restored; true by default. */
  readonly backups?: boolean;
  /** How visible control planes may be outside their namespaces; as little as possible by default. */
  readonly reach?: Reach;
}

/** The admission rules by the path that the webhook configurations name. */
export function createAdmissions({
  cluster,
  defaultDataStore,
  newestMinor,
  boundaries = defaultBoundaries,
  reach = ownNamespaceOnly,
  backups = true,
}: AdmissionContext): Readonly<Record<string, AdmissionHandler>> {
  return {
    '/mutate-steward-butlerlabs-dev-v1alpha1-tenantcontrolplane': (request) => {
      const tcp = draftOf(tenantControlPlane, request);
      // The API server validates the schema after this webhook, so anything may come; it refuses what does not fit by field.
      if (validate(tenantControlPlane.spec.openapi, tcp.spec).length > 0) return { allowed: true };
      // What a new object states as its status is not validated, and is not kept.
      const status = request.operation === 'CREATE' ? undefined : tcp.status;
      const { spec } = tenants.withDefaults({ spec: tcp.spec, status }, { defaultDataStore });
      return { allowed: true, object: { ...tcp, spec } };
    },
    '/validate-steward-butlerlabs-dev-v1alpha1-tenantcontrolplane': (request, { signal }) =>
      request.operation === 'DELETE'
        ? tenantDeletion(cluster, request, signal)
        : tenantChange({ cluster, newestMinor, boundaries, reach }, request, signal),
    '/validate-steward-butlerlabs-dev-v1alpha1-datastore': (request, { signal }) =>
      request.operation === 'DELETE'
        ? dataStoreDeletion({ cluster, defaultDataStore }, request, signal)
        : dataStoreChange(cluster, request, signal),
    '/validate--v1-secret': async (request, { signal }) => {
      const { items } = await cluster.list(dataStore, { signal });
      const key = { namespace: request.namespace ?? '', name: request.name ?? '' };
      return verdict(stores.validateSecretDeletion(key, items));
    },
    '/validate-apps-v1-statefulset': async (request, { signal }) => {
      const set = objectOf(kinds.StatefulSet, request);
      const { old } = oldOf(kinds.StatefulSet, request);
      return old === undefined ? { allowed: true } : verdict(await validateServersImage({ set, old }, cluster, signal));
    },
    '/validate-controlplane-cluster-x-k8s-io-stewardcontrolplane': async (request, { signal }) => {
      const scp = objectOf(stewardControlPlane, request);
      const { old } = oldOf(stewardControlPlane, request);
      const ask = boundariesIn({ cluster, boundaries }, request.namespace ?? '', signal);
      const answer = verdict(await validateControlPlane({ scp, old, newestMinor, reach, backups, boundariesOf: ask }));
      return withWarnings(answer, () => controlPlanes.warningsAbout(scp));
    },
    '/validate-controlplane-cluster-x-k8s-io-stewardcontrolplanetemplate': (request, { signal }) =>
      templateChange({ cluster, newestMinor, boundaries, reach, backups }, request, signal),
    ...poolAdmissions({ cluster, newestMinor, boundaries, reach, defaultDataStore }),
  };
}

async function templateChange(
  { cluster, newestMinor, boundaries, reach, backups }: Judging & Pick<AdmissionContext, 'backups'>,
  request: AdmissionRequest,
  signal: AbortSignal,
): Promise<AdmissionAnswer> {
  const template = objectOf(stewardControlPlaneTemplate, request);
  if (template.metadata.deletionTimestamp !== undefined) return { allowed: true };
  const { old } = oldOf(stewardControlPlaneTemplate, request);
  const change = controlPlanes.validateTemplateChange({ template, old, dryRun: request.dryRun === true });
  const scp = controlPlanes.controlPlaneFrom(template);
  const before = old === undefined ? undefined : controlPlanes.controlPlaneFrom(old);
  const boundariesOf = boundariesIn({ cluster, boundaries }, request.namespace ?? '', signal);
  const specPath = 'spec.template.spec';
  const wrong = await validateControlPlane({ scp, old: before, newestMinor, reach, backups, boundariesOf, specPath });
  return verdict([...change, ...wrong]);
}

async function tenantChange(
  judging: Judging,
  request: AdmissionRequest,
  signal: AbortSignal,
): Promise<AdmissionAnswer> {
  const tcp = objectOf(tenantControlPlane, request);
  const change = { tcp, ...oldOf(tenantControlPlane, request), namespace: request.namespace ?? '' };
  const { errors, warnings } = await judgeTenant(judging, change, signal);
  return withWarnings(verdict(errors), () => warnings);
}

/** For the deletion of a collection, the API server calls the webhook for each object. */
async function tenantDeletion(
  cluster: Cluster,
  request: AdmissionRequest,
  signal: AbortSignal,
): Promise<AdmissionAnswer> {
  const { old } = oldOf(tenantControlPlane, request);
  if (old === undefined) return { allowed: true };
  const { group, kind: ownerKind } = stewardControlPlane;
  const reference = old.metadata.ownerReferences?.find(
    ({ kind, apiVersion }) => kind === ownerKind && apiVersion.startsWith(`${group}/`),
  );
  const { namespace } = old.metadata;
  const inForeground = request.options?.propagationPolicy === 'Foreground';
  // Objects that may always be deleted need no request: the other half of the manager may be disabled.
  const owner =
    reference === undefined || (isForceDeleted(old) && !inForeground)
      ? undefined
      : await cluster.get(stewardControlPlane, { namespace, name: reference.name }, { signal });
  return verdict([
    ...validateDeletion(old),
    ...controlPlanes.validateTenantDeletion(old, owner, { inForeground }),
    ...controlPlanes.validateExternalDeletion(old, request.userInfo?.username ?? ''),
  ]);
}

async function dataStoreChange(
  cluster: Cluster,
  request: AdmissionRequest,
  signal: AbortSignal,
): Promise<AdmissionAnswer> {
  const store = objectOf(dataStore, request);
  const named = secretsOf(store);
  const found = await Promise.all(named.map((key) => cluster.get(kinds.Secret, key, { signal })));
  const secrets = new Map(
    found.flatMap((secret) =>
      secret === undefined
        ? []
        : [[`${secret.metadata.namespace}/${secret.metadata.name}`, new Set(Object.keys(secret.data ?? {}))] as const],
    ),
  );
  const answer = verdict(stores.validate({ store, ...oldOf(dataStore, request), secrets }));
  return withWarnings(answer, () => stores.warningsAbout(store, secrets));
}

async function dataStoreDeletion(
  { cluster, defaultDataStore }: Pick<AdmissionContext, 'cluster' | 'defaultDataStore'>,
  request: AdmissionRequest,
  signal: AbortSignal,
): Promise<AdmissionAnswer> {
  const name = request.name ?? '';
  const holders = holdersOf(name, await tenantsWithData(cluster, signal), defaultDataStore);
  return verdict(stores.validateDeletion(name, holders));
}
