import type { RotationStep } from '../../../../api/steward/v1alpha1/credentials-rotation.ts';
import { dataKeys } from '../../../../api/names.ts';
import type { ServiceAccountKeys } from '../../../../kubeadm/pki/issue.ts';
import { publicHalf, publicKeyBlocks, publicKeyFile } from '../../../../kubeadm/pki/public-keys.ts';
import { hasReached } from './rotating-ca.ts';

type Data = Readonly<Record<string, string>>;
const names = dataKeys.serviceAccount;

/** The keys of service-account tokens: the public file has the public half of the private key first, then others that verify. */
export interface RotatingKeys extends ServiceAccountKeys {
  /** PEM of the key that signs next; its public half already verifies. */
  readonly nextKey?: string;
}

/** The key that a user or a rotation put beside the current one; undefined for none, or if it is the current one. */
export function offeredKey(data: Data): string | undefined {
  const next = data[names.nextKey];
  return next === undefined || next.trim() === (data[names.key] ?? '').trim() ? undefined : next;
}

/** The keys in a Secret, at a step of the preparation of their rotation if one is under way. Throws `InvalidInputError`. */
export function readKeys(data: Data, step: RotationStep | undefined): RotatingKeys {
  const keys = { publicKey: data[names.publicKey] ?? '', privateKey: data[names.key] ?? '' };
  const nextKey = step === undefined ? undefined : offeredKey(data);
  if (nextKey === undefined) return keys;
  // In later steps, a key that does not verify yet is not of this rotation.
  const isVerified = publicKeyBlocks(keys.publicKey).some(
    (block) => block.trim() === publicHalf(nextKey, names.nextKey).trim(),
  );
  return step === 'Trusting' ? keysWithNext(keys, nextKey) : { ...keys, ...(isVerified && { nextKey }) };
}

/** The keys with another one that verifies but does not sign yet. Throws `InvalidInputError` for an invalid key. */
export function keysWithNext({ publicKey, privateKey }: ServiceAccountKeys, nextKey: string): RotatingKeys {
  const blocks = [...publicKeyBlocks(publicKey), publicHalf(nextKey, names.nextKey)];
  return { publicKey: publicKeyFile(blocks), privateKey, nextKey };
}

/** The keys at a given step of their rotation, from any current step. */
export function keysAt(keys: RotatingKeys, step: RotationStep | undefined): RotatingKeys {
  const { nextKey, publicKey } = keys;
  const signing: RotatingKeys =
    nextKey === undefined || !hasReached(step, 'Signing')
      ? keys
      : {
          publicKey: publicKeyFile([publicHalf(nextKey, names.nextKey), ...publicKeyBlocks(publicKey)]),
          privateKey: nextKey,
        };
  if (!hasReached(step, 'Retiring')) return signing;
  return { publicKey: publicHalf(signing.privateKey, names.key), privateKey: signing.privateKey };
}

/** The values of the Secret with the keys. */
export function keysData({ publicKey, privateKey, nextKey }: RotatingKeys): Data {
  return {
    [names.publicKey]: publicKey,
    [names.key]: privateKey,
    ...(nextKey !== undefined && { [names.nextKey]: nextKey }),
  };
}
