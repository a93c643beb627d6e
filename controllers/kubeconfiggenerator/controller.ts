import { annotations, finalizers } from '../../api/names.ts';
import { kubeconfigGenerator } from '../../api/steward/v1alpha1/kubeconfig-generator.ts';
import type { KubeconfigGenerator } from '../../api/steward/v1alpha1/kubeconfig-generator.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { NotGeneratedError } from '../../kubeadm/client-kubeconfig.ts';
import { createIssuerPool } from '../../kubeadm/pki/issuer-pool.ts';
import type { Controller, LastReconcile, ReconcileResult } from '../../runtime/reconcile/controller.ts';
import { access } from './access.ts';
import type { Dependencies } from './dependencies.ts';
import { GeneratedSecrets } from './generated-secrets.ts';
import { nameOf, selection } from './selection.ts';
import { statusOf } from './status.ts';
import type { Missing } from './status.ts';
import { kubeconfigGeneratorWatches } from './watches.ts';

/** Tenants served at once in one reconcile. */
const width = 8;

/** Keeps a user's kubeconfig for every TenantControlPlane that a KubeconfigGenerator selects, and for no other. */
export function kubeconfigGeneratorController(deps: Dependencies): Controller<KubeconfigGenerator> {
  const secrets = new GeneratedSecrets(deps, createIssuerPool(4));
  return {
    name: 'kubeconfiggenerator',
    kind: kubeconfigGenerator,
    access,
    finalizers: [finalizers.kubeconfigGenerator],
    concernsMany: true,
    watches: kubeconfigGeneratorWatches(deps),
    paused: ({ metadata }) =>
      metadata.annotations?.[annotations.paused] === undefined
        ? undefined
        : `the annotation ${annotations.paused} is set`,
    async reconcile(generator, ctx): Promise<ReconcileResult<KubeconfigGenerator>> {
      const selected = await selection(generator, deps, ctx);
      const present = await secrets.of(generator, ctx);
      const outcome = await serve(selected, (tcp) => secrets.keep(generator, tcp, present, ctx));
      await secrets.prune(present, selected, ctx);
      const { missing, errors, renewals } = outcome;
      const next = Math.min(...renewals);
      return {
        status: statusOf(generator, { selected: selected.length, missing }, ctx.now),
        ...(renewals.length > 0 && { afterMs: Math.max(next - ctx.now.getTime(), 1000) }),
        ...(errors.length > 0 && { error: errors[0] }),
      };
    },
    async finalize(generator, ctx): Promise<LastReconcile<KubeconfigGenerator>> {
      await secrets.prune(await secrets.of(generator, ctx), [], ctx);
      return { finished: true };
    },
  };
}

interface Outcome {
  readonly missing: readonly Missing[];
  /** Errors that are not the tenant's: tried again. */
  readonly errors: readonly unknown[];
  readonly renewals: readonly number[];
}

async function serve(
  tenants: readonly TenantControlPlane[],
  keep: (tcp: TenantControlPlane) => Promise<number>,
): Promise<Outcome> {
  const found = new Map<string, Missing>();
  const errors: unknown[] = [];
  const renewals: number[] = [];
  const waiting = [...tenants];
  const work = async (): Promise<void> => {
    for (let tcp = waiting.shift(); tcp !== undefined; tcp = waiting.shift()) {
      const resource = nameOf(tcp);
      try {
        renewals.push(await keep(tcp));
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        found.set(resource, { resource, message: error.message });
        if (!(error instanceof NotGeneratedError)) errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: width }, work));
  const missing = tenants.flatMap((tcp) => found.get(nameOf(tcp)) ?? []);
  return { missing, errors, renewals };
}
