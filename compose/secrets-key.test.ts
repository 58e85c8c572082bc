import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import type { JsonValue } from '../model/json.ts'
import { newVaultKey } from '../services/vault/vault.ts'
import { openEntityStore, type EntityStore } from '../storage/entities/entity-store.ts'
import { SECRETS_KEY_FILE } from './backup/backups.ts'
import { openVault, type OpenedVault } from './secrets-key.ts'

let folder: string
let entities: EntityStore
let warnings: string[]

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-key-'))
  entities = await openEntityStore({ file: ':memory:', durability: 'process-death', clock: { now: () => 1 } })
  warnings = []
})

afterEach(async () => {
  await entities.close()
  rmSync(folder, { recursive: true })
})

function open(
  keys: { secretsKey?: string; secretsFormerKeys?: string } = {},
  entitiesDatabase: 'sqlite' | 'postgres' = 'sqlite',
): Promise<OpenedVault> {
  const config = { secretsKey: undefined, secretsFormerKeys: undefined, ...keys, entitiesDatabase }
  return openVault({ config, folder, entities, log: { warn: (text) => warnings.push(text) } })
}

test('a key is made in the data folder, for its user only, and found again', async () => {
  const sealed = (await open()).vault.seal('secret', 'place')
  const file = join(folder, SECRETS_KEY_FILE)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  chmodSync(file, 0o644)
  assert.equal((await open()).vault.open(sealed, 'place'), 'secret')
  assert.equal(statSync(file).mode & 0o777, 0o600)
})

test('a key of the environment opens what the made one sealed, which goes once nothing needs it', async () => {
  const made = (await open()).vault.seal('secret', 'place')
  const secretsKey = newVaultKey()
  const { vault, settled } = await open({ secretsKey })
  assert.equal(vault.open(made, 'place'), 'secret')
  assert.equal(vault.isCurrent(made), false)
  const sealed = vault.seal('secret', 'place')
  settled()
  assert.equal(existsSync(join(folder, SECRETS_KEY_FILE)), false)
  const next = newVaultKey()
  const rotated = await open({ secretsKey: next, secretsFormerKeys: `${newVaultKey()}, ${secretsKey}` })
  assert.equal(rotated.vault.open(sealed, 'place'), 'secret')
  await assert.rejects(async () => (await open({ secretsKey: next })).vault.open(sealed, 'place'), {
    code: 'vault.KEY_UNKNOWN',
    message: /SECRETS_FORMER_KEYS/,
  })
})

test('with PostgreSQL and no key of the environment all processes agree on one, and each says what that is worth', async () => {
  const [one, two] = await Promise.all([open({}, 'postgres'), open({}, 'postgres')])
  assert.equal(two.vault.open(one.vault.seal('secret', 'place'), 'place'), 'secret')
  assert.equal(warnings.length, 2)
  assert.equal(existsSync(join(folder, SECRETS_KEY_FILE)), false)
  const kept: JsonValue | undefined = await entities.settings.find('secrets.key')
  const { vault } = await open({ secretsKey: newVaultKey() }, 'postgres')
  assert.equal(vault.open(one.vault.seal('secret', 'place'), 'place'), 'secret')
  assert.deepEqual(await entities.settings.find('secrets.key'), kept)
})
