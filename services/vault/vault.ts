/**
 * Secrets at rest: AES-256-GCM under a key that is not in the database. A sealed text names its key, so that a former key still opens what
 * it sealed, and is bound to its place: moved to another row it does not open.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { defineErrors } from '../../model/errors.ts'

export const VAULT_KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16
const PREFIX = 'sealed:1:'
const SEALED = /^sealed:1:([0-9a-f]{8}):([A-Za-z0-9_-]+)$/

export const VaultErrors = defineErrors('vault', {
  KEY_LENGTH: { kind: 'terminal', status: 500, text: '{source} must be Base64 of {bytes} bytes' },
  KEY_UNKNOWN: {
    kind: 'terminal',
    status: 500,
    text: 'A secret ({place}) is sealed under a key that is not given: name it in SECRETS_FORMER_KEYS',
  },
  DAMAGED: { kind: 'terminal', status: 500, text: 'A stored secret ({place}) is damaged or was moved' },
})

interface VaultKey {
  readonly name: string
  readonly bytes: Uint8Array
}

export class Vault {
  private readonly key: VaultKey
  private readonly keys: ReadonlyMap<string, VaultKey>

  /** `key` seals; `formerKeys` only open. Throws `KEY_LENGTH`. */
  constructor(key: Uint8Array, formerKeys: readonly Uint8Array[] = []) {
    this.key = namedKey(key)
    this.keys = new Map([this.key, ...formerKeys.map(namedKey)].toReversed().map((each) => [each.name, each]))
  }

  /** `place` says where the text is kept, such as `admin_settings/mail/password`: it opens nowhere else. */
  seal(text: string, place: string): string {
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.key.bytes, iv)
    cipher.setAAD(Buffer.from(place))
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return `${PREFIX}${this.key.name}:${Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')}`
  }

  /** A text that was never sealed, as versions before kept it, is itself. Throws `KEY_UNKNOWN`, `DAMAGED`. */
  open(text: string, place: string): string {
    const [, name = '', packed] = SEALED.exec(text) ?? []
    if (packed === undefined) return text
    const key = this.keys.get(name)
    if (key === undefined) throw VaultErrors.KEY_UNKNOWN({ place })
    const bytes = Buffer.from(packed, 'base64url')
    try {
      const decipher = createDecipheriv('aes-256-gcm', key.bytes, bytes.subarray(0, IV_BYTES))
      decipher.setAAD(Buffer.from(place))
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
      return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8')
    } catch (error) {
      throw VaultErrors.DAMAGED({ place }, error)
    }
  }

  /** Whether it is sealed under the key in force. */
  isCurrent(text: string): boolean {
    return SEALED.exec(text)?.[1] === this.key.name
  }
}

/** Throws `KEY_LENGTH`. */
export function vaultKeyOf(text: string, source: string): Uint8Array {
  const bytes = /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : Buffer.alloc(0)
  if (bytes.byteLength !== VAULT_KEY_BYTES) throw VaultErrors.KEY_LENGTH({ source, bytes: VAULT_KEY_BYTES })
  return bytes
}

export function newVaultKey(): string {
  return randomBytes(VAULT_KEY_BYTES).toString('base64')
}

function namedKey(bytes: Uint8Array): VaultKey {
  if (bytes.byteLength !== VAULT_KEY_BYTES) throw VaultErrors.KEY_LENGTH({ source: 'A key', bytes: VAULT_KEY_BYTES })
  return { name: createHash('sha256').update(bytes).digest('hex').slice(0, 8), bytes }
}
