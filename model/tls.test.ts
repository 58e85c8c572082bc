import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tlsFault } from './tls.ts'

test('a fault of TLS is known by its code or its words, also as a cause, and other faults are not taken for one', () => {
  const expired = Object.assign(new Error('certificate has expired'), { code: 'CERT_HAS_EXPIRED' })
  assert.equal(tlsFault(expired), 'certificate has expired')
  assert.equal(tlsFault(new Error('fetch failed', { cause: expired })), 'certificate has expired')
  const alert =
    'C0A:error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required:../ssl/record.c:918:\n'
  assert.equal(tlsFault(new Error(alert)), 'tlsv13 alert certificate required')
  const plain =
    'write EPROTO C03:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:../x.c:77:\n'
  assert.equal(tlsFault(new Error(plain)), 'the server does not speak TLS')
  for (const other of [new Error('x'), Object.assign(new Error('x'), { code: 'ECONNRESET' }), 'CERT_HAS_EXPIRED']) {
    assert.equal(tlsFault(other), undefined)
  }
})
