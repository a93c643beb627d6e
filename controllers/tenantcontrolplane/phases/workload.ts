import type { Deployment } from '../../../api/core/kinds.ts';
import type { Manifest } from '../../../api/meta.ts';
import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { checkUpgrade, parseSupportedVersion, parseVersion } from '../../../kubeadm/versions.ts';
import type { Context } from '../../../runtime/controller.ts';
import type { Outcome } from '../../../runtime/phases.ts';
import { deployment as deploymentManifest } from '../components/deployment.ts';
import { egressComponent } from '../components/konnectivity/egress-selector.ts';
import type { PodSpec } from '../components/pod-parts.ts';
import { versionOfPods } from '../components/upgrade/pending-upgrade.ts';
import { trustdComponent } from '../components/worker-bootstrap/trustd-credentials.ts';
import type { Dependencies } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Scope, SecretFacts } from '../scope.ts';
import { namespaceStandard } from '../namespace-standard.ts';
import { argumentComplaints, givenArguments } from '../validation/argument-complaints.ts';
import { podSecurityComplaints } from '../validation/pod-security-complaints.ts';
import { isNotNew, runsAlready } from '../validation/pods-that-run.ts';
import { overridesComponent } from './overrides.ts';

/** A namespace's label is not watched. */
const lookAgainMs = 60_000;

/** Secrets that pods do not mount: their change rolls nothing. */
const notMounted = new Set(['admin-kubeconfig']);

/** The checksums by which pods are rolled when a Secret changes. */
function checksums(...facts: readonly SecretFacts[]): Readonly<Record<string, string>> {
  const all = Object.entries(Object.assign({}, ...facts) as SecretFacts);
  return Object.fromEntries(
    all.filter(([component]) => !notMounted.has(component)).map(([component, { checksum }]) => [component, checksum]),
  );
}

/** No minor that is not hosted. An upgrade starts from what is installed, also while another is under way: none is skipped. */
function refuseOtherMinors({ tcp, observed }: Readonly<Scope>, { newestMinor }: Dependencies): void {
  const field = 'spec.kubernetes.version';
  const { version } = tcp.spec.kubernetes;
  const installed = tcp.status?.kubernetesResources?.version?.version ?? '';
  if (installed === '') {
    parseSupportedVersion(version, field, newestMinor);
    return;
  }
  const from = parseVersion(installed, 'status.kubernetesResources.version.version');
  // What runs goes on when the operator hosts less than before.
  const last = Math.max(newestMinor, from.minor);
  const to = parseSupportedVersion(version, field, last);
  checkUpgrade(from, to, field, last);
  // Pods of a later minor may have stored what an older one cannot read, though they are not all there yet.
  const begun = versionOfPods(observed.deployment);
  if (begun !== undefined) checkUpgrade(parseVersion(begun), to, field, last);
}

function podSpecOf(made: Manifest): PodSpec | undefined {
  const { spec } = made as Manifest & { readonly spec?: { readonly template: { readonly spec: PodSpec } } };
  return spec?.template.spec;
}

/**
 * What admission refuses is not rolled out either: the webhooks may be off, and the namespace's standard narrower than it was. What
 * the pods have already, they keep.
 */
async function outOfBounds(
  { tcp, observed: { deployment: present } }: Readonly<Scope>,
  { cluster, boundaries: { defaultStandard, allowedArguments } }: Dependencies,
  made: Manifest,
  { signal }: Context,
): Promise<Outcome<Scope> | undefined> {
  const waiting = (reason: string, complaints: readonly InvalidInput[]): Outcome<Scope> => {
    const message = complaints.map((complaint) => new InvalidInputError(complaint).message).join('; ');
    return { is: 'waiting', reason, message: `${message}; what runs already is left alone`, afterMs: lookAgainMs };
  };
  const args = argumentComplaints(givenArguments(tcp), allowedArguments, (component, argument) =>
    isNotNew({ made: podSpecOf(made), present }, component, argument),
  );
  if (args.length > 0) return waiting('ArgumentsRefused', args);
  const { namespace = '' } = tcp.metadata;
  const reader = { cluster, defaultStandard };
  const inForce = runsAlready(tcp, present) ? undefined : await namespaceStandard(tcp, namespace, reader, signal);
  const found = inForce === undefined ? [] : podSecurityComplaints(tcp, inForce);
  return found.length === 0 ? undefined : waiting('PodSecurityViolated', found);
}

/** The pods. Everything that they mount is in place by now, so that no start waits for a volume. */
export async function workload(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  refuseOtherMinors(scope, deps);
  const store = needed(scope.store, 'store');
  const { bindings, certificate } = needed(scope.overrides, 'overrides');
  const manifest = deploymentManifest({
    tcp: scope.tcp,
    endpoint: needed(scope.endpoint, 'endpoint'),
    store: store.binding,
    storeTls: store.tls,
    overrides: bindings,
    kineImage: deps.kineImage,
    dataStoreName: store.dataStoreName,
    present: scope.observed.deployment,
    checksums: {
      ...checksums(
        needed(scope.authorityFacts, 'authorityFacts'),
        needed(scope.certificateFacts, 'certificateFacts'),
        needed(scope.kubeconfigFacts, 'kubeconfigFacts'),
      ),
      'datastore-certificate': store.certificate.checksum,
      ...(scope.konnectivityEgress !== undefined && { [egressComponent]: scope.konnectivityEgress.checksum }),
      ...(scope.trustdCredentials !== undefined && { [trustdComponent]: scope.trustdCredentials.checksum }),
      ...(certificate !== undefined && { [overridesComponent]: certificate.checksum }),
    },
    trustBundles: needed(scope.authorities, 'authorities').bundled,
    storageChecksum: store.config.checksum,
  });
  const refused = await outOfBounds(scope, deps, manifest, ctx);
  if (refused !== undefined) return refused;
  return { is: 'done', learned: { deployment: await deps.apply<Deployment>(scope, manifest, ctx) } };
}
