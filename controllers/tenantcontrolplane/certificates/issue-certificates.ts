import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { joinHostPort } from '../../../kubeadm/networks.ts';
import { parseCertificates } from '../../../kubeadm/pki/certificate-chain.ts';
import { issue } from '../../../kubeadm/pki/issue.ts';
import type { KeyPair } from '../../../kubeadm/pki/key-pair.ts';
import { certificateValidityMs, lifetimeFrom } from '../../../kubeadm/pki/lifetime.ts';
import { leafProfiles } from '../../../kubeadm/pki/profiles.ts';
import type { Leaf, LeafName } from '../../../kubeadm/pki/profiles.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Endpoint } from '../shared/control-plane-input.ts';
import { konnectivityLeaves } from '../addons/konnectivity/server-leaves.ts';
import type { KonnectivityLeaf } from '../addons/konnectivity/server-leaves.ts';
import { certificateNames } from '../tenant/tenant-documents.ts';
import type { Dependencies } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Authorities, Scope } from '../scope.ts';

/** Why something is replaced. */
interface Reason {
  readonly reason: string;
  readonly message: string;
}

/** The verdict for content whose replacement was requested. */
export const requested = { keep: false, reason: 'Requested', message: 'it was requested' } as const;

/** A certificate of the tenant: one of kubeadm's or one of the konnectivity server. */
type AnyLeaf = LeafName | KonnectivityLeaf;

/** Certificates that only the tenant's own API server verifies. */
const forOwnApiServer: ReadonlySet<AnyLeaf> = new Set([
  'admin.conf',
  'super-admin.conf',
  'controller-manager.conf',
  'scheduler.conf',
  'konnectivity-server.conf',
]);

/** What issuing acts through. */
type IssuingDependencies = Pick<Dependencies, 'issuers' | 'renewBeforeMs'>;

/** Issues the certificates of one tenant in one reconcile. */
export class Issuing {
  readonly tcp: TenantControlPlane;
  readonly scope: Readonly<Scope>;
  readonly authorities: Authorities;
  readonly endpoint: Endpoint;
  readonly leaves: Readonly<Record<AnyLeaf, Leaf>>;
  readonly ctx: Context;
  readonly #deps: IssuingDependencies;

  /** Throws `InvalidInputError` for an invalid network or name. */
  constructor(scope: Readonly<Scope>, deps: IssuingDependencies, ctx: Context) {
    const { tcp } = scope;
    const { networkProfile } = tcp.spec;
    const endpoint = needed(scope.endpoint, 'endpoint');
    // While the endpoint changes, certificates cover both the current and the next one.
    const target = needed(scope.target, 'target');
    this.tcp = tcp;
    this.scope = scope;
    this.authorities = needed(scope.authorities, 'authorities');
    this.endpoint = endpoint;
    this.ctx = ctx;
    this.#deps = deps;
    const leaves = leafProfiles({
      serviceCidr: networkProfile.serviceCidr,
      clusterDomain: networkProfile.clusterDomain,
      advertiseAddress: endpoint.address,
      controlPlaneEndpoint: joinHostPort(endpoint.host, endpoint.hostPort),
      certSANs: [...certificateNames({ tcp, endpoint }), target.host],
    });
    this.leaves = { ...leaves, ...konnectivityLeaves(tcp, target, endpoint.host) };
  }

  /** The CA that signs a certificate: during a rotation, this depends on who verifies the certificate. */
  signerOf(name: AnyLeaf): KeyPair {
    const signers = forOwnApiServer.has(name) ? this.authorities : this.authorities.forOthers;
    return this.leaves[name].signer === 'ca' ? signers.ca : signers.frontProxyCa;
  }

  /** How early a certificate is renewed: not at all if its CA expires soon, since a new certificate would expire with it. */
  thresholdOf(name: AnyLeaf): number {
    const [signer] = parseCertificates(this.signerOf(name).certificate, 'ca.crt');
    const left = signer.validToDate.getTime() - this.ctx.now.getTime();
    return left > 2 * this.#deps.renewBeforeMs ? this.#deps.renewBeforeMs : 0;
  }

  /** When a certificate must be renewed, in milliseconds since the epoch. */
  renewalOf(name: AnyLeaf, certificate: string): number {
    const [leaf] = parseCertificates(certificate, 'certificate');
    return leaf.validToDate.getTime() - this.thresholdOf(name);
  }

  /** A new certificate, valid for a year or until its CA expires. */
  async issue(name: AnyLeaf): Promise<KeyPair> {
    const ca = this.signerOf(name);
    const [signer] = parseCertificates(ca.certificate, 'ca.crt');
    const lifetime = lifetimeFrom(this.ctx.now, certificateValidityMs);
    const notAfter = new Date(Math.min(lifetime.notAfter.getTime(), signer.validToDate.getTime()));
    const algorithm = this.tcp.spec.kubernetes.encryptionAlgorithm ?? 'ECDSA-P256';
    const options = { algorithm, lifetime: { ...lifetime, notAfter } } as const;
    return this.#deps.issuers.run(() => issue(this.leaves[name].profile, ca, options));
  }

  /** Reports why an existing certificate is replaced. */
  announce(what: string, { reason, message }: Reason): void {
    if (reason !== 'Missing') this.ctx.event('Normal', 'CertificateRenewed', `${what} is reissued: ${message}`);
  }
}
