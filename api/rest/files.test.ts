import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileAnswer } from './files.ts'

const FILE = {
  contentType: 'image/svg+xml',
  etag: 'abc',
  read: () => Promise.resolve({ bytes: Buffer.from('<svg/>'), release: () => undefined }),
}

test('a picture that people uploaded may load and run nothing where it is opened', async () => {
  const { headers, status, bytes } = await fileAnswer('', FILE)
  assert.equal(status, 200)
  assert.equal(String(bytes), '<svg/>')
  assert.match(headers?.['Content-Security-Policy'] ?? '', /default-src 'none'.*sandbox/)
  assert.equal(headers?.['X-Content-Type-Options'], 'nosniff')
})

test('who has it already is told so, in any form of the question', async () => {
  // The asterisk is any that is there.
  for (const tag of ['"abc"', 'abc', 'W/"abc"', '"x", "abc"', '*']) {
    const { status, bytes, headers } = await fileAnswer(tag, FILE)
    assert.deepEqual([status, bytes, headers?.['ETag']], [304, undefined, '"abc"'], tag)
  }
  for (const tag of ['', '"ab"', '"abcd"']) assert.equal((await fileAnswer(tag, FILE)).status, 200, tag)
})

test('the name of a file can not end its header', async () => {
  const { headers } = await fileAnswer('', { ...FILE, fileName: 'a"\r\nSet-Cookie: b;c' })
  assert.equal(
    headers?.['Content-Disposition'],
    "attachment;filename=a___Set-Cookie: b_c;filename*=UTF-8''a%22%0D%0ASet-Cookie%3A%20b%3Bc",
  )
})
