import { keptAuthority, ensureKeyPair, pairTexts } from '../../bootstrap/kept-pairs.ts';
import type { Secrets } from '../../bootstrap/write-secrets.ts';
import { etcdProfiles, etcdSecretNames } from './bootstrap-plan.ts';
import type { EtcdPlan } from './bootstrap-plan.ts';

/**
 * The wanted content of the Secrets of a quick-start etcd; valid content stays as it is, so that a second run changes nothing.
 * Throws `StoreError` (CredentialsInvalid) for an existing CA that is broken.
 */
export async function etcdSecrets(plan: EtcdPlan, current: Secrets, now: Date): Promise<Secrets> {
  const names = etcdSecretNames;
  const profiles = etcdProfiles(plan);
  const ca = await keptAuthority(names.administrator, current.get(names.administrator), profiles.ca, now);
  const peerCa = await keptAuthority(names.peerAuthority, current.get(names.peerAuthority), profiles.peerCa, now);
  const administrator = await ensureKeyPair(current.get(names.administrator), profiles.administrator, { ca, now });
  const server = await ensureKeyPair(current.get(names.server), profiles.server, { ca, now });
  const peer = await ensureKeyPair(current.get(names.peer), profiles.peer, { ca: peerCa, now });
  return new Map([
    [names.administrator, { ...pairTexts(ca, administrator), 'ca.key': ca.key }],
    [names.peerAuthority, { 'ca.crt': peerCa.certificate, 'ca.key': peerCa.key }],
    [names.server, pairTexts(ca, server)],
    [names.peer, pairTexts(peerCa, peer)],
  ]);
}
