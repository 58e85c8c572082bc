import assert from 'node:assert/strict'
import { test } from 'node:test'
import { base64, carriedFilesBody } from './resource-shapes.ts'

test('bytes are read with or without white space, anything else is refused', () => {
  for (const text of ['aGVsbG8=', ' aGVs\r\nbG8=\n', 'aGVsbG8'])
    assert.equal(String(base64.parse(text)), 'hello', JSON.stringify(text))
  for (const text of ['aGVs!bG8=', 'aGVs=bG8', 'aGVsbA==='])
    assert.throws(() => base64.parse(text), { code: 'resources.DATA_NOT_BASE64' }, text)
})

test('a text takes time by its length, whatever is in it', () => {
  const from = process.cpuUsage()
  for (const filling of [' ', 'A', '= ', '\n'])
    assert.throws(() => base64.parse(`${filling.repeat(1 << 20)}!`), { code: 'resources.DATA_NOT_BASE64' })
  const { user, system } = process.cpuUsage(from)
  assert.ok(user + system < 5_000_000, `${(user + system) / 1e6} s of processor time`)
})

test('a file that comes with what shows it is for everybody where it says so, and of a kind of its type', () => {
  const sent = { link: '/api/images/tenant/a.png', fileName: 'a.png', type: 'IMAGE', data: 'AA==' }
  const read = (more: object) =>
    carriedFilesBody.parse({ resources: [{ ...sent, ...more }] }).resources.map((file) => [file.public, file.subType])
  assert.deepEqual(read({}), [[false, undefined]])
  assert.deepEqual(read({ public: true, subType: 'SCADA_SYMBOL' }), [[true, 'SCADA_SYMBOL']])
  assert.deepEqual(read({ isPublic: true, subType: 'EXTENSION' }), [[true, undefined]])
  assert.deepEqual(read({ type: 'JS_MODULE', subType: 'EXTENSION' }), [[false, 'EXTENSION']])
  assert.deepEqual(read({ type: 'GENERAL' }), [])
  assert.throws(() => read({ subType: 'ANYTHING' }))
})
