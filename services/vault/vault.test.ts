import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { hasStaleSecrets, openMembers, sealMembers, withKeptSecrets, withoutSecrets } from './sealed-members.ts'
import { Vault, VAULT_KEY_BYTES, vaultKeyOf } from './vault.ts'

const key = (): Buffer => randomBytes(VAULT_KEY_BYTES)

test('a sealed text opens in its place alone, and says nothing of what it is', () => {
  const vault = new Vault(key())
  const sealed = vault.seal('hunter2 ß', 'mail/password')
  assert.ok(!sealed.includes('hunter2'))
  assert.notEqual(vault.seal('hunter2 ß', 'mail/password'), sealed)
  assert.equal(vault.open(sealed, 'mail/password'), 'hunter2 ß')
  assert.throws(() => vault.open(sealed, 'jwt/password'), { code: 'vault.DAMAGED' })
  const last = sealed.at(-2) === 'A' ? 'B' : 'A'
  assert.throws(() => vault.open(`${sealed.slice(0, -2)}${last}${sealed.at(-1)}`, 'mail/password'), {
    code: 'vault.DAMAGED',
  })
})

test('a former key opens and seals nothing; without it the text says which setting is missing', () => {
  const [old, next] = [key(), key()]
  const sealed = new Vault(old).seal('secret', 'place')
  const rotated = new Vault(next, [old])
  assert.equal(rotated.open(sealed, 'place'), 'secret')
  assert.equal(rotated.isCurrent(sealed), false)
  assert.equal(rotated.isCurrent(rotated.seal('secret', 'place')), true)
  assert.throws(() => new Vault(next).open(sealed, 'place'), {
    code: 'vault.KEY_UNKNOWN',
    message: /SECRETS_FORMER_KEYS/,
  })
})

test('what versions before kept open is itself', () => {
  const vault = new Vault(key())
  assert.equal(vault.open('plain', 'place'), 'plain')
  assert.equal(vault.isCurrent('plain'), false)
})

test('a key is Base64 of 32 bytes', () => {
  assert.equal(vaultKeyOf(key().toString('base64'), 'SECRETS_KEY').byteLength, VAULT_KEY_BYTES)
  for (const bad of ['', 'short', randomBytes(31).toString('base64'), `${key().toString('base64')} `])
    assert.throws(() => vaultKeyOf(bad, 'SECRETS_KEY'), { code: 'vault.KEY_LENGTH', message: /^SECRETS_KEY must be/ })
})

test('secret members are sealed at any depth, and nothing else is touched', () => {
  const vault = new Vault(key())
  const value = {
    host: 'h',
    password: 'p1',
    empty: { password: '', apiKey: null },
    list: [{ privateKey: 'p2', name: 'n' }, 3],
    credentials: { password: 'p3' },
  }
  const sealed = sealMembers(value, vault, 'place')
  for (const secret of ['p1', 'p2', 'p3']) assert.ok(!JSON.stringify(sealed).includes(`"${secret}"`))
  assert.deepEqual(openMembers(sealed, vault, 'place'), value)
  assert.throws(() => openMembers(sealed, vault, 'elsewhere'), { code: 'vault.DAMAGED' })
  assert.equal(hasStaleSecrets(sealed, vault), false)
  assert.equal(hasStaleSecrets(value, vault), true)
  assert.equal(hasStaleSecrets({ host: 'h' }, vault), false)
  assert.deepEqual(withoutSecrets(value), {
    host: 'h',
    empty: { password: '', apiKey: null },
    list: [{ name: 'n' }, 3],
    credentials: {},
  })
})

test('a save that leaves a secret out keeps it, one that names it or takes its object away does not', () => {
  const before = { password: 'old', credentials: { password: 'inner', type: 'basic' } }
  assert.deepEqual(withKeptSecrets({ host: 'h', credentials: { type: 'basic' } }, before), {
    host: 'h',
    password: 'old',
    credentials: { type: 'basic', password: 'inner' },
  })
  assert.deepEqual(withKeptSecrets({ password: 'new' }, before), { password: 'new' })
  assert.deepEqual(withKeptSecrets({ password: '' }, before), { password: '' })
})
