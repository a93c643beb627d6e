import { kinds } from '../../../api/core/kinds.ts';
import { configurationComponent } from '../../../api/names.ts';
import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';
import { targetVersion } from '../upgrade/upgrade-decision.ts';
import { configurationFiles } from './configuration-files.ts';
import { configurationPod } from './configuration-pod.ts';
import { configurationManifests, presentSecrets, secretOf } from './configuration-secrets.ts';
import { validateConfiguration } from './validate-configuration.ts';
import { webhookCredentials } from './webhook-credentials.ts';
import type { WebhookCredentials } from './webhook-credentials.ts';
import { webhookSecrets } from './webhooks.ts';

const alone = 'running pods are left alone';

/** The credentials by the name of their Secret, and what is wrong with others. */
async function readCredentials(
  { tcp }: Readonly<Scope>,
  { cluster }: Dependencies,
  { signal }: Context,
): Promise<{ readonly credentials: ReadonlyMap<string, WebhookCredentials>; readonly troubles: readonly string[] }> {
  const { namespace } = tcp.metadata;
  const credentials = new Map<string, WebhookCredentials>();
  const troubles: string[] = [];
  const read = await Promise.all(
    webhookSecrets(tcp).map(async (name) => {
      const secret = await cluster.get(kinds.Secret, { namespace, name }, { signal });
      return [name, webhookCredentials(secret)] as const;
    }),
  );
  for (const [name, found] of read) {
    if ('trouble' in found) troubles.push(`Secret ${name} ${found.trouble}`);
    else credentials.set(name, found);
  }
  return { credentials, troubles };
}

/**
 * Renders the files that configure kube-apiserver into a Secret for its pods. Every change is rolled out with new pods, although
 * kube-apiserver could read two of the files again by itself: it does so in silence, and one with an expression that it cannot compile
 * would wait in the pods to end them at their next start. New pods have to become ready with it before an old one goes.
 */
export async function configuration(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  const version = targetVersion(scope);
  // The webhooks may be disabled, and the target version may be older than that of the spec.
  const errors = validateConfiguration(tcp, version).map((error) => new InvalidInputError(error).message);
  if (errors.length > 0)
    return { is: 'waiting', reason: 'ConfigurationRefused', message: `${errors.join('; ')}; ${alone}` };
  const { credentials, troubles } = await readCredentials(scope, deps, ctx);
  if (troubles.length > 0)
    return { is: 'waiting', reason: 'WebhookSecretUnusable', message: `${troubles.join('; ')}; ${alone}` };
  const wanted = secretOf(tcp, configurationFiles(tcp, { version, credentials }));
  if (wanted !== undefined || presentSecrets(scope).length > 0) {
    const manifests = configurationManifests(scope, wanted);
    await deps.applySet(scope, { component: configurationComponent, manifests, prunes: [kinds.Secret] }, ctx);
  }
  return { is: 'done', learned: { configuration: configurationPod(tcp, wanted) } };
}
