import { createPublicKey, sign, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

import type { Artifact } from '../clusterstacks/sources/oci/artifact.ts';
import { content } from '../clusterstacks/sources/oci/artifact.ts';
import { cosignArtifact } from './cosign-artifact.ts';

const annotation = 'dev.cosignproject.cosign/signature';
const payloadType = 'application/vnd.dev.cosign.simplesigning.v1+json';

/** The tag beside an artifact that holds something about it, as cosign finds it. */
export const tagBeside = (digest: string, what: 'sig' | 'sbom' | 'att'): string =>
  `${digest.replace(':', '-')}.${what}`;

/**
 * The signature of a digest by a key, in the layout of cosign (its SIGNATURE_SPEC): an artifact whose layer is the signed
 * payload, with the signature as an annotation.
 * @param key a private key on the curve P-256.
 */
export function signatureOf(repository: string, digest: string, key: KeyObject): Artifact {
  const payload = Buffer.from(
    JSON.stringify({
      critical: {
        identity: { 'docker-reference': repository },
        image: { 'docker-manifest-digest': digest },
        type: 'cosign container image signature',
      },
      optional: null,
    }),
  );
  const signature = sign('sha256', payload, key).toString('base64');
  const layer = content(payloadType, payload, { annotations: { [annotation]: signature } });
  return cosignArtifact(layer);
}

/** What a signature's manifest and its payload are checked for. */
export interface SignedDigest {
  readonly digest: string;
  readonly publicKey: KeyObject;
}

/** Whether one layer of a signature's manifest signs this digest with this key; `payload` finds the content of a layer. */
export async function isSignedBy(
  manifest: Uint8Array,
  payload: (digest: string) => Promise<Uint8Array>,
  { digest, publicKey }: SignedDigest,
): Promise<boolean> {
  const { layers } = JSON.parse(Buffer.from(manifest).toString()) as {
    readonly layers: readonly { readonly digest: string; readonly annotations?: Readonly<Record<string, string>> }[];
  };
  for (const layer of layers) {
    const bytes = await payload(layer.digest);
    const signature = Buffer.from(layer.annotations?.[annotation] ?? '', 'base64');
    if (!verify('sha256', bytes, publicKey, signature)) continue;
    const { critical } = JSON.parse(Buffer.from(bytes).toString()) as {
      readonly critical: { readonly image: { readonly 'docker-manifest-digest': string } };
    };
    if (critical.image['docker-manifest-digest'] === digest) return true;
  }
  return false;
}

/** The public half, as `cosign verify --key` reads it. */
export const publicPem = (key: KeyObject): string =>
  createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString();
