import type { Manifest } from '../../../api/meta.ts';
import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import { deployment as deploymentManifest } from './deployment.ts';
import { targetVersion } from '../upgrade/upgrade-decision.ts';
import type { Dependencies } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Scope, SecretFacts } from '../scope.ts';
import { namespaceStandard } from './namespace-standard.ts';
import { programsOf } from './guarded-arguments.ts';
import { validateArguments } from './validate-arguments.ts';
import { validatePodSecurity } from './validate-pod-security.ts';
import { isNotNew, keepsRights, runsAlready } from './running-pods.ts';
import type { PodTemplate } from './running-pods.ts';
import { validateKineUser } from './validate-security-contexts.ts';
import { rollOut } from './rollout/rollout-phase.ts';
import { encryptionPod } from '../encryption/encryption-pod.ts';
import { encryptionComponent } from '../encryption/encryption-secret.ts';
import { overridesComponent } from '../datastore/overrides/overrides-phase.ts';

/** The label of a namespace is not watched. In milliseconds. */
const lookAgainMs = 60_000;

/** Secrets that pods do not mount: their changes restart no pods. */
const notMounted = new Set(['admin-kubeconfig']);

/** The checksums that restart pods when a Secret changes. */
function checksums(...facts: readonly SecretFacts[]): Readonly<Record<string, string>> {
  const all = Object.entries(Object.assign({}, ...facts) as SecretFacts);
  return Object.fromEntries(
    all.filter(([component]) => !notMounted.has(component)).map(([component, { checksum }]) => [component, checksum]),
  );
}

function templateOf(made: Manifest): PodTemplate {
  const { spec } = made as Manifest & { readonly spec?: { readonly template: PodTemplate } };
  return spec?.template ?? {};
}

/**
 * What admission refuses is not rolled out either: the webhooks may be disabled, and the namespace's standard stricter than
 * before. Existing pods keep what they have.
 */
async function outOfBounds(
  { tcp, observed: { deployment: present } }: Readonly<Scope>,
  { addons, cluster, boundaries: { defaultStandard, allowedArguments } }: Dependencies,
  made: Manifest,
  { signal }: Context,
): Promise<Outcome<Scope> | undefined> {
  const waiting = (reason: string, errors: readonly InvalidInput[]): Outcome<Scope> => {
    const message = errors.map((error) => new InvalidInputError(error).message).join('; ');
    return { is: 'waiting', reason, message: `${message}; running pods are left alone`, afterMs: lookAgainMs };
  };
  const programs = programsOf(addons);
  const args = validateArguments(tcp, { programs, allowedArguments }, (program, argument) =>
    isNotNew({ made: templateOf(made).spec, present }, program, argument),
  );
  if (args.length > 0) return waiting('ArgumentsRefused', args);
  const { namespace } = tcp.metadata;
  const reader = { cluster, defaultStandard, programs };
  const inForce =
    runsAlready(tcp, present) && keepsRights(templateOf(made), present)
      ? undefined
      : await namespaceStandard(tcp, namespace, reader, signal);
  const found = inForce === undefined ? [] : validatePodSecurity(tcp, inForce, programs);
  return found.length === 0 ? undefined : waiting('PodSecurityViolated', found);
}

/** Applies the pods. Everything that they mount exists by now, so that no start waits for a volume. */
export async function workload(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { refusal } = scope.versions;
  if (refusal !== undefined) throw new InvalidInputError(refusal);
  const store = needed(scope.store, 'store');
  const [unusable] = store.binding.kind === 'kine' ? validateKineUser(scope.tcp) : [];
  if (unusable !== undefined) throw new InvalidInputError(unusable);
  const { bindings, certificate } = needed(scope.overrides, 'overrides');
  const version = targetVersion(scope);
  const manifest = deploymentManifest({
    tcp: scope.tcp,
    version,
    endpoint: needed(scope.endpoint, 'endpoint'),
    store: store.binding,
    storeTls: store.tls,
    overrides: bindings,
    kineImage: deps.kineImage,
    addons: [
      ...deps.addons.flatMap((addon) => addon.pod?.(scope.tcp, version) ?? []),
      needed(scope.configuration, 'configuration'),
      ...(scope.encryption === undefined ? [] : encryptionPod(scope.tcp, scope.encryption.state)),
    ],
    dataStoreName: store.dataStoreName,
    present: scope.observed.deployment,
    checksums: {
      ...checksums(
        needed(scope.authorityFacts, 'authorityFacts'),
        needed(scope.certificateFacts, 'certificateFacts'),
        needed(scope.kubeconfigFacts, 'kubeconfigFacts'),
        ...deps.addons.map((addon) => addon.mounted?.(scope) ?? {}),
      ),
      'datastore-certificate': store.certificate.checksum,
      ...(certificate !== undefined && { [overridesComponent]: certificate.checksum }),
      ...(scope.encryption?.checksum !== undefined && { [encryptionComponent]: scope.encryption.checksum }),
    },
    trustBundles: needed(scope.authorities, 'authorities').bundled,
    storageChecksum: store.config.checksum,
  });
  const refused = await outOfBounds(scope, deps, manifest, ctx);
  if (refused !== undefined) return refused;
  return rollOut(scope, manifest, deps, ctx);
}
