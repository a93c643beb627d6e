import { parentPort, workerData } from 'node:worker_threads';
import { RenderError } from '../sources/render-error.ts';
import type { ReadAnswer, ReadTask } from './read-aside.ts';
import { mapManifests } from './read-manifests.ts';

/** About how much one piece of the answer holds, in characters. */
const pieceLength = 256 * 1024;

/**
 * The program of a worker thread: reads the text of its task and answers once. Objects are passed as JSON, which is faster to read
 * than V8's own serialization, and in pieces, so that the receiver can yield in between.
 */
parentPort?.postMessage(answerTo(workerData as ReadTask));

function answerTo({ text, origin }: ReadTask): ReadAnswer {
  try {
    return { pieces: inPieces(mapManifests(text, origin, (manifest) => JSON.stringify(manifest))) };
  } catch (error) {
    if (error instanceof RenderError) return { failure: error.failure, message: error.message };
    throw error;
  }
}

/** Lists in JSON. */
function inPieces(objects: readonly string[]): readonly string[] {
  const pieces: string[] = [];
  let [piece, length]: [string[], number] = [[], 0];
  for (const object of objects) {
    piece.push(object);
    length += object.length;
    if (length < pieceLength) continue;
    pieces.push(`[${piece.join(',')}]`);
    [piece, length] = [[], 0];
  }
  return [...pieces, `[${piece.join(',')}]`];
}
