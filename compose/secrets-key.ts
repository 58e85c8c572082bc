/**
 * The key that seals secrets: of the environment, else one that was made and is kept. Where the database is a file, the key lies beside it in
 * the data folder, for its user's eyes only; where it is PostgreSQL's, all processes must find the same one, so it lies in the database.
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Log } from '../model/log.ts'
import type { EntityStore } from '../storage/entities/entity-store.ts'
import type { Config } from '../config/settings.ts'
import { SECRETS_KEY_FILE } from './backup/backups.ts'
import { newVaultKey, Vault, vaultKeyOf } from '../services/vault/vault.ts'

const KEPT_SETTING = 'secrets.key'

export interface VaultParts {
  readonly config: Pick<Config, 'secretsKey' | 'secretsFormerKeys' | 'entitiesDatabase'>
  /** The data folder. */
  readonly folder: string
  readonly entities: Pick<EntityStore, 'settings'>
  readonly log: Pick<Log, 'warn'>
}

export interface OpenedVault {
  readonly vault: Vault
  /** Once everything is sealed under the key of the environment: the kept one goes. */
  readonly settled: () => void
}

/** Throws `vault.KEY_LENGTH`. */
export async function openVault(parts: VaultParts): Promise<OpenedVault> {
  const { config, folder, log } = parts
  const former = (config.secretsFormerKeys ?? '').split(',').map((text) => text.trim())
  const formerKeys = former.filter((text) => text !== '').map((text) => vaultKeyOf(text, 'SECRETS_FORMER_KEYS'))
  const isFile = config.entitiesDatabase === 'sqlite'
  if (config.secretsKey !== undefined) {
    const kept = isFile ? keyInFolder(folder) : await keyInDatabase(parts)
    const keys = kept === undefined ? formerKeys : [...formerKeys, kept]
    return {
      vault: new Vault(vaultKeyOf(config.secretsKey, 'SECRETS_KEY'), keys),
      // In a shared database another process may still seal under it.
      settled: () => (isFile ? rmSync(join(folder, SECRETS_KEY_FILE), { force: true }) : undefined),
    }
  }
  const settled = (): void => undefined
  if (isFile) return { vault: new Vault(keyInFolder(folder) ?? makeKeyInFolder(folder), formerKeys), settled }
  log.warn('SECRETS_KEY is not set: secrets in PostgreSQL are sealed under a key that lies beside them')
  const kept = await parts.entities.settings.putIfAbsent(KEPT_SETTING, newVaultKey())
  return { vault: new Vault(vaultKeyOf(z.string().parse(kept), 'The kept key'), formerKeys), settled }
}

async function keyInDatabase({ entities }: VaultParts): Promise<Uint8Array | undefined> {
  const kept = z
    .string()
    .optional()
    .parse(await entities.settings.find(KEPT_SETTING))
  return kept === undefined ? undefined : vaultKeyOf(kept, 'The kept key')
}

function keyInFolder(folder: string): Uint8Array | undefined {
  const file = join(folder, SECRETS_KEY_FILE)
  if (!existsSync(file)) return undefined
  // A restored or copied one may have become readable for others.
  chmodSync(file, 0o600)
  return vaultKeyOf(readFileSync(file, 'utf8').trim(), file)
}

/** Durable before anything is sealed under it. */
function makeKeyInFolder(folder: string): Uint8Array {
  const text = newVaultKey()
  const half = join(folder, `${SECRETS_KEY_FILE}.new`)
  rmSync(half, { force: true })
  const file = openSync(half, 'wx', 0o600)
  writeSync(file, `${text}\n`)
  fsyncSync(file)
  closeSync(file)
  renameSync(half, join(folder, SECRETS_KEY_FILE))
  const directory = openSync(folder, 'r')
  fsyncSync(directory)
  closeSync(directory)
  return vaultKeyOf(text, SECRETS_KEY_FILE)
}
