import { Server, ServerCredentials } from '@grpc/grpc-js';
import type { sendUnaryData, ServerUnaryCall, ServiceDefinition } from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** A plugin for KMS v2 that keeps its keys in memory. */
export interface KmsPlugin extends AsyncDisposable {
  /** Encrypts with a new key from now on. */
  rotate(): void;
  /** Forgets all keys but the newest. */
  forgetOldKeys(): void;
}

const text = (id: number) => ({ type: 'string', id });
const data = (id: number) => ({ type: 'bytes', id });

/** The messages of https://github.com/kubernetes/kms/blob/v0.34.0/apis/v2/api.proto, as far as they are used here. */
const protocol = {
  nested: {
    v2: {
      nested: {
        KeyManagementService: {
          methods: Object.fromEntries(
            ['Status', 'Decrypt', 'Encrypt'].map((name) => [
              name,
              { requestType: `${name}Request`, responseType: `${name}Response` },
            ]),
          ),
        },
        StatusRequest: { fields: {} },
        StatusResponse: { fields: { version: text(1), healthz: text(2), keyId: text(3) } },
        DecryptRequest: { fields: { ciphertext: data(1), uid: text(2), keyId: text(3) } },
        DecryptResponse: { fields: { plaintext: data(1) } },
        EncryptRequest: { fields: { plaintext: data(1), uid: text(2) } },
        EncryptResponse: { fields: { ciphertext: data(1), keyId: text(2) } },
      },
    },
  },
};

const cipher = 'aes-256-gcm';

/** Starts a plugin that listens at a Unix socket. */
export async function startKmsPlugin(socket: string): Promise<KmsPlugin> {
  const keys = new Map([['key-1', randomBytes(32)]]);
  let newest = 'key-1';
  const encrypt = (plaintext: Buffer): Buffer => {
    const [iv, key] = [randomBytes(12), keys.get(newest) ?? Buffer.alloc(0)];
    const made = createCipheriv(cipher, key, iv);
    const body = Buffer.concat([made.update(plaintext), made.final()]);
    return Buffer.concat([iv, made.getAuthTag(), body]);
  };
  const decrypt = (ciphertext: Buffer, keyId: string): Buffer => {
    const key = keys.get(keyId);
    if (key === undefined) throw new Error(`there is no key ${keyId}`);
    const made = createDecipheriv(cipher, key, ciphertext.subarray(0, 12));
    made.setAuthTag(ciphertext.subarray(12, 28));
    return Buffer.concat([made.update(ciphertext.subarray(28)), made.final()]);
  };
  const answering =
    <Request, Response>(answer: (request: Request) => Response) =>
    ({ request }: ServerUnaryCall<Request, Response>, done: sendUnaryData<Response>): void => {
      try {
        done(null, answer(request));
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    };
  const server = new Server();
  const service = fromJSON(protocol as Parameters<typeof fromJSON>[0])['v2.KeyManagementService'] as ServiceDefinition;
  server.addService(service, {
    Status: answering(() => ({ version: 'v2', healthz: 'ok', keyId: newest })),
    Encrypt: answering(({ plaintext }: { plaintext: Buffer }) => ({ ciphertext: encrypt(plaintext), keyId: newest })),
    Decrypt: answering(({ ciphertext, keyId }: { ciphertext: Buffer; keyId: string }) => ({
      plaintext: decrypt(ciphertext, keyId),
    })),
  });
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
  return {
    rotate: () => {
      newest = `key-${keys.size + 1}`;
      keys.set(newest, randomBytes(32));
    },
    forgetOldKeys: () => {
      for (const id of keys.keys()) if (id !== newest) keys.delete(id);
    },
    [Symbol.asyncDispose]: () => {
      server.forceShutdown();
      return Promise.resolve();
    },
  };
}
