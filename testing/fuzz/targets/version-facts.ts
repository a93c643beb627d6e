import { kinds } from '../../../api/core/kinds.ts';
import { storedMeta } from '../../../api/as-stored.ts';
import type { Deployment } from '../../../api/core/kinds.ts';
import { versionFacts as factsOf } from '../../../controllers/tenantcontrolplane/upgrade/version-facts.ts';
import { parseVersion, versionText } from '../../../kubeadm/versions.ts';
import { tenantControlPlaneWith } from '../../builders/tenant-control-plane.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { kept } from '../kept.ts';

const podsOf = (image: string): Deployment => ({
  apiVersion: 'apps/v1',
  kind: kinds.Deployment.kind,
  metadata: storedMeta({ name: 'tenant' }),
  spec: { selector: {}, template: { spec: { containers: [{ name: 'kube-apiserver', image }] } } },
});

/** A line each: the wanted version, the one in the status, and the image of the pods. */
export const versionFacts: FuzzTarget = {
  name: 'version-facts',
  from: 'the author of a TenantControlPlane',
  seeds: () => [
    'v1.36.3\nv1.35.1\nregistry.example.org/kube-apiserver:v1.36.3-a',
    '1.35.0-rc.1\n\nx:v1.35.0@sha256:00',
    'v1.36.0+build\nnone\n',
  ],
  refusals: [],
  parse: (input) => {
    const [wanted = '', recorded = '', image = ''] = input.toString().split('\n');
    const status = { kubernetesResources: { version: { status: 'Ready' as const, version: recorded } } };
    const facts = factsOf({
      tcp: tenantControlPlaneWith({ kubernetes: { version: wanted }, status }),
      deployment: podsOf(image),
    });
    for (const version of [facts.wanted, facts.installed, facts.running])
      if (version !== undefined)
        kept(versionText(parseVersion(versionText(version))) === versionText(version), 'a version is read as written');
    kept(facts.refusal !== undefined || facts.wanted !== undefined, 'what is no version is refused');
  },
};
