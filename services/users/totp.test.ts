import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchingStep, newTotpSecret, totpCode, totpSecretOf, totpStep, totpUrl } from './totp.ts'

/** `12345678901234567890` of RFC 6238, appendix B. */
const RFC_SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

for (const [seconds, code] of [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
] as const)
  test(`the code of second ${seconds} is the one of RFC 6238`, () => {
    assert.equal(totpCode(RFC_SECRET, totpStep(seconds * 1000)), code)
  })

test('a code is good in its step and the ones beside it, and once', () => {
  const now = 59_000
  const step = totpStep(now)
  assert.equal(matchingStep(RFC_SECRET, '287082', now, 0), step)
  assert.equal(matchingStep(RFC_SECRET, '287082', now + 30_000, 0), step)
  assert.equal(matchingStep(RFC_SECRET, '287082', now + 60_000, 0), undefined)
  assert.equal(matchingStep(RFC_SECRET, '287082', now, step), undefined)
  for (const bad of ['', '28708', '2870822', 'ééé', '287083'])
    assert.equal(matchingStep(RFC_SECRET, bad, now, 0), undefined)
})

test('the address for the app holds the secret', () => {
  const secret = newTotpSecret()
  assert.match(secret, /^[A-Z2-7]{32}$/)
  assert.equal(totpSecretOf(totpUrl('Mill race', 'a+b@example.org', secret)), secret)
  assert.equal(totpSecretOf('otpauth://totp/x?issuer=y'), undefined)
})
