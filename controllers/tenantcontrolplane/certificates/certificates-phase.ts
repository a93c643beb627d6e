import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import { ensureCertificate } from './ensure-certificate.ts';
import { leafSecrets } from './leaf-secrets.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';
import { Issuing } from './issue-certificates.ts';

/**
 * The certificates of the API server: valid ones are kept, all others are issued and stored. A broken one is repaired, since
 * clients trust its CA and not the certificate itself.
 */
export async function certificates(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const issuing = new Issuing(scope, deps, ctx);
  const all = await Promise.all(leafSecrets(scope.tcp).map((where) => ensureCertificate(where, issuing, deps)));
  return {
    is: 'done',
    learned: {
      certificateFacts: Object.fromEntries(all.map(({ component, fact }) => [component, fact])),
      certificateRenewal: Math.min(...all.map(({ renewal }) => renewal)),
    },
  };
}
