import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HandClock, TEST_START } from './testkit.ts'
import { VerifiedTokens } from './verified-tokens.ts'
import type { AccessClaims } from './tokens.ts'

/** No longer one is looked at. */
const LONGEST_TOKEN = 8192
const ID = '33333333-3333-4333-8333-333333333333'
const EXPIRES_AT = TEST_START / 1000 + 60

function verifiedTokens(maxBytes: number, email = 'a@example.com') {
  const checked: string[] = []
  const clock = new HandClock()
  const verifyAccess = (token: string): Promise<AccessClaims> => {
    checked.push(token)
    const ids = { userId: ID, sessionId: ID, tenantId: ID, customerId: ID }
    const times = { issuedAt: EXPIRES_AT - 60, expiresAt: EXPIRES_AT }
    return Promise.resolve({ email, authority: 'TENANT_ADMIN', ...ids, ...times })
  }
  return { tokens: new VerifiedTokens({ verifyAccess }, clock, maxBytes), checked, clock }
}

test('issue-8 2.3: verified tokens are bounded in bytes, with the longest tokens', async () => {
  const maxBytes = 1 << 20
  const { tokens, checked } = verifiedTokens(maxBytes, 'e'.repeat(4000))
  const longest = (index: number): string => `${index}.`.padEnd(LONGEST_TOKEN, 'x')
  for (let index = 0; index < 500; index++) {
    await tokens.claimsOf(longest(index))
    assert.ok(tokens.bytes <= maxBytes)
  }
  assert.ok(tokens.size * (LONGEST_TOKEN + 4000) <= maxBytes)
  assert.ok(tokens.bytes > 0.9 * maxBytes)
  await tokens.claimsOf(longest(499))
  assert.equal(checked.length, 500)
  await tokens.claimsOf(longest(0))
  assert.equal(checked.length, 501)
})

test('a token is verified once, and again when it has expired', async () => {
  const { tokens, checked, clock } = verifiedTokens(1 << 20)
  for (let count = 0; count < 3; count++) await tokens.claimsOf('a.b.c')
  assert.equal(checked.length, 1)
  clock.advance(61_000)
  await tokens.claimsOf('a.b.c')
  assert.equal(checked.length, 2)
})
