/** The judge of the golden replay, held to answers with planted faults: what is listed excuses its own path and nothing beside it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ABSENT, differencesOf, findingsOf, type DeliberateDifference } from './golden-answers.ts'

const RECORDED = {
  status: 500,
  headers: { 'content-type': 'application/json' },
  body: { status: 500, message: 'a Java exception', errorCode: 2, data: [{ name: 'a' }, { name: 'b' }], nothing: null },
}
const ANSWERED = {
  ...RECORDED,
  status: 400,
  body: { ...RECORDED.body, status: 400, message: 'Invalid JSON', errorCode: 31, data: [{ name: 'a' }] },
}
const LISTED: DeliberateDifference = {
  reason: 'bad JSON is the mistake of the client',
  answers: {
    status: 400,
    'body.status': 400,
    'body.message': 'Invalid JSON',
    'body.errorCode': 31,
    'body.data.length': 1,
  },
}

function findings(answered: object, listed: DeliberateDifference | 'none' = LISTED): readonly string[] {
  return findingsOf(differencesOf(RECORDED, answered), listed === 'none' ? undefined : listed)
}

test('an answer that differs only where it is listed has no findings', () => {
  assert.deepEqual(findings(ANSWERED), [])
  assert.deepEqual(findings(RECORDED, 'none'), [])
})

const PLANTED: readonly (readonly [name: string, answered: object, path: string])[] = [
  [
    'a wrong field beside the listed ones',
    { ...ANSWERED, headers: { 'content-type': 'text/plain' } },
    'headers.content-type',
  ],
  ['another value at a listed path', { ...ANSWERED, status: 404 }, 'status'],
  ['one field more', { ...ANSWERED, body: { ...ANSWERED.body, stack: 'at' } }, 'body.stack'],
  [
    'a wrong value in an item that is there',
    { ...ANSWERED, body: { ...ANSWERED.body, data: [{ name: 'b' }] } },
    'body.data.0.name',
  ],
  ['one item fewer than listed', { ...ANSWERED, body: { ...ANSWERED.body, data: [] } }, 'body.data.length'],
  ['null in place of a value', { ...ANSWERED, headers: null }, 'headers'],
  ['a value in place of null', { ...ANSWERED, body: { ...ANSWERED.body, nothing: 0 } }, 'body.nothing'],
  ['a text in place of a number', { ...ANSWERED, body: { ...ANSWERED.body, errorCode: '31' } }, 'body.errorCode'],
  ['a listed difference that is none any more', { ...ANSWERED, status: 500 }, 'status'],
]

for (const [name, answered, path] of PLANTED) {
  test(`finds ${name}`, () => {
    const found = findings(answered)
    assert.equal(found.length, 1, found.join('\n'))
    assert.ok(found[0]?.startsWith(`${path}: `), found[0])
  })
}

test('finds a field that is absent, unless the list says so', () => {
  const { errorCode: _, ...body } = ANSWERED.body
  const answered = { ...ANSWERED, body }
  assert.deepEqual(findings(answered), ['body.errorCode: the list says that it answers 31, not <absent>'])
  const listed = { ...LISTED, answers: { ...LISTED.answers, 'body.errorCode': ABSENT } }
  assert.deepEqual(findings(answered, listed), [])
})

test('what differs only at times is as listed or as recorded, as a whole', () => {
  const listed = { ...LISTED, isSometimes: true } as const
  assert.deepEqual(findings(ANSWERED, listed), [])
  assert.deepEqual(findings(RECORDED, listed), [])
  const half = { ...ANSWERED, status: RECORDED.status }
  assert.notDeepEqual(findings(half, { ...listed, answers: { ...listed.answers, status: ANSWERED.status } }), [])
})

test('the order of items counts, but for answers recorded as unordered', () => {
  const recorded = { body: { keys: ['a', 'b'] } }
  const answered = { body: { keys: ['b', 'a'] } }
  assert.equal(differencesOf(recorded, answered).length, 2)
  assert.equal(differencesOf({ ...recorded, unordered: true }, { ...answered, unordered: true }).length, 0)
  const wrong = { body: { keys: ['b', 'c'] }, unordered: true }
  assert.equal(differencesOf({ ...recorded, unordered: true }, wrong).length, 2)
})
