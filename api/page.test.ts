import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPage } from './page.ts'

const DEMO = { username: 'tenant@millrace.local', password: 'tenant', accessToken: 'DEMO_THERMOMETER' }

test('the page shows commands with the real address and the demo device', () => {
  const { body, contentType } = createPage({
    version: '1.2.3',
    baseUrl: () => 'http://127.0.0.1:4711',
    demo: DEMO,
  }).answer()
  assert.equal(contentType, 'text/html;charset=UTF-8')
  assert.match(body, /Version 1\.2\.3/)
  assert.match(body, /curl -X POST http:\/\/127\.0\.0\.1:4711\/api\/v1\/DEMO_THERMOMETER\/telemetry/)
  assert.equal(body.match(/<pre>/g)?.length, 3)
  // Commands are longer than a window is wide: they are wrapped, not cut.
  assert.match(body, /pre\{[^}]*white-space:pre-wrap/)
})

test('the page runs no script, loads nothing, and escapes every text it is given', () => {
  const evil = '"><script src=//x></script>\'&'
  const { body, headers } = createPage({
    version: evil,
    baseUrl: () => evil,
    demo: { username: evil, password: evil, accessToken: evil },
  }).answer()
  assert.doesNotMatch(body, /<script/)
  assert.doesNotMatch(body, /<(img|link|iframe|object)|src=\/\/x(?!&gt;)|javascript:|@import/)
  assert.match(headers?.['Content-Security-Policy'] ?? '', /^default-src 'none'/)
  assert.doesNotMatch(headers?.['Content-Security-Policy'] ?? '', /script-src/)
})
