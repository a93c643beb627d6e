import type { TenantControlPlaneSpec } from '../../api/steward/v1alpha1/tenant-control-plane.ts';

type WorkerBootstrap = NonNullable<TenantControlPlaneSpec['addons']['workerBootstrap']>;

/** What a test says about the add-on; the rest is as the API server defaults it. */
export function workerBootstrapAddon(
  changes: {
    readonly talos?: Partial<NonNullable<WorkerBootstrap['talos']>>;
    readonly autoApprove?: boolean;
    readonly allowedSubnets?: readonly string[];
  } = {},
): WorkerBootstrap {
  return {
    provider: 'talos',
    talos: { image: 'ghcr.io/butlerdotdev/steward-trustd', port: 50001, ...changes.talos },
    csrApproval: { autoApprove: changes.autoApprove ?? true },
    allowedSubnets: changes.allowedSubnets,
  };
}
