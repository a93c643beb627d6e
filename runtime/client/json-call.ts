import type { Clock } from '../clock.ts';
import type { Logger } from '../observe/logger.ts';
import { parseJson } from './parse-json.ts';
import { withinBudget } from './within-budget.ts';

/**
 * Answers a JSON document with another one. The caller is not authenticated: an answer contains nothing confidential.
 * @throws BadCallError for a document that it does not understand; anything else is only logged.
 */
export type JsonCall = (
  document: unknown,
  options: { readonly signal: AbortSignal },
) => Readonly<Record<string, unknown>> | Promise<Readonly<Record<string, unknown>>>;

/** A document that a call does not understand. The message goes to the caller. */
export class BadCallError extends Error {
  override readonly name = 'BadCallError';
}

/** A call that failed, as text for the caller. */
export class FailedCallError extends Error {
  override readonly name = 'FailedCallError';
}

export interface CallTools {
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds the call may take. */
  readonly budgetMs: number;
  /** Called when the call fails. */
  panicked(): void;
}

/**
 * Answers one call.
 * @throws BadCallError, and FailedCallError for all other errors and for timeouts.
 */
export async function answerCall(
  body: string,
  call: JsonCall,
  tools: CallTools,
): Promise<Readonly<Record<string, unknown>>> {
  const document = documentOf(body);
  const { clock, log, budgetMs } = tools;
  try {
    return await withinBudget((signal) => call(document, { signal }), { clock, budgetMs, what: 'the call' });
  } catch (error) {
    if (error instanceof BadCallError) throw error;
    tools.panicked();
    log.error('a call failed', { error });
    throw new FailedCallError("the call failed; see the manager's log", { cause: error });
  }
}

function documentOf(body: string): unknown {
  try {
    return parseJson(body);
  } catch (error) {
    throw new BadCallError('the body is not JSON', { cause: error });
  }
}
