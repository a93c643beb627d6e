import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { RepositoryError } from './backup-repository.ts';

/** First bytes of every file: the format and its version. */
const magic = Buffer.from('STWB1\n');
const nonceLength = 12;
const tagLength = 16;

/** Bytes of the key that the user keeps. */
const keyLength = 32;

/**
 * The key that the user keeps: it encrypts the files of a repository and names its chunks, so that a repository shows neither the
 * content nor whether a known content is in it. Without the key nothing can be restored.
 */
export class BackupKey {
  readonly #encryption: Buffer;
  readonly #naming: Buffer;

  /** Whether the text is the base64 of 32 bytes, as `openssl rand -base64 32` prints it. */
  static isKey(text: string): boolean {
    return keyIn(text).length === keyLength && keyIn(text).toString('base64') === text.trim();
  }

  /** Throws `RepositoryError` unless `isKey`. */
  constructor(text: string) {
    const key = keyIn(text);
    if (!BackupKey.isKey(text)) {
      throw new RepositoryError(
        'the key of a backup is the base64 of 32 bytes: make one with "openssl rand -base64 32"',
      );
    }
    this.#encryption = derived(key, 'encryption of files');
    this.#naming = derived(key, 'names of chunks');
  }

  /** The name of a content: the same for the same content under the same key. 64 hexadecimal digits. */
  nameOf(content: Uint8Array): string {
    return createHmac('sha256', this.#naming).update(content).digest('hex');
  }

  /** Compresses and encrypts a file (zstd, AES-256-GCM); its name belongs to it and cannot be changed afterwards. */
  seal(name: string, content: Uint8Array): Uint8Array {
    const nonce = randomBytes(nonceLength);
    const cipher = createCipheriv('aes-256-gcm', this.#encryption, nonce);
    cipher.setAAD(Buffer.from(name));
    const sealed = Buffer.concat([cipher.update(zstdCompressSync(content)), cipher.final()]);
    return Buffer.concat([magic, nonce, sealed, cipher.getAuthTag()]);
  }

  /** The content of a sealed file. Throws `RepositoryError` when the key is another one or the file was changed. */
  open(name: string, file: Uint8Array): Uint8Array {
    const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
    if (bytes.length < magic.length + nonceLength + tagLength || !bytes.subarray(0, magic.length).equals(magic)) {
      throw new RepositoryError(`${name} is not a file of a backup that this version can read`);
    }
    const body = bytes.subarray(magic.length + nonceLength, -tagLength);
    try {
      const nonce = bytes.subarray(magic.length, magic.length + nonceLength);
      const decipher = createDecipheriv('aes-256-gcm', this.#encryption, nonce);
      decipher.setAAD(Buffer.from(name));
      decipher.setAuthTag(bytes.subarray(-tagLength));
      return zstdDecompressSync(Buffer.concat([decipher.update(body), decipher.final()]));
    } catch (error) {
      throw new RepositoryError(`${name} cannot be opened: the key is another one, or the file was changed`, {
        cause: error,
      });
    }
  }
}

const keyIn = (text: string): Buffer => Buffer.from(text.trim(), 'base64');

function derived(key: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), `steward backup: ${purpose}`, 32));
}
