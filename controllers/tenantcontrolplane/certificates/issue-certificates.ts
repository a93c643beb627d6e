import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { joinHostPort } from '../../../kubeadm/networks.ts';
import { parseCertificates } from '../../../kubeadm/pki/certificate-chain.ts';
import { issue } from '../../../kubeadm/pki/issue.ts';
import type { KeyPair } from '../../../kubeadm/pki/key-pair.ts';
import { certificateValidityMs, lifetimeFrom } from '../../../kubeadm/pki/lifetime.ts';
import { leafProfiles } from '../../../kubeadm/pki/profiles.ts';
import type { Leaf } from '../../../kubeadm/pki/profiles.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Endpoint } from '../shared/control-plane-input.ts';
import { tenantNetworks } from '../shared/tenant-networks.ts';
import { certificateNames } from './certificate-names.ts';
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

/** What issuing acts through. */
type IssuingDependencies = Pick<Dependencies, 'addons' | 'issuers' | 'renewBeforeMs'>;

/** Issues the certificates of one tenant in one reconcile. */
export class Issuing {
  readonly tcp: TenantControlPlane;
  readonly scope: Readonly<Scope>;
  readonly authorities: Authorities;
  readonly endpoint: Endpoint;
  /** kubeadm's certificates, and those of an add-on. */
  readonly #leaves: Readonly<Record<string, Leaf>>;
  readonly ctx: Context;
  readonly #deps: IssuingDependencies;

  /** Throws `InvalidInputError` for an invalid network or name. */
  constructor(
    scope: Readonly<Scope>,
    deps: IssuingDependencies,
    ctx: Context,
    ofAddon: Readonly<Record<string, Leaf>> = {},
  ) {
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
      serviceCidr: tenantNetworks(tcp).services.value,
      clusterDomain: networkProfile.clusterDomain,
      advertiseAddress: endpoint.address,
      controlPlaneEndpoint: joinHostPort(endpoint.host, endpoint.hostPort),
      certSANs: [...certificateNames({ tcp, endpoint, addons: deps.addons }), target.host],
    });
    this.#leaves = { ...leaves, ...ofAddon };
  }

  /** Content and signer of a certificate. */
  leafOf(name: string): Leaf {
    return needed(this.#leaves[name], name);
  }

  /** The CA that signs a certificate: during a rotation, this depends on who verifies the certificate. */
  signerOf(name: string): KeyPair {
    // That of a kubeconfig is verified only by the tenant's own API server.
    const signers = name.endsWith('.conf') ? this.authorities : this.authorities.forOthers;
    return this.leafOf(name).signer === 'ca' ? signers.ca : signers.frontProxyCa;
  }

  /** How early a certificate is renewed: not at all if its CA expires soon, since a new certificate would expire with it. */
  thresholdOf(name: string): number {
    const [signer] = parseCertificates(this.signerOf(name).certificate, 'ca.crt');
    const left = signer.validToDate.getTime() - this.ctx.now.getTime();
    return left > 2 * this.#deps.renewBeforeMs ? this.#deps.renewBeforeMs : 0;
  }

  /** When a certificate must be renewed, in milliseconds since the epoch. */
  renewalOf(name: string, certificate: string): number {
    const [leaf] = parseCertificates(certificate, 'certificate');
    return leaf.validToDate.getTime() - this.thresholdOf(name);
  }

  /** A new certificate, valid for a year or until its CA expires. */
  async issue(name: string): Promise<KeyPair> {
    const ca = this.signerOf(name);
    const [signer] = parseCertificates(ca.certificate, 'ca.crt');
    const lifetime = lifetimeFrom(this.ctx.now, certificateValidityMs);
    const notAfter = new Date(Math.min(lifetime.notAfter.getTime(), signer.validToDate.getTime()));
    const algorithm = this.tcp.spec.kubernetes.encryptionAlgorithm ?? 'ECDSA-P256';
    const options = { algorithm, lifetime: { ...lifetime, notAfter } } as const;
    return this.#deps.issuers.run(() => issue(this.leafOf(name).profile, ca, options));
  }

  /** Reports why an existing certificate is replaced. */
  announce(what: string, { reason, message }: Reason): void {
    if (reason !== 'Missing') this.ctx.event('Normal', 'CertificateRenewed', `${what} is reissued: ${message}`);
  }
}
