/** Requests and signatures of Amazon's published test suite for Signature Version 4. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signedHeaders } from './aws-signature.ts'

const ACCOUNT = {
  ...{ accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' },
  ...{ region: 'us-east-1', service: 'service' },
}
const NOW = Date.UTC(2015, 7, 30, 12, 36, 0)
const url = 'https://example.amazonaws.com/'

for (const [name, request, names, signature] of [
  [
    'get-vanilla',
    { method: 'GET', url, headers: {}, body: '' },
    'host;x-amz-date',
    '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  ],
  [
    'post-x-www-form-urlencoded',
    { method: 'POST', url, headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: 'Param1=value1' },
    'content-type;host;x-amz-date',
    'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  ],
] as const)
  test(`signs ${name}`, () => {
    assert.deepEqual(signedHeaders(ACCOUNT, request, NOW), {
      ...request.headers,
      'X-Amz-Date': '20150830T123600Z',
      Authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${names}, Signature=${signature}`,
    })
  })

// What the signer of Amazon's own client says of it.
test('signs parts of the path as they are sent, encoded once more', () => {
  const sign = (path: string) =>
    signedHeaders(ACCOUNT, { method: 'POST', url: url + path, headers: {}, body: '{}' }, NOW)
  assert.match(
    sign('model/a%3A0/converse')['Authorization'] ?? '',
    /Signature=831c5f99acece5b9445dae339955c4b9fce2ea89559057560beb70b2dee51a3c$/,
  )
})
