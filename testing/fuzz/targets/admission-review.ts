import type { AdmissionAnswer } from '../../../runtime/admission/admission.ts';
import { BadReviewError, answerReview } from '../../../runtime/admission/handle-admission-review.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { kept } from '../kept.ts';
import { FakeClock } from '../../fake/fake-clock.ts';
import { silent } from '../../../runtime/observe/logger.ts';

const request = {
  ...{ uid: 'u', operation: 'CREATE', kind: { group: 'g', version: 'v1', kind: 'K' }, resource: { resource: 'ks' } },
  ...{ name: 'a', namespace: 'b', object: { metadata: { name: 'a' } }, userInfo: { username: 'me' } },
};

/** A request to a webhook. Everybody in the cluster's network can send one. */
export const admissionReview: FuzzTarget = {
  name: 'admission-review',
  from: 'a stranger in the network of pods',
  seeds: () => [JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request })],
  refusals: [BadReviewError],
  parse: async (input) => {
    const tools = { clock: new FakeClock(), log: silent, budgetMs: 1000, panicked: () => undefined };
    const object = { apiVersion: 'g/v1', kind: 'K', metadata: { name: 'other' } };
    const answers: readonly AdmissionAnswer[] = [
      { allowed: true, object },
      { allowed: false, message: 'no' },
    ];
    for (const answer of answers) {
      const { response } = await answerReview(input.toString(), () => Promise.resolve(answer), tools);
      kept(response.uid !== '' && response.allowed === answer.allowed, 'a review is answered as the rule says');
    }
  },
};
