import { kinds } from '../../api/core/kinds.ts';
import type { Secret } from '../../api/core/kinds.ts';
import { annotations, claimKubeconfig, dataKeys, tenantObjects } from '../../api/names.ts';
import type { ControlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { clientKubeconfig, NotGeneratedError } from '../../kubeadm/client-kubeconfig.ts';
import type { Generated } from '../../kubeadm/client-kubeconfig.ts';
import { createIssuerPool } from '../../kubeadm/pki/issuer-pool.ts';
import type { IssuerPool } from '../../kubeadm/pki/issuer-pool.ts';
import { clusterAdminsGroup } from '../../kubeadm/pki/profiles.ts';
import { isAlreadyExists } from '../../runtime/client/is-already-exists.ts';
import type { Context } from '../../runtime/reconcile/controller.ts';
import type { Dependencies } from './dependencies.ts';
import { kubeconfigSecret } from './kubeconfig-secret.ts';

const fieldManager = 'steward';

/** The state of a claim's kubeconfig. */
export type KubeconfigState =
  /** When it must be renewed, in milliseconds since the epoch. */
  | { readonly is: 'written'; readonly secret: string; readonly renewal: number }
  | { readonly is: 'missing'; readonly reason: 'SecretTaken' | 'KubeconfigPending'; readonly message: string };

/** The Secrets with the kubeconfigs of claimants, each with a client certificate of its own. */
export class ClaimKubeconfigs {
  readonly #deps: Pick<Dependencies, 'cluster' | 'renewBeforeMs'>;
  readonly #issuers: IssuerPool = createIssuerPool(4);

  constructor(deps: Pick<Dependencies, 'cluster' | 'renewBeforeMs'>) {
    this.#deps = deps;
  }

  /** Writes the kubeconfig of a claim for its control plane, unless the one in place is right. */
  async keep(claim: ControlPlaneClaim, tcp: TenantControlPlane, ctx: Context): Promise<KubeconfigState> {
    const { namespace } = claim.metadata;
    const names = tenantObjects(tcp.metadata.name);
    const secret = claimKubeconfig(claim.metadata.name);
    const read = (name: string): Promise<Secret | undefined> =>
      this.#deps.cluster.get(kinds.Secret, { namespace, name }, { signal: ctx.signal });
    const [admin, authority, present] = await Promise.all([read(names.adminKubeconfig), read(names.ca), read(secret)]);
    if (present !== undefined && !isOwn(present, claim)) return taken(secret);
    try {
      const generated = await this.#generate(claim, tcp, { admin, authority, present }, ctx);
      const isWritten = await this.#write(claim, generated.kubeconfig, present, ctx.signal);
      return isWritten ? { is: 'written', secret, renewal: generated.renewal } : taken(secret);
    } catch (error) {
      if (!(error instanceof NotGeneratedError)) throw error;
      return { is: 'missing', reason: 'KubeconfigPending', message: error.message };
    }
  }

  #generate(
    { metadata: { name } }: ControlPlaneClaim,
    { spec }: TenantControlPlane,
    secrets: {
      readonly admin?: Secret | undefined;
      readonly authority?: Secret | undefined;
      readonly present?: Secret | undefined;
    },
    { now }: Context,
  ): Promise<Generated> {
    const { admin, authority, present } = secrets;
    const request = {
      ...{ admin, authority, adminKey: dataKeys.adminKubeconfig.admin },
      absentKey: () => 'delete the Secret to have it generated again',
      // A name of ours has no colon, so that it cannot be that of a component of Kubernetes.
      profile: { commonName: name, organizations: [clusterAdminsGroup], usages: ['clientAuth'] },
      ...{ name, clusterName: name },
      algorithm: spec.kubernetes.encryptionAlgorithm ?? 'ECDSA-P256',
      present: valueOf(present),
      rotate: present?.metadata.annotations?.[annotations.rotate] === '',
      ...{ now, renewBeforeMs: this.#deps.renewBeforeMs },
    } as const;
    return clientKubeconfig(request, this.#issuers);
  }

  /** False if a Secret that belongs to somebody else has got the name meanwhile. */
  async #write(
    claim: ControlPlaneClaim,
    kubeconfig: string,
    present: Secret | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (valueOf(present) === kubeconfig) return true;
    const manifest = kubeconfigSecret(claim, kubeconfig);
    const options = { fieldManager, signal };
    if (present !== undefined) {
      const { namespace, name, resourceVersion } = present.metadata;
      // With the version that was read: it is still the Secret of this claim.
      const metadata = { ...manifest.metadata, resourceVersion, annotations: written(manifest) };
      const body = { ...manifest, metadata };
      await this.#deps.cluster.patch(kinds.Secret, { namespace, name }, { type: 'merge', body }, options);
      return true;
    }
    try {
      await this.#deps.cluster.create(kinds.Secret, manifest, options);
      return true;
    } catch (error) {
      if (isAlreadyExists(error)) return false;
      throw error;
    }
  }
}

/** The annotations of a Secret that is written again; a request to rotate is done. */
const written = ({ metadata }: ReturnType<typeof kubeconfigSecret>): object => ({
  ...metadata.annotations,
  [annotations.rotate]: null,
});

function isOwn({ metadata }: Secret, claim: ControlPlaneClaim): boolean {
  return (
    metadata.ownerReferences?.some(({ controller, uid }) => controller === true && uid === claim.metadata.uid) === true
  );
}

function valueOf(secret: Secret | undefined): string | undefined {
  const value = secret?.data?.[dataKeys.generatedKubeconfig];
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
}

function taken(secret: string): KubeconfigState {
  const message = `Secret ${secret} exists and does not belong to this claim: delete it, or use another name for the claim`;
  return { is: 'missing', reason: 'SecretTaken', message };
}
