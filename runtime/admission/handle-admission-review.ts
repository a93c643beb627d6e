import jsonPatch from 'fast-json-patch';
import type { AdmissionAnswer, AdmissionHandler, AdmissionRequest, AdmissionResponse } from './admission.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../observe/logger.ts';
import { parseJson } from '../client/parse-json.ts';
import { withinBudget } from '../client/within-budget.ts';

/** A body that is no AdmissionReview we can answer. The message goes to the API server's log. */
export class BadReviewError extends Error {
  override readonly name = 'BadReviewError';
}

export interface ReviewTools {
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds a handler may take. */
  readonly budgetMs: number;
  /** Called when a handler throws. */
  panicked(): void;
}

const reviewVersion = 'admission.k8s.io/v1';
/** The API server cuts warnings beyond this (k8s.io/apiserver). */
const longestWarning = 256;

/**
 * Answers one AdmissionReview. A handler that throws or takes too long denies with code 500: the API server must not
 * mistake a broken rule for consent. Throws `BadReviewError` for anything but a v1 review.
 */
export async function answerReview(
  body: string,
  handler: AdmissionHandler,
  tools: ReviewTools,
): Promise<{ readonly apiVersion: string; readonly kind: string; readonly response: AdmissionResponse }> {
  const request = requestOf(body);
  const answer = await ask(handler, request, tools);
  return { apiVersion: reviewVersion, kind: 'AdmissionReview', response: responseTo(request, answer) };
}

function requestOf(body: string): AdmissionRequest {
  let review: unknown;
  try {
    review = parseJson(body);
  } catch (error) {
    throw new BadReviewError('the body is not JSON', { cause: error });
  }
  if (typeof review !== 'object' || review === null) throw new BadReviewError('the body is not an AdmissionReview');
  const { apiVersion, kind, request } = review as { apiVersion?: unknown; kind?: unknown; request?: unknown };
  if (kind !== 'AdmissionReview' || apiVersion !== reviewVersion) {
    const found = `${String(apiVersion)} ${String(kind)}`;
    throw new BadReviewError(
      `got ${found.slice(0, 100)}, but only ${reviewVersion} AdmissionReview is supported: set admissionReviewVersions to [v1]`,
    );
  }
  const { uid, operation } = (request ?? {}) as { uid?: unknown; operation?: unknown };
  if (typeof uid !== 'string' || uid === '' || typeof operation !== 'string') {
    throw new BadReviewError('the AdmissionReview has no request with uid and operation');
  }
  return request as AdmissionRequest;
}

async function ask(handler: AdmissionHandler, request: AdmissionRequest, tools: ReviewTools): Promise<AdmissionAnswer> {
  try {
    const { clock, budgetMs } = tools;
    return await withinBudget((signal) => handler(request, { signal }), { clock, budgetMs, what: 'the rule' });
  } catch (error) {
    tools.panicked();
    const { kind, operation, namespace, name } = request;
    tools.log.error('an admission rule failed; the request is denied', {
      kind: kind.kind,
      operation,
      namespace,
      name,
      error,
    });
    const message = error instanceof Error ? error.message : String(error);
    return {
      allowed: false,
      code: 500,
      message: `the rule for this object failed: ${message}; see the manager's log`,
    };
  }
}

function responseTo(request: AdmissionRequest, answer: AdmissionAnswer): AdmissionResponse {
  const { uid } = request;
  const warnings =
    answer.warnings === undefined || answer.warnings.length === 0
      ? {}
      : { warnings: answer.warnings.map((warning) => warning.slice(0, longestWarning)) };
  if (!answer.allowed) {
    const code = answer.code ?? 403;
    return {
      uid,
      allowed: false,
      status: { code, reason: reasons[code] ?? 'Forbidden', message: answer.message },
      ...warnings,
    };
  }
  const patch = answer.object === undefined ? [] : jsonPatch.compare({ ...request.object }, { ...answer.object });
  if (patch.length === 0) return { uid, allowed: true, ...warnings };
  return {
    uid,
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
    ...warnings,
  };
}

const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  403: 'Forbidden',
  409: 'Conflict',
  422: 'Invalid',
  500: 'InternalError',
};
