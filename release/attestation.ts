import { sign, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

import { content } from '../clusterstacks/sources/oci/artifact.ts';
import { cosignArtifact } from './cosign-artifact.ts';
import type { Artifact } from '../clusterstacks/sources/oci/artifact.ts';

const payloadType = 'application/vnd.in-toto+json';

/** What is said about an artifact (in-toto, Statement v1). */
export interface Statement {
  readonly _type: 'https://in-toto.io/Statement/v1';
  readonly subject: readonly { readonly name: string; readonly digest: { readonly sha256: string } }[];
  readonly predicateType: string;
  readonly predicate: object;
}

interface Envelope {
  readonly payloadType: string;
  readonly payload: string;
  readonly signatures: readonly { readonly keyid: string; readonly sig: string }[];
}

/** What is signed: the payload, its type and their lengths (DSSE, pre-authentication encoding). */
function encoded(payload: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `), payload]);
}

/**
 * A signed statement in the layout of cosign's attestations: an artifact whose layer is a DSSE envelope. It belongs under the tag
 * `tagBeside(digest, 'att')`.
 * @param key a private key on the curve P-256.
 */
export function attestationOf(statement: Statement, key: KeyObject): Artifact {
  const payload = Buffer.from(JSON.stringify(statement));
  const sig = sign('sha256', encoded(payload), key).toString('base64');
  const envelope: Envelope = { payloadType, payload: payload.toString('base64'), signatures: [{ keyid: '', sig }] };
  const annotations = { 'dev.cosignproject.cosign/signature': '', predicateType: statement.predicateType };
  const layer = content('application/vnd.dsse.envelope.v1+json', Buffer.from(JSON.stringify(envelope)), {
    annotations,
  });
  return cosignArtifact(layer);
}

/** The statement in an envelope; undefined unless this key signed it. */
export function attested(envelope: Uint8Array, publicKey: KeyObject): Statement | undefined {
  const { payloadType: type, payload, signatures } = JSON.parse(Buffer.from(envelope).toString()) as Envelope;
  const bytes = Buffer.from(payload, 'base64');
  const isSigned = signatures.some(({ sig }) =>
    verify('sha256', encoded(bytes), publicKey, Buffer.from(sig, 'base64')),
  );
  return type === payloadType && isSigned ? (JSON.parse(bytes.toString()) as Statement) : undefined;
}
