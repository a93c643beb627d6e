import { controlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import { controlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import type { ControlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import * as claims from '../../controllers/controlplaneclaim/admission.ts';
import * as pools from '../../controllers/controlplanepool/admission.ts';
import * as tenants from '../../controllers/tenantcontrolplane/admission.ts';
import type { InvalidInput } from '../../kubeadm/invalid-input-error.ts';
import { isAllowed } from '../../runtime/admission/access-review.ts';
import type { AdmissionAnswer, AdmissionHandler, AdmissionRequest } from '../../runtime/admission/admission.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { judgeTenant } from './judge-tenant.ts';
import type { Findings, Judging } from './judge-tenant.ts';
import { objectOf, oldOf } from './reviewed-object.ts';
import { verdict, withWarnings } from './verdict.ts';

/** By what pools are judged. */
export interface PoolJudging extends Judging {
  /** Name for control planes that name no DataStore; empty for none. */
  readonly defaultDataStore: string;
}

/** The admission rules of pools and claims, by path. */
export function poolAdmissions(judging: PoolJudging): Readonly<Record<string, AdmissionHandler>> {
  return {
    '/validate-steward-butlerlabs-dev-v1alpha1-controlplanepool': async (request, { signal }) => {
      const pool = objectOf(controlPlanePool, request);
      const { old } = oldOf(controlPlanePool, request);
      const namespace = request.namespace ?? pool.metadata.namespace;
      const { errors, warnings } = pools.changesTemplate(pool, old)
        ? await judgeTemplate(judging, { pool, namespace }, signal)
        : { errors: [], warnings: [] };
      return withWarnings(verdict(errors), () => [...pools.warningsAbout(pool), ...warnings]);
    },
    '/validate-steward-butlerlabs-dev-v1alpha1-controlplaneclaim': (request, { signal }) =>
      claimCreation(judging.cluster, request, signal),
  };
}

/** Judges a template by what is said of the control planes that are created from it, of which there are several. */
async function judgeTemplate(
  { defaultDataStore, ...judging }: PoolJudging,
  { pool, namespace }: { readonly pool: ControlPlanePool; readonly namespace: string },
  signal: AbortSignal,
): Promise<Findings> {
  const tcp = tenants.withDefaults(pools.controlPlaneFrom(pool), { defaultDataStore });
  const { errors, warnings } = await judgeTenant(judging, { namespace, tcp }, signal);
  const shared = conflicts(pool, judging);
  const others = errors.filter(({ field }) => !shared.some((one) => one.field === field));
  return { errors: [...shared.map(pools.notShared), ...others].map(pools.ofTemplate), warnings };
}

/** What is wrong with a control plane of a pool only because there is another one. */
function conflicts(pool: ControlPlanePool, { newestMinor, reach }: Judging): readonly InvalidInput[] {
  const tcp = pools.controlPlaneFrom(pool);
  const errorsBeside = (others: readonly (typeof tcp)[]): readonly InvalidInput[] =>
    tenants.validate({ tcp, drivers: new Map(), newestMinor, reach, tenants: others });
  const alone = new Set(errorsBeside([]).map((invalid) => JSON.stringify(invalid)));
  return errorsBeside([pools.controlPlaneFrom(pool, 'another')]).filter(
    (invalid) => !alone.has(JSON.stringify(invalid)),
  );
}

/** Only creations are judged: a claim cannot be given to another pool, and who has it may use it. */
async function claimCreation(
  cluster: Cluster,
  request: AdmissionRequest,
  signal: AbortSignal,
): Promise<AdmissionAnswer> {
  const { metadata, ...rest } = objectOf(controlPlaneClaim, request);
  const claim = { ...rest, metadata: { ...metadata, namespace: request.namespace ?? metadata.namespace } };
  const { username = '', groups = [], uid, extra } = request.userInfo ?? {};
  const user = { user: username, groups: [...groups], ...(uid !== undefined && { uid }) };
  const more = extra && Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]));
  for (const resourceAttributes of claims.rightsToClaim(claim)) {
    if (await isAllowed(cluster, { ...user, ...(more && { extra: more }), resourceAttributes }, signal)) {
      const { namespace } = claim.metadata;
      const pool = await cluster.get(controlPlanePool, { namespace, name: claim.spec.pool }, { signal });
      return { allowed: true, warnings: claims.warningsAbout(claim, pool) };
    }
  }
  return verdict([claims.refusedClaim(claim, username)]);
}
