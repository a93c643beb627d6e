import { createHash, createHmac, pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(pbkdf2);

/** PostgreSQL's own number; passwords of tenants are random, more would only cost. */
const iterations = 4096;

const hmac = (key: Uint8Array, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/**
 * What PostgreSQL stores for a password (SCRAM-SHA-256, RFC 5803): given instead of the password, so that no log of the server
 * has it. `password` must be ASCII: other texts would have to be prepared by RFC 4013 first.
 */
export async function scramVerifier(password: string, salt: Uint8Array): Promise<string> {
  const salted = await derive(password, salt, iterations, 32, 'sha256');
  const storedKey = createHash('sha256').update(hmac(salted, 'Client Key')).digest('base64');
  const serverKey = hmac(salted, 'Server Key').toString('base64');
  return `SCRAM-SHA-256$${iterations}:${Buffer.from(salt).toString('base64')}$${storedKey}:${serverKey}`;
}

/** The salt of a user: 16 bytes, the same at every time, so that setting the same password again changes nothing. */
export function saltOf(owner: string, user: string): Uint8Array {
  return createHash('sha256')
    .update(JSON.stringify(['steward', owner, user]))
    .digest()
    .subarray(0, 16);
}
