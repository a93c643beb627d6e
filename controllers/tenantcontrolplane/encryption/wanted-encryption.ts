import type { Encryption } from '../../../api/embedded/encryption.ts';
import type { WantedEncryption } from './encryption-state.ts';
import { identity } from './provider.ts';
import type { Provider } from './provider.ts';

function writerOf({ provider, keySecret, kms, keyGeneration = 1 }: Encryption): Provider {
  if (provider === 'kms') {
    const { name = '', container = '', timeoutSeconds } = kms ?? {};
    return { kind: provider, name, container, ...(timeoutSeconds !== undefined && { timeoutSeconds }) };
  }
  return { kind: provider, name: keySecret?.key ?? `generated-${keyGeneration}` };
}

/** What the spec requests; without `spec.kubernetes.encryption`, everything in plain text. */
export function wantedEncryption(encryption: Encryption | undefined): WantedEncryption {
  if (encryption === undefined) return { resources: [], writer: identity, generation: 1 };
  const { resources, keyGeneration = 1 } = encryption;
  return { resources, writer: writerOf(encryption), generation: keyGeneration };
}
